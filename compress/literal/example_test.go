package literal_test

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/compress/literal"
)

func ExampleFind() {
	const text = "At 14:30 the build of v1.2.3 failed: tx.go:12 returned ErrNotFound for order M05KNL."
	for _, l := range literal.Find(text) {
		fmt.Println(l.Kind, text[l.Start:l.End])
	}
	fmt.Println(literal.Contains(text, "M05KNL"), literal.Contains(text, "M05"))
	// Output:
	// date 14:30
	// version v1.2.3
	// path tx.go:12
	// error ErrNotFound
	// id M05KNL
	// true false
}

func ExampleOf() {
	for word, want := range map[string]literal.Kind{
		"order":           literal.None,
		"1,200":           literal.Number,
		"2026-11-02":      literal.Date,
		"v1.26.0":         literal.Version,
		"maxTokens":       literal.Identifier,
		"#123":            literal.ID,
		"sqlite/tx.go":    literal.Path,
		"ann@example.org": literal.Address,
		"ENOENT":          literal.Error,
	} {
		if got := literal.Of(word); got != want {
			fmt.Println(word, "is", got)
		}
	}
	fmt.Println("all as expected")
	// Output: all as expected
}
