// Package compare is a comparison of package bpe with another implementation of the same
// vocabularies. It is a module of its own so that nothing of the other's enters ours.
//
//	go test .           compares
//	go test . -update   also writes ../testdata/golden.json anew, from the other's tokens
package compare

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/budget/bpe/internal/mixed"
)

var (
	update = flag.Bool("update", false, "write ../testdata/golden.json")
	texts  = flag.Int("texts", 3000, "how many texts to compare")
	seed   = flag.Uint64("seed", 1, "of the texts")
)

// pair is the same vocabulary twice.
type pair struct {
	name  string
	ours  *bpe.Encoding
	other *tiktoken.Tiktoken
}

func pairs(t *testing.T) []pair {
	t.Helper()
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	var all []pair
	for name, ours := range map[string]*bpe.Encoding{"o200k_base": bpe.O200k(), "cl100k_base": bpe.Cl100k()} {
		other, err := tiktoken.GetEncoding(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pair{name, ours, other})
	}
	return all
}

// tokens of the other implementation.
func (p pair) tokens(text string) []uint32 {
	ids := p.other.EncodeOrdinary(text)
	tokens := make([]uint32, len(ids))
	for i, id := range ids {
		tokens[i] = uint32(id)
	}
	return tokens
}

// foldable has what the other's regular expressions take for a letter like any other: to
// OpenAI's, the long s is an s where case does not matter.
func foldable(text string) bool { return strings.Contains(text, "'ſ") }

func TestSameTokens(t *testing.T) {
	for _, p := range pairs(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(*seed, 0))
			for range *texts {
				text := mixed.Text(rng, rng.IntN(400))
				if foldable(text) {
					continue
				}
				want := p.tokens(text)
				if got := p.ours.Append(nil, text); !slices.Equal(got, want) {
					t.Fatalf("%q:\ngot  %d\nwant %d", text, got, want)
				}
				if got := p.ours.Count(text); got != len(want) {
					t.Fatalf("%q: counted %d, want %d", text, got, len(want))
				}
			}
		})
	}
}

// TestSameTokensOfEveryCharacter puts each character that Unicode has given a meaning to where
// the splitters must know its class.
func TestSameTokensOfEveryCharacter(t *testing.T) {
	for _, p := range pairs(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for r := rune(0); r < 0x32000; r++ {
				if within(r) || r == 'ſ' {
					continue
				}
				c := string(r)
				text := "a" + c + " !" + c + c + "a A" + c + "B 1" + c + "  " + c + "x '" + c + "b"
				if got, want := p.ours.Append(nil, text), p.tokens(text); !slices.Equal(got, want) {
					t.Errorf("U+%04X in %q:\ngot  %d\nwant %d", r, text, got, want)
				}
			}
		})
	}
}

// within is true of the inside of large blocks whose characters are all of one class, or have
// none yet.
func within(r rune) bool {
	for _, block := range [][2]rune{{0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xAC00, 0xD7A3}, {0xD800, 0xF8FF}, {0x17000, 0x187F7}, {0x18E00, 0x1AFEF}, {0x20000, 0x2A6DF}, {0x2A700, 0x2EBE0}, {0x30000, 0x323AF}} {
		if r > block[0]+16 && r < block[1]-16 {
			return true
		}
	}
	return false
}

// golden is one text with its tokens.
type golden struct {
	Text   string   `json:"text"`
	O200k  []uint32 `json:"o200k_base"`
	Cl100k []uint32 `json:"cl100k_base"`
}

func TestGolden(t *testing.T) {
	const path = "../testdata/golden.json"
	both := pairs(t)
	all := make([]golden, 0, 40)
	rng := rand.New(rand.NewPCG(64, 0))
	for len(all) < cap(all) {
		text := string([]rune(mixed.Text(rng, 20+rng.IntN(200))))
		if foldable(text) {
			continue
		}
		g := golden{Text: text}
		for _, p := range both {
			if p.name == "o200k_base" {
				g.O200k = p.tokens(text)
			} else {
				g.Cl100k = p.tokens(text)
			}
		}
		all = append(all, g)
	}
	var lines []string
	for _, g := range all {
		line, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	want := "[\n" + strings.Join(lines, ",\n") + "\n]\n"
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the other implementation says; if the texts have changed, run with -update", path)
	}
}
