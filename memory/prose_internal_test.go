package memory

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestALineIsWhatItsWordsAre(t *testing.T) {
	compare := func(t rapid.TB, text string) {
		want := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r)
		}), " ")
		if got := oneLine(text); got != want {
			t.Fatalf("%q is %q on one line, want %q", text, got, want)
		}
	}
	for _, piece := range []string{" ", "  ", "\x7f", "\x1f", "\x00", "\x80", "\xff", "ä", "~", "!"} {
		for n := range 24 {
			compare(t, strings.Repeat("a", n)+piece+strings.Repeat("b", 24-n))
		}
	}
	rapid.Check(t, func(t *rapid.T) { compare(t, anyText().Draw(t, "text")) })
}

// wordsAround draws text with words that cues are made of, and some that only look like them.
func wordsAround() *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{
		"decided", "Decided", "undecided", "ädecided", "decide", "we", "we'll", "we’ll", "use", "let's", "go", "with", "agreed", "agree",
		"from", "now", "on", "going", "x", "aa", "9decided", "is-decided", "release", "releases", "Released", "2024", "the",
	})
	gap := rapid.SampledFrom([]string{" ", " ", " ", " ", ", ", "  ", "\n", "…", "-", ""})
	part := rapid.Custom(func(t *rapid.T) string { return word.Draw(t, "word") + gap.Draw(t, "gap") })
	return rapid.Map(rapid.SliceOfN(part, 0, 40), func(parts []string) string { return strings.Join(parts, "") })
}

func TestACueIsFoundWhereverItStands(t *testing.T) {
	ascii := func(c byte) bool { return c < utf8.RuneSelf && (unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))) }
	compare := func(t rapid.TB, text string) {
		want := -1
		for at := range len(text) {
			before, _ := utf8.DecodeLastRuneInString(text[:at])
			if at > 0 && ascii(text[at-1]) || unicode.IsLetter(before) {
				continue
			}
			if slices.ContainsFunc(decisionCues, func(cue string) bool {
				return len(text)-at >= len(cue) && strings.EqualFold(text[at:at+len(cue)], cue)
			}) {
				want = at
				break
			}
		}
		if got := cueAt(text); got != want {
			t.Fatalf("the first cue of %q is at %d, want %d", text, got, want)
		}
	}
	for n := range 140 {
		for _, said := range []string{"decided", "9decided", "9decided, agreed"} {
			compare(t, strings.Repeat(" ", n)+said)
			compare(t, strings.Repeat(" ", n)+said+strings.Repeat(" x", 64))
		}
	}
	rapid.Check(t, func(t *rapid.T) { compare(t, wordsAround().Draw(t, "text")) })
}

func TestTopicsAreTheWordsSaidMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		input, reply := wordsAround().Draw(t, "input"), wordsAround().Draw(t, "reply")
		var want []string
		counts := map[uint64]int{}
		first := map[string]uint64{}
		for i, text := range []string{input, reply} {
			text = firstBytes(text, topicBytes)
			eachWord(text, func(start, end int) {
				word, key := text[start:end], topicKey(text[start:end])
				if len(word) < 3 || len(word) > maxTopic || knownWords.kinds(key)&(stopWord|dullWord) != 0 || onlyNumber(word) {
					return
				}
				if counts[key] == 0 {
					want = append(want, word)
					first[word] = key
				}
				counts[key] += 2 - i
			})
		}
		slices.SortStableFunc(want, func(a, b string) int { return counts[first[b]] - counts[first[a]] })
		if got := topicsOf(input, reply); !slices.Equal(got, want[:min(len(want), maxTurnTopics)]) {
			t.Fatalf("the topics of %q and %q are %q, want %q", input, reply, got, want)
		}
	})
}
