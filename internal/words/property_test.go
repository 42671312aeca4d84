package words_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/words"
)

// checkTerm holds a term against what the stores rely on.
func checkTerm(t interface{ Errorf(string, ...any) }, term string) {
	if len(term) == 0 || len(term) > 64 || !utf8.ValidString(term) {
		t.Errorf("%+q is not 1 to 64 bytes of UTF-8", term)
	}
	for _, r := range term {
		if r < utf8.RuneSelf && !('a' <= r && r <= 'z' || '0' <= r && r <= '9') {
			t.Errorf("%+q holds %q", term, r)
		}
	}
}

// stemmed reports whether a term may be an English stem, which may have another
// stem: they are the one kind of term that does not analyse to itself.
func stemmed(term string) bool {
	return strings.Trim(term, "abcdefghijklmnopqrstuvwxyz") == ""
}

type failer interface {
	Errorf(string, ...any)
	Fatalf(string, ...any)
}

func checkText(t failer, text string) {
	terms, set := words.Terms(text), words.Set(text)
	if !slices.IsSorted(set) || len(slices.Compact(slices.Clone(set))) != len(set) {
		t.Errorf("%+q is not sorted and unique", set)
	}
	for _, term := range terms {
		checkTerm(t, term)
		if _, ok := slices.BinarySearch(set, term); !ok {
			t.Errorf("term %+q is not in the set", term)
		}
		if again := words.Terms(term); !stemmed(term) && (len(again) != 1 || again[0] != term) {
			t.Errorf("term %+q of %+q analyses to %+q", term, text, again)
		}
	}
	for _, term := range set {
		if !slices.Contains(terms, term) {
			t.Errorf("%+q is in the set and no term", term)
		}
	}
}

func checkConcatenation(t failer, a, b string) {
	want := append(words.Terms(a), words.Terms(b)...)
	if diff := cmp.Diff(want, words.Terms(a+" "+b)); diff != "" {
		t.Errorf("%+q and %+q: %s", a, b, diff)
	}
}

// text draws from the characters that meet in real text and in attacks.
func text() *rapid.Generator[string] {
	pieces := []string{
		"a", "B", "running", "7", "'", "’", ".", "_", " ", "é", "e\u0301", "İ", "ß", "ς", "Σ", "й", "и\u0306", "ё",
		"日", "本", "の", "が", "か\u3099", "ｶﾞ", "ー", "한", "\u1112\u1161\u11ab", "ก", "\u0e48", "ำ", "ခ", "ាំ",
		"कि", "\u093c", "שָ", "كِ", "🎉", "👍🏽", "\u200d", "\u200b", "\ufe0f", "™", "²", "½", "ﬁ", "ﷺ", "ℂ", "\u0301",
		"\u0345", "\u034f", "\u20dd", "\xff", "\xe3\x81", "\ufffd", "\x00",
	}
	return rapid.Custom(func(t *rapid.T) string {
		drawn := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String())).Draw(t, "pieces")
		return strings.Join(drawn, "")
	})
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := text().Draw(t, "a"), text().Draw(t, "b")
		checkText(t, a)
		checkConcatenation(t, a, b)
	})
}

func FuzzTerms(f *testing.F) {
	for _, sample := range samples {
		f.Add(sample, "")
	}
	f.Add("don't l'été ﬁ™²½ 👩‍💻", "\u0301か\u3099\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		checkText(t, a)
		checkConcatenation(t, a, b)
	})
}

func TestConcurrentUse(t *testing.T) {
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 20 {
				for _, sample := range samples {
					checkText(t, sample)
				}
			}
		})
	}
	wait.Wait()
}
