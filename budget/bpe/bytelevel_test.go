package bpe

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/budget/bpe/internal/mixed"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// seen writes text as the tokens of "gpt2" are written.
func seen(text string) string {
	table := printable()
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(table[text[i]])
	}
	return b.String()
}

// bytesAnd is a vocabulary of all bytes, numbered as they are, and what its merges make.
func bytesAnd(pre string, merges ...string) Vocabulary {
	v := Vocabulary{Model: "gpt2", Pre: pre, Merges: slices.Clone(merges)}
	for _, r := range printable() {
		v.Tokens = append(v.Tokens, string(r))
	}
	for _, m := range merges {
		if t := strings.Replace(m, " ", "", 1); !slices.Contains(v.Tokens, t) {
			v.Tokens = append(v.Tokens, t)
		}
	}
	return v
}

func mustNew(t interface {
	Helper()
	Fatal(...any)
}, v Vocabulary) *Encoding {
	t.Helper()
	e, err := New(v)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// checkTokens compares both ways of encoding.
func checkTokens(t interface {
	Helper()
	Fatalf(string, ...any)
}, e *Encoding, text string, want []uint32) {
	t.Helper()
	if got := e.Append(nil, text); !slices.Equal(got, want) {
		t.Fatalf("%q: got %d, want %d", text, got, want)
	}
	if got := e.Count(text); got != len(want) {
		t.Fatalf("%q: counted %d, want %d", text, got, len(want))
	}
}

func TestPrintable(t *testing.T) {
	if got, want := seen(" \n\x00\x7f\xada\xff"), "ĠĊĀġŃaÿ"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestByteLevel(t *testing.T) {
	// 256 he, 257 ll, 258 hell, 259 Ġw, 260 ld, 261 12
	merges := []string{"h e", "l l", "he ll", "Ġ w", "l d", "1 2"}
	for _, tt := range []struct {
		name, pre string
		change    func(*Vocabulary)
		text      string
		want      []uint32
	}{
		{"merges in order", "gpt-2", nil, "hello world", []uint32{258, 'o', 259, 'o', 'r', 260}},
		{"an earlier merge wins over one further left", "gpt-2", func(v *Vocabulary) { *v = bytesAnd("gpt-2", "b c", "a b") }, "abc", []uint32{'a', 256}},
		{"equal merges from the left", "gpt-2", func(v *Vocabulary) { *v = bytesAnd("gpt-2", "a a") }, "aaaaa", []uint32{256, 256, 'a'}},
		{"default is gpt-2", "default", nil, "121212", []uint32{261, 261, 261}},
		{"single digits", "qwen2", nil, "1212", []uint32{'1', '2', '1', '2'}},
		{"three digits", "llama-bpe", nil, "12121", []uint32{261, '1', '2', '1'}},
		{"a token that no merge makes", "gpt-2", func(v *Vocabulary) { v.Tokens = append(v.Tokens, "old") }, "old", []uint32{'o', 260}},
		{"a token that no merge makes, in a rule that asks no merges", "llama-bpe", func(v *Vocabulary) { v.Tokens = append(v.Tokens, "old") }, "old", []uint32{262}},
		{"control tokens are text", "llama-bpe", withToken("old", 3), "old", []uint32{'o', 260}},
		{"unknown tokens are not for text", "llama-bpe", withToken("old", 2), "old", []uint32{'o', 260}},
		{"added tokens are found first", "gpt-2", withToken("ll", 4), "hellll", []uint32{256, 262, 262}},
		{"the longest of them", "gpt-2", func(v *Vocabulary) { withToken("<a", 4)(v); withToken("<a>", 4)(v) }, "<a><a", []uint32{263, 262}},
		{"a token in other characters is for no text", "llama-bpe", withToken("中文", 1), "中", []uint32{0xe4, 0xb8, 0xad}},
		{"empty tokens are not looked for", "llama-bpe", func(v *Vocabulary) { withToken("", 4)(v); withToken("", 1)(v) }, "he", []uint32{256}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := bytesAnd(tt.pre, merges...)
			if tt.change != nil {
				tt.change(&v)
			}
			checkTokens(t, mustNew(t, v), tt.text, tt.want)
		})
	}
}

// withToken adds a token of a type; what was there before is normal.
func withToken(token string, kind int32) func(*Vocabulary) {
	return func(v *Vocabulary) {
		for len(v.Types) < len(v.Tokens) {
			v.Types = append(v.Types, typeNormal)
		}
		if i := slices.Index(v.Tokens, token); i >= 0 && token != "" {
			v.Tokens[i] = "[was " + token + "]"
			v.Merges = slices.DeleteFunc(v.Merges, func(m string) bool {
				return strings.Contains(strings.Replace(m, " ", "", 1), token)
			})
		}
		v.Tokens, v.Types = append(v.Tokens, token), append(v.Types, kind)
	}
}

func TestEveryPre(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	text := string([]rune(mixed.Text(rng, 2000)))
	for pre, rule := range splitRules {
		v := bytesAnd(pre)
		// A vocabulary of the pieces themselves counts them.
		split := pieces(rule, text)
		if !rule.anyWhole {
			v.Pre = pre
			checkTokens(t, mustNew(t, v), text, bytesAsIDs(text))
			continue
		}
		for _, p := range split {
			if p = seen(p); !slices.Contains(v.Tokens, p) {
				v.Tokens = append(v.Tokens, p)
			}
		}
		if got := mustNew(t, v).Count(text); got != len(split) {
			t.Errorf("%s: counted %d, want %d", pre, got, len(split))
		}
	}
	_, err := New(bytesAnd("of the next year"))
	if !errors.Is(err, ErrUnknownPre) || !strings.Contains(err.Error(), "of the next year") {
		t.Errorf("got %v, want ErrUnknownPre with the name", err)
	}
}

func bytesAsIDs(text string) []uint32 {
	ids := make([]uint32, len(text))
	for i := range ids {
		ids[i] = uint32(text[i])
	}
	return ids
}

// checkWindows merges the text as one piece in windows of every small size, many of which are cut
// where they should not be.
func checkWindows(t *rapid.T, e *Encoding, text string, want []uint32) {
	for size := 1; size < 30; size++ {
		m := newMerger(e.ranks)
		m.window = size
		if got := m.merge(e, e.symbols(nil, text)); !slices.Equal(got, want) {
			t.Fatalf("%q in windows of %d: got %d, want %d", text, size, got, want)
		}
	}
}

// lengths in characters of texts that are merged in the short and in the long way.
var lengths = []int{1, 3, 10, 40, short + 1, 3 * short}

// Vocabularies at random, whose merges may name what later ones make.
func TestByteLevelReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.SampledFrom([]rune("abc")), 2, 5, -1)
		var merges []string
		for _, word := range rapid.SliceOfNDistinct(letters, 0, 25, rapid.ID[string]).Draw(t, "words") {
			at := rapid.IntRange(1, len(word)-1).Draw(t, "at")
			merges = append(merges, word[:at]+" "+word[at:])
		}
		v := bytesAnd("gpt-2", merges...)
		for _, m := range merges {
			for part := range strings.FieldsSeq(m) {
				if !slices.Contains(v.Tokens, part) {
					v.Tokens = append(v.Tokens, part)
				}
			}
		}
		e := mustNew(t, v)
		n := rapid.SampledFrom(lengths).Draw(t, "length")
		text := rapid.StringOfN(rapid.SampledFrom([]rune("abc")), n, n, -1).Draw(t, "text")
		parts := referenceMerge(bytesOf(text), func(left, right string) float64 {
			if i := slices.Index(merges, left+" "+right); i >= 0 {
				return float64(i)
			}
			return math.Inf(1)
		})
		want := make([]uint32, len(parts))
		for i, p := range parts {
			want[i] = uint32(slices.Index(v.Tokens, p))
		}
		checkTokens(t, e, text, want)
		checkWindows(t, e, text, want)
	})
}

func TestRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: there is nothing to watch")
	}
	gpt2 := func(change func(v *Vocabulary)) Vocabulary {
		v := bytesAnd("gpt-2", "a b")
		change(&v)
		return v
	}
	llama := func(change func(v *Vocabulary)) Vocabulary {
		v := sentencePieces(map[string]float32{"a": -1})
		change(&v)
		return v
	}
	for _, tt := range []struct {
		name  string
		v     Vocabulary
		field string
	}{
		{"nothing at all", Vocabulary{}, "tokens"},
		{"no model", gpt2(func(v *Vocabulary) { v.Model = "" }), "model"},
		{"another model", gpt2(func(v *Vocabulary) { v.Model = "bert" }), "model"},
		{"no tokens", gpt2(func(v *Vocabulary) { v.Tokens = nil }), "tokens"},
		{"ten million tokens", gpt2(func(v *Vocabulary) { v.Tokens = make([]string, 10_000_000) }), "tokens"},
		{"ten million merges", gpt2(func(v *Vocabulary) { v.Merges = make([]string, 10_000_000) }), "merges"},
		{"a very long token", gpt2(func(v *Vocabulary) { v.Tokens[7] = strings.Repeat("x", maxToken+1) }), "tokens[7]"},
		{"very many long tokens", gpt2(func(v *Vocabulary) {
			v.Tokens = slices.Repeat([]string{strings.Repeat("x", maxToken)}, maxText/maxToken+1)
		}), "tokens"},
		{"types that are too few", gpt2(func(v *Vocabulary) { v.Types = []int32{1} }), "token_type"},
		{"types that are too many", gpt2(func(v *Vocabulary) { v.Types = make([]int32, 1000) }), "token_type"},
		{"a byte without a token", gpt2(func(v *Vocabulary) { v.Tokens['x'] = "xx" }), "tokens"},
		{"a token twice", gpt2(func(v *Vocabulary) { v.Tokens = append(v.Tokens, "ab") }), "tokens[257]"},
		{"a merge of one token", gpt2(func(v *Vocabulary) { v.Merges[0] = "ab" }), "merges[0]"},
		{"an empty merge", gpt2(func(v *Vocabulary) { v.Merges[0] = "" }), "merges[0]"},
		{"a merge without a right half", gpt2(func(v *Vocabulary) { v.Merges[0] = "ab " }), "merges[0]"},
		{"a merge without a left half", gpt2(func(v *Vocabulary) { v.Merges[0] = " ab" }), "merges[0]"},
		{"a merge of an absent left token", gpt2(func(v *Vocabulary) { v.Merges[0] = "aa b" }), "merges[0]"},
		{"a merge of an absent right token", gpt2(func(v *Vocabulary) { v.Merges[0] = "a bb" }), "merges[0]"},
		{"a merge to an absent token", gpt2(func(v *Vocabulary) { v.Merges[0] = "b a" }), "merges[0]"},
		{"a merge twice", gpt2(func(v *Vocabulary) { v.Merges = append(v.Merges, "a b") }), "merges[1]"},
		{"no scores", llama(func(v *Vocabulary) { v.Scores = nil }), "scores"},
		{"scores that are too many", llama(func(v *Vocabulary) { v.Scores = append(v.Scores, 1) }), "scores"},
		{"a score that is no number", llama(func(v *Vocabulary) { v.Scores[9] = float32(math.NaN()) }), "scores[9]"},
		{"a score without bound", llama(func(v *Vocabulary) { v.Scores[9] = float32(math.Inf(-1)) }), "scores[9]"},
		{"no byte tokens", llama(func(v *Vocabulary) { v.Tokens['x'] = "<0x..>" }), "tokens"},
		{"a byte token of another type", llama(func(v *Vocabulary) { v.Types['x'] = typeNormal }), "tokens"},
		{"a piece twice", llama(func(v *Vocabulary) {
			v.Tokens, v.Types, v.Scores = append(v.Tokens, "a"), append(v.Types, 1), append(v.Scores, 0)
		}), "tokens[257]"},
		{"pieces that are all pairs of others", llama(func(v *Vocabulary) {
			for n := 1; n <= maxToken; n++ {
				for letter := '!'; letter < '!'+34; letter++ {
					v.Tokens, v.Types, v.Scores = append(v.Tokens, strings.Repeat(string(letter), n)), append(v.Types, 1), append(v.Scores, 0)
				}
			}
		}), "tokens"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := New(tt.v)
			var field *invalid.Field
			if !errors.As(err, &field) || e != nil {
				t.Fatalf("got %v, %v; want an error about %s", e, err, tt.field)
			}
			if field.Name != tt.field || field.Problem == "" || field.Fix == "" {
				t.Errorf("got %q, want it about %s", err, tt.field)
			}
		})
	}
}

// What is in no valid text needs no token.
func TestBytesThatNeverOccur(t *testing.T) {
	v := bytesAnd("gpt-2")
	for _, b := range []int{0xC0, 0xC1, 0xF5, 0xFF} {
		v.Tokens[b] = strings.Repeat("x", b)
	}
	checkTokens(t, mustNew(t, v), "a\xff", []uint32{'a', 0xef, 0xbf, 0xbd})
}
