package bpe_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/budget/bpe"
)

func ExampleEncoding_Count() {
	for _, encoding := range []*bpe.Encoding{bpe.O200k(), bpe.Cl100k()} {
		fmt.Println(encoding.Count("Every turn is kept exactly."), encoding.Append(nil, "exactly."))
	}
	// Output:
	// 6 [86898 423 13]
	// 6 [327 33839 13]
}

// A local model brings its vocabulary along; one that is split by a rule nobody knows cannot be counted exactly.
func ExampleNew() {
	own := bpe.Vocabulary{Model: "llama", Tokens: []string{"a", "b", "ab"}, Scores: []float32{-1, -2, -3}}
	for b := range 256 {
		own.Tokens, own.Scores = append(own.Tokens, fmt.Sprintf("<0x%02X>", b)), append(own.Scores, 0)
	}
	encoding, err := bpe.New(own)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(encoding.Append(nil, "aab"))

	own.Model, own.Pre, own.Scores = "gpt2", "of-tomorrow", nil
	_, err = bpe.New(own)
	fmt.Println(errors.Is(err, bpe.ErrUnknownPre))
	// Output:
	// [0 2]
	// true
}

func ExampleEncoding_Recount() {
	turn := strings.Repeat("The same turn is counted for every prompt that it is in. ", 10)
	for range 3 {
		fmt.Println(bpe.O200k().Recount(turn))
	}
	// Output:
	// 131
	// 131
	// 131
}
