// Command pack writes the vocabularies that package bpe embeds, from the .tiktoken files that
// another module carries. Run it here: go run . -out ../packed
//
// A .tiktoken file lists every token's bytes with its rank. All but 256 of them are two earlier
// tokens side by side, the two that byte pair encoding joins last when it meets the token's
// bytes. A packed file therefore holds
//
//   - the number of tokens, 4 bytes, little-endian;
//   - the byte that each of the first 256 tokens is;
//   - for every token after them the ids of its two halves, each in as many bits as the largest
//     id before it needs, lowest bit first.
//
// A token that does not come about by such a join would make the packed form inexact; pack
// refuses it.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"flag"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

func main() {
	out := flag.String("out", "../packed", "folder for the packed files")
	flag.Parse()
	for _, name := range []string{"cl100k_base", "o200k_base"} {
		if err := write(name, filepath.Join(*out, name+".bpe")); err != nil {
			fmt.Fprintf(os.Stderr, "pack: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

func write(name, path string) error {
	file, err := assets.Assets.ReadFile(name + ".tiktoken")
	if err != nil {
		return err
	}
	tokens, err := parse(file)
	if err != nil {
		return err
	}
	packed, err := pack(tokens)
	if err != nil {
		return err
	}
	return os.WriteFile(path, packed, 0o644)
}

// parse returns the tokens by rank. Ranks must run from 0 without a gap.
func parse(file []byte) ([]string, error) {
	lines := bytes.Split(bytes.TrimSpace(file), []byte("\n"))
	tokens := make([]string, len(lines))
	for i, line := range lines {
		text, number, found := bytes.Cut(line, []byte(" "))
		if !found {
			return nil, fmt.Errorf("line %d: no rank", i+1)
		}
		token, err := base64.StdEncoding.DecodeString(string(text))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		rank, err := strconv.Atoi(string(number))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if rank < 0 || rank >= len(tokens) || tokens[rank] != "" || len(token) == 0 {
			return nil, fmt.Errorf("line %d: rank %d is out of range or taken, or its token is empty", i+1, rank)
		}
		tokens[rank] = string(token)
	}
	return tokens, nil
}

func pack(tokens []string) ([]byte, error) {
	if len(tokens) < 256 {
		return nil, fmt.Errorf("%d tokens, too few for all bytes", len(tokens))
	}
	ranks := make(map[string]int, len(tokens))
	for rank, token := range tokens {
		ranks[token] = rank
	}
	packed := binary.LittleEndian.AppendUint32(nil, uint32(len(tokens)))
	for rank, token := range tokens[:256] {
		if len(token) != 1 {
			return nil, fmt.Errorf("token %d is not a single byte", rank)
		}
		packed = append(packed, token[0])
	}
	w := bitWriter{out: packed}
	for rank := 256; rank < len(tokens); rank++ {
		left, right, ok := halves(tokens[rank], rank, ranks)
		if !ok {
			return nil, fmt.Errorf("token %d, %q, is not two earlier tokens joined", rank, tokens[rank])
		}
		width := bits.Len(uint(rank - 1))
		w.add(uint64(left), width)
		w.add(uint64(right), width)
	}
	return w.close(), nil
}

// halves encodes the token with the tokens before it, which must leave two.
func halves(token string, before int, ranks map[string]int) (left, right int, ok bool) {
	ends := make([]int, len(token)) // where each part ends
	for i := range ends {
		ends[i] = i + 1
	}
	for len(ends) > 2 {
		best, at, start := before, -1, 0
		for i := range len(ends) - 1 {
			if rank, found := ranks[token[start:ends[i+1]]]; found && rank < best {
				best, at = rank, i
			}
			start = ends[i]
		}
		if at < 0 {
			return 0, 0, false
		}
		ends = append(ends[:at], ends[at+1:]...)
	}
	if len(ends) != 2 {
		return 0, 0, false
	}
	left, foundLeft := ranks[token[:ends[0]]]
	right, foundRight := ranks[token[ends[0]:]]
	return left, right, foundLeft && foundRight && left < before && right < before
}

// bitWriter appends numbers of any width up to 32 bits.
type bitWriter struct {
	out     []byte
	pending uint64
	n       int
}

func (w *bitWriter) add(x uint64, width int) {
	w.pending |= x << w.n
	for w.n += width; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.pending))
		w.pending >>= 8
	}
}

func (w *bitWriter) close() []byte {
	if w.n > 0 {
		w.out = append(w.out, byte(w.pending))
	}
	return w.out
}
