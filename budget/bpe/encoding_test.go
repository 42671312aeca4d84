package bpe

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone/budget/bpe/internal/mixed"
)

// embedded are the embedded encodings with the expression that splits their text.
var embedded = []struct {
	name, pattern string
	encoding      func() *Encoding
}{
	{"o200k_base", "o200k", O200k},
	{"cl100k_base", "cl100k", Cl100k},
}

// The tokens in testdata/golden.json were made by another implementation; the module in compare
// writes them.
func TestGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden []struct {
		Text   string
		O200k  []uint32 `json:"o200k_base"`
		Cl100k []uint32 `json:"cl100k_base"`
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden) == 0 {
		t.Fatal("there are no golden texts")
	}
	for _, g := range golden {
		if got := O200k().Append(nil, g.Text); !slices.Equal(got, g.O200k) {
			t.Errorf("o200k_base %q:\ngot  %d\nwant %d", g.Text, got, g.O200k)
		}
		if got := Cl100k().Append(nil, g.Text); !slices.Equal(got, g.Cl100k) {
			t.Errorf("cl100k_base %q:\ngot  %d\nwant %d", g.Text, got, g.Cl100k)
		}
	}
}

func TestKnownTokens(t *testing.T) {
	for _, tt := range []struct {
		encoding *Encoding
		text     string
		want     []uint32
	}{
		{O200k(), "", nil},
		{O200k(), "hello world", []uint32{24912, 2375}},
		{O200k(), "<|endoftext|>", []uint32{27, 91, 419, 1440, 919, 91, 29}},
		{Cl100k(), "hello world, I'm 12345\n\n  x", []uint32{15339, 1917, 11, 358, 2846, 220, 4513, 1774, 271, 220, 865}},
	} {
		got := tt.encoding.Append([]uint32{7}, tt.text)
		if want := append([]uint32{7}, tt.want...); !slices.Equal(got, want) {
			t.Errorf("%q: got %d, want %d", tt.text, got, want)
		}
	}
}

func TestReference(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: there is nothing to watch")
	}
	for _, tt := range embedded {
		t.Run(tt.name, func(t *testing.T) {
			e, rng := tt.encoding(), rand.New(rand.NewPCG(3, 3))
			reference := newReference(e, tt.pattern)
			for range 200 {
				same(t, e, reference, mixed.Text(rng, rng.IntN(200)))
			}
		})
	}
}

func FuzzEmbedded(f *testing.F) {
	for _, text := range []string{"", "I'LL \r\n  \n x", "\u0301A'ſt", "a\xffb", strings.Repeat("ab", 50)} {
		f.Add(text)
	}
	references := make([]*referenceEncoding, len(embedded))
	for i, tt := range embedded {
		references[i] = newReference(tt.encoding(), tt.pattern)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			return
		}
		for i, tt := range embedded {
			same(t, tt.encoding(), references[i], text)
		}
	})
}

func same(t *testing.T, e *Encoding, reference *referenceEncoding, text string) {
	t.Helper()
	want := reference.encode(text)
	if got := e.Append(nil, text); !slices.Equal(got, want) {
		t.Fatalf("%q:\ngot  %d\nwant %d", text, got, want)
	}
	if got := e.Count(text); got != len(want) {
		t.Fatalf("%q: counted %d, want %d", text, got, len(want))
	}
}

// A wrong byte is counted as the U+FFFD that a model gets in its place, and never as part of the
// character that it may once have been.
func TestWrongBytes(t *testing.T) {
	for _, tt := range embedded {
		for text, read := range map[string]string{
			"\xff":           "\ufffd",
			"a\xe4\xb8b":     "a\ufffd\ufffdb",
			"\xed\xa0\x80":   "\ufffd\ufffd\ufffd",
			"中\xf0\x9f\x98中": "中\ufffd\ufffd\ufffd中",
		} {
			got, want := tt.encoding().Append(nil, text), tt.encoding().Append(nil, read)
			if !slices.Equal(got, want) {
				t.Errorf("%s %q: got %d, want %d as for %q", tt.name, text, got, want, read)
			}
		}
	}
}

// The tokens' bytes, one after the other, are the text, also where a piece is very long.
func TestLongPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: there is nothing to watch")
	}
	const size = 100_000
	for name, unit := range map[string]string{
		"letter": "a", "spaces": " ", "Chinese": "中文分词没有空格", "base64": "aGVsbG8gd29ybGQ", "line ends": "\r\n \t",
	} {
		text := strings.Repeat(unit, size/len(unit))
		for _, tt := range embedded {
			e := tt.encoding()
			ids := e.Append(nil, text)
			var b strings.Builder
			for _, id := range ids {
				b.Write(e.whole.at(id))
			}
			if b.String() != text {
				t.Errorf("%s, %s: the tokens do not give the text back", tt.name, name)
			}
			if got := e.Count(text); got != len(ids) {
				t.Errorf("%s, %s: counted %d, appended %d", tt.name, name, got, len(ids))
			}
		}
	}
}

func TestCountAllocatesNothing(t *testing.T) {
	text := strings.Repeat("Die Straße nach „Überall“: func main() { fmt.Println(\"你好\", 1234567) }\r\n\n\t  I'll see.\n", 20)
	for _, tt := range embedded {
		e := tt.encoding()
		if got := testing.AllocsPerRun(20, func() { e.Count(text) }); got != 0 {
			t.Errorf("%s: %v allocations", tt.name, got)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	text := mixed.Text(rand.New(rand.NewPCG(5, 5)), 4000) + strings.Repeat("long", 1000)
	want := O200k().Count(text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if got := O200k().Count(text); got != want {
					t.Errorf("counted %d, want %d", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestSharedEncodings(t *testing.T) {
	for _, tt := range embedded {
		if first := tt.encoding(); first != tt.encoding() {
			t.Errorf("%s is built more than once", tt.name)
		}
	}
}
