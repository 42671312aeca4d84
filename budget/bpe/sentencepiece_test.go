package bpe

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// sentencePieces is a vocabulary of all bytes, numbered as they are, and of pieces with their
// scores, numbered from 256 on in the order of their text.
func sentencePieces(scores map[string]float32) Vocabulary {
	v := Vocabulary{Model: "llama"}
	for b := range 256 {
		v.Tokens, v.Types, v.Scores = append(v.Tokens, fmt.Sprintf("<0x%02X>", b)), append(v.Types, typeByte), append(v.Scores, 0)
	}
	for _, piece := range slices.Sorted(maps.Keys(scores)) {
		v.Tokens, v.Types, v.Scores = append(v.Tokens, piece), append(v.Types, typeNormal), append(v.Scores, scores[piece])
	}
	return v
}

// numbers looks up pieces by their text.
func numbers(v Vocabulary, texts ...string) []uint32 {
	ids := make([]uint32, len(texts))
	for i, text := range texts {
		ids[i] = uint32(slices.Index(v.Tokens, text))
	}
	return ids
}

func TestSentencePiece(t *testing.T) {
	small := map[string]float32{
		"▁": -20, "a": -21, "b": -22, "c": -23, "é": -24, "中": -25,
		"ab": -2, "bc": -1, "▁a": -3, "▁▁": -4, "▁ab": -5, "aa": -6,
	}
	for _, tt := range []struct {
		name   string
		change func(*Vocabulary)
		text   string
		want   string // pieces between bars
	}{
		{"nothing", prefixed, "", ""},
		{"the highest score first", nil, "abc", "a|bc"},
		{"equal scores from the left", nil, "aaa", "aa|a"},
		{"spaces", nil, "a ab  c", "a|▁ab|▁▁|c"},
		{"a space before the text", prefixed, "a", "▁a"},
		{"a space before a space", prefixed, " b", "▁▁|b"},
		{"the sign for a space is one", nil, "b▁b", "b|▁|b"},
		{"characters without a token are bytes", nil, "aßé😀", "a|<0xC3>|<0x9F>|é|<0xF0>|<0x9F>|<0x98>|<0x80>"},
		{"wrong bytes are U+FFFD", nil, "a\xff", "a|<0xEF>|<0xBF>|<0xBD>"},
		{"a newline is a byte", nil, "a\nb", "a|<0x0A>|b"},
		{"control tokens are text", piece("cc", typeControl), "cc", "c|c"},
		{"unknown tokens are not for text", piece("cc", typeUnknown), "cc", "c|c"},
		{"unused tokens are", piece("cc", 5), "cc", "cc"},
		{"a plain space in a token is for no text", piece("c c", typeNormal), "c c", "c|▁|c"},
		{"added tokens are found first", piece("bc", typeAdded), "abcb", "a|bc|b"},
		{"added tokens with spaces", piece("▁▁▁", typeAdded), "b    b", "b|▁▁▁|▁|b"},
		{"a space after an added token", func(v *Vocabulary) { prefixed(v); piece("<x>", typeAdded)(v) }, "a<x>a", "▁a|<x>|▁a"},
		{"tokens across spaces", func(v *Vocabulary) { piece("c▁", typeNormal)(v); piece("c▁c", typeNormal)(v) }, "c c c", "c▁c|▁|c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := sentencePieces(small)
			if tt.change != nil {
				tt.change(&v)
			}
			var want []uint32
			if tt.want != "" {
				want = numbers(v, strings.Split(tt.want, "|")...)
			}
			checkTokens(t, mustNew(t, v), tt.text, want)
		})
	}
}

func prefixed(v *Vocabulary) { v.AddSpacePrefix = true }

// piece adds a piece with a high score, or changes the type of one that is there.
func piece(text string, kind int32) func(*Vocabulary) {
	return func(v *Vocabulary) {
		if i := slices.Index(v.Tokens, text); i >= 0 {
			v.Types[i] = kind
			return
		}
		v.Tokens, v.Types, v.Scores = append(v.Tokens, text), append(v.Types, kind), append(v.Scores, 1)
	}
}

// Without types, bytes are known by their names.
func TestSentencePieceWithoutTypes(t *testing.T) {
	v := sentencePieces(map[string]float32{"a": -1})
	v.Types = nil
	checkTokens(t, mustNew(t, v), "ab", []uint32{256, 'b'})
}

func TestByteName(t *testing.T) {
	for _, name := range []string{"", "<0x0A", "<0x0a>", "<0xG0>", "<0x/0>", "<0x0:>", "<0x0@>", "0x0A>>", "<0x0A)", "<0x00A>"} {
		if b, ok := byteName(name); ok {
			t.Errorf("%s was read as %d", name, b)
		}
	}
	for b := range 256 {
		if got, ok := byteName(fmt.Sprintf("<0x%02X>", b)); !ok || int(got) != b {
			t.Errorf("<0x%02X> was read as %d, %v", b, got, ok)
		}
	}
}

// Vocabularies at random, with equal scores and with pieces across spaces.
func TestSentencePieceReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.SampledFrom([]rune("ab▁é"))
		letters := rapid.SampledFrom([]string{"aab é", "aabé"}).Draw(t, "letters")
		scores := map[string]float32{"a": 0, "▁": 0, "é": 0}
		if rapid.Bool().Draw(t, "b is a token") {
			scores["b"] = 0
		}
		for range rapid.IntRange(0, 20).Draw(t, "pieces") {
			text := rapid.StringOfN(alphabet, 2, 4, -1).Draw(t, "piece")
			if _, ok := scores["b"]; ok || !strings.Contains(text, "b") {
				scores[text] = float32(rapid.IntRange(-4, 0).Draw(t, "score"))
			}
		}
		v := sentencePieces(scores)
		e := mustNew(t, v)
		n := rapid.SampledFrom(lengths).Draw(t, "length")
		text := rapid.StringOfN(rapid.SampledFrom([]rune(letters)), n, n, -1).Draw(t, "text")
		parts := referenceMerge(strings.Split(strings.ReplaceAll(text, " ", "▁"), ""), func(left, right string) float64 {
			if score, ok := scores[left+right]; ok {
				return -float64(score)
			}
			return math.Inf(1)
		})
		var want []uint32
		for _, p := range parts {
			if _, ok := scores[p]; ok {
				want = append(want, numbers(v, p)...)
			} else {
				want = append(want, bytesAsIDs(p)...)
			}
		}
		checkTokens(t, e, text, want)
		checkWindows(t, e, text, want)
	})
}

// FuzzNew: whatever a file says of its tokenizer, there is an error or an encoding that counts.
func FuzzNew(f *testing.F) {
	f.Add(true, "gpt-2", "a b ab", "a b\nb a", "1 2 3", "abab")
	f.Add(false, "", "a b ab ▁a", "", "1 -1 0.5", "abab a")
	f.Add(false, "", "a a", "", "NaN", "a")
	f.Fuzz(func(t *testing.T, bytes bool, pre, tokens, merges, numbers, text string) {
		if len(tokens)+len(merges)+len(text) > 1<<12 {
			return
		}
		v := sentencePieces(nil)
		if bytes {
			v = bytesAnd(pre)
			v.Merges = strings.Split(merges, "\n")
		}
		v.Types = nil
		for i, token := range strings.Split(tokens, " ") {
			v.Tokens = append(v.Tokens, token)
			score := float32(i)
			if len(numbers) > 0 {
				score = float32(numbers[i%len(numbers)]) / 7
			}
			v.Scores = append(v.Scores, score)
		}
		if strings.Contains(numbers, "4") {
			v.Types = make([]int32, len(v.Tokens))
			for i := range v.Types {
				v.Types[i] = int32(numbers[i%len(numbers)]) % 8
				if i < 256 {
					v.Types[i] = cmp.Or(map[bool]int32{false: typeByte}[bytes], typeNormal)
				}
			}
		}
		v.AddSpacePrefix = strings.HasPrefix(numbers, "1")
		e, err := New(v)
		if err != nil {
			return
		}
		ids := e.Append(nil, text)
		if got := e.Count(text); got != len(ids) {
			t.Fatalf("counted %d, appended %d", got, len(ids))
		}
		if n := utf8.RuneCountInString(text); len(ids) > 4*n+1+len(text) {
			t.Fatalf("%d tokens of %d characters", len(ids), n)
		}
		for _, id := range ids {
			if int(id) >= len(v.Tokens) {
				t.Fatalf("token %d of %d", id, len(v.Tokens))
			}
		}
	})
}
