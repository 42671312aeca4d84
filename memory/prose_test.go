package memory

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// saying draws text in which cues, and what almost is one, are likely.
func saying(t *rapid.T) string {
	pieces := []string{"un", "d", "we", "We", "'", "’", "ll ", " use", "é", "7", "-", "_", "\xff", "\xe2", ". ", "\n", "a", "word", "世界", "e\u0301", "GREED", "agree", "going", " with"}
	for _, cue := range decisionCues {
		pieces = append(pieces, cue, strings.ToUpper(cue), cue[:len(cue)-1], cue[1:])
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
}

// TestCueAtIsTheFirstOfAll holds what leaps over most of a text against what looks everywhere.
func TestCueAtIsTheFirstOfAll(t *testing.T) {
	everywhere := func(text string) int {
		for i := range len(text) {
			if before := []rune(text[:i]); i > 0 && (unicode.IsLetter(before[len(before)-1]) || strings.ContainsRune("0123456789", before[len(before)-1])) {
				continue
			}
			for _, cue := range decisionCues {
				if len(text)-i >= len(cue) && strings.EqualFold(text[i:i+len(cue)], cue) {
					return i
				}
			}
		}
		return -1
	}
	for n := range 20 { // wherever it stands in eight bytes
		for _, text := range []string{"decided", "7decided", "undecided", " Agreed", "7 we'll use it"} {
			if text = strings.Repeat("-", n) + text; cueAt(text) != everywhere(text) {
				t.Errorf("in %q at %d, want %d", text, cueAt(text), everywhere(text))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := saying(t)
		if got, want := cueAt(text), everywhere(text); got != want {
			t.Fatalf("in %q at %d, want %d", text, got, want)
		}
	})
}

// TestEachWordJoinsWhatBelongsTogether holds the words of a text against a look at each of its characters.
func TestEachWordJoinsWhatBelongsTogether(t *testing.T) {
	one := func(text string) (words []string) {
		runes := []rune(text)
		is := func(i int) bool {
			return i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
		}
		word := ""
		for i, r := range runes {
			switch {
			case is(i), unicode.IsMark(r), word != "" && (r == '-' || r == '_') && is(i+1):
				word += string(r)
			case word != "":
				words, word = append(words, word), ""
			}
		}
		if word != "" {
			words = append(words, word)
		}
		return words
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.Custom(saying), rapid.String()).Draw(t, "text")
		var got []string
		eachWord(text, func(start, end int) { got = append(got, text[start:end]) })
		if want := one(text); !slices.Equal(got, want) {
			t.Fatalf("of %q: %q, want %q", text, got, want)
		}
	})
}

// TestTopicKeyIsThatOfTheFoldedStem: whatever a word is made of, and whatever stands around it.
func TestTopicKeyIsThatOfTheFoldedStem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.StringMatching(`[a-zA-Z0-9]{0,20}(s|ing|ed|[-_.+])?`), rapid.StringMatching(`[A-Z0-9_-]{0,20}`), rapid.String()).Draw(t, "word")
		want := hashWord(stemmed([]byte(strings.ToLower(word))))
		if got := topicKey(word); got != want {
			t.Fatalf("the key of %q is %x, want %x", word, got, want)
		}
		before, behind := rapid.String().Draw(t, "before"), rapid.String().Draw(t, "behind")
		if got := topicKeyAt(before+word+behind, len(before), len(before)+len(word)); got != want {
			t.Fatalf("the key of %q between %q and %q is %x, want %x", word, before, behind, got, want)
		}
	})
}

// TestEncodedSize: a line that is kept must fit, whatever is in it.
func TestEncodedSize(t *testing.T) {
	for text, want := range map[string]int{"": 0, "plain": 5, `a"b\c`: 7, "\n": 6, "x\x00y": 8, "é世": 5, "\"\"": 4, strings.Repeat(`\`, 20): 40} {
		if got := encodedSize(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
