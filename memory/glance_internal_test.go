package memory

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// spelled is what a glance takes in of a text, as its rules say it: byte by byte and word by word.
func spelled(text string) glance {
	var g glance
	if len(text) > glanceBytes {
		text = text[:glanceBytes]
	}
	var word []byte
	before, pair := byte(' '), uint64(0)
	end := func() {
		if len(word) > 0 {
			g.add(word)
			word = word[:0]
		}
	}
	for i := 0; i < len(text); {
		c := text[i]
		if kind := asciiClass[c]; kind != wide {
			i++
			pair = 0
			if kind == 0 {
				end()
				g.path = g.path || c == '`' || (c == '/' || c == '\\') && before > ' '
			} else if len(word) < maxTerm {
				word = append(word, kind)
			}
			before = c
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		before = c
		switch {
		case unspaced(r):
			end()
			if pair != 0 {
				g.words = append(g.words, mix(pair*31+uint64(r)))
			}
			pair = uint64(r)
		case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r):
			pair = 0
			if r = unicode.ToLower(r); len(word)+utf8.RuneLen(r) <= maxTerm {
				word = utf8.AppendRune(word, r)
			}
		default:
			pair = 0
			end()
		}
	}
	end()
	return g
}

// texts are made of what words and their ends are made of, with every length of a word around those of registers.
func texts() *rapid.Generator[string] {
	ends := []string{"s", "e", "es", "ed", "ing", "ings", "ion", "ions", "ate", "ation", "ating", "ated", "ates", "ss", "tt", "tted", "99", "S", "ED"}
	known := slices.Concat(stopWords, actionWords, dullWords)
	part := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z0-9]{1,70}`),
		rapid.StringMatching(`[a-z]{1,9}`),
		rapid.StringMatching(`[\x00-\x7f]{1,9}`),
		rapid.SampledFrom(ends),
		rapid.SampledFrom(known),
		rapid.Map(rapid.SampledFrom(known), strings.ToUpper),
		rapid.SampledFrom([]string{" ", " ", " ", "/", " /", "`", "\\", "@", "[", "{", ":", "_", "\x10", "\x19", "\x00", "\xff", "\xe4\xb8", "\u0130", "ß", "é", "世界", "ไทย", "—"}),
		rapid.StringN(0, 6, -1),
	)
	return rapid.Map(rapid.SliceOfN(part, 0, 40), func(parts []string) string { return strings.Join(parts, "") })
}

func TestGlanceTakesInWhatItsRulesSay(t *testing.T) {
	compare := func(t rapid.TB, text string) {
		t.Helper()
		g := glance{words: []uint64{7}}
		g.read(text)
		want := spelled(text)
		if !slices.Equal(g.words[1:], want.words) || g.words[0] != 7 {
			t.Fatalf("of %q it takes in the words %x, want %x", text, g.words[1:], want.words)
		}
		if g.action != want.action || g.path != want.path {
			t.Fatalf("of %q it takes in %d words that tell what to do and a path: %v; want %d and %v", text, g.action, g.path, want.action, want.path)
		}
	}
	// Every character at every place of a register, and every ending of words of every length.
	for c := range 256 {
		for before := range 18 {
			compare(t, strings.Repeat("x", before)+string([]byte{byte(c)}))
			compare(t, strings.Repeat("x", before)+string([]byte{byte(c)})+"tail of it")
		}
	}
	for n := range 18 {
		for _, end := range []string{"", "s", "e", "ed", "ing", "ion", "ate", "ated", "ation", "ations", "atings", "ss", "tting", "tts", "11", "11s", "es"} {
			compare(t, strings.Repeat("b", n)+end)
			compare(t, strings.Repeat("c4", n)[:n]+end+" ")
		}
	}
	rapid.Check(t, func(t *rapid.T) { compare(t, texts().Draw(t, "text")) })
}

func TestWordsInRegistersAreHashedAsOthersAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-zA-Z0-9]{1,15}`).Draw(t, "word")
		behind := rapid.String().Draw(t, "behind")
		r := register{eightAt(word+behind, 0), eightAt(word+behind, 8)}
		if got, want := r.hash(len(word)), hashWord(stemmed([]byte(strings.ToLower(word)))); got != want {
			t.Fatalf("%q before %q has the hash %x, want %x", word, behind, got, want)
		}
	})
}

func TestVocabularyKnowsItsWordsAndNoOthers(t *testing.T) {
	known := make(map[uint64]uint64)
	for kind, words := range map[uint64][]string{stopWord: stopWords, actionWord: actionWords, dullWord: dullWords} {
		for _, word := range words {
			known[hashWord(stemmed([]byte(word)))] |= kind
		}
	}
	for h, kinds := range known {
		if got := knownWords.kinds(h); got != kinds {
			t.Errorf("the word of hash %x is of the kinds %x, want %x", h, got, kinds)
		}
	}
	for i := range uint64(100_000) {
		if h := mix(i); known[h] == 0 && knownWords.kinds(h) != 0 {
			t.Errorf("a word of hash %x is known", h)
		}
	}
}
