package extract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/compress/extract"
)

// pieces meet in real conversations and in attacks.
var pieces = []string{
	"I", "the", "a", "so", "and", "it's", "We", "you", "really", "lantern", "Zwolle", "Pixel", "decided", "error:", "yesterday",
	"three", "42", "v1.2.3", "store/tx.go:12", "M05KNL", "\"The", "Rings\"", "(aside", "end)", "1.", "Dr.", "ok.", "why?", "wow!",
	"-", ";", "...", "{laugh}", "'s", "<3", "💪", "日本語です。", "これは長い文章、ですね", "Straße", "и", "\n", "\n```\n", "\t", "\u2028", "\u00a0",
	"[", "]", "[9 May]", "a: b", "\xff", "\x00", "\u0301", ":", "==", "}", strings.Repeat("x", 400), strings.Repeat("長", 90),
}

func lines() *rapid.Generator[[]extract.Line] {
	words := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "words"), rapid.SampledFrom([]string{" ", ""}).Draw(t, "space"))
	})
	data := rapid.SampledFrom([]string{
		`{"id": "K1", "tags": ["a", "b", 3], "to": {"name": "Pell", "zip": "8261AB", "x": null}}`,
		`[{"n": 1, "s": "HAT1"}, {"n": 2, "s": "HAT2"}, {"n": 3, "s": "HAT3", "more": true}]`,
		`{"text": "A long text of more words than a value has. It was decided yesterday.\nReally \u00e9 \"so\""}`,
		`{"broken": `, `{"a" 1}`, `[1,,2]`, `{"a": "\q"}`, `{}`, `[]`, `"x"`, "FAIL\tx 0.1s\npanic: no\n\n  at tx.go:3\n",
		strings.Repeat("[", 100) + strings.Repeat("]", 100),
	})
	line := rapid.Custom(func(t *rapid.T) extract.Line {
		l := extract.Line{
			Speaker: rapid.SampledFrom([]string{"", "Bram", "Ottilie", "User", "two\nlines"}).Draw(t, "speaker"),
			Time:    rapid.SampledFrom([]string{"", "9 May", "10 May", "a\n[b]"}).Draw(t, "time"),
			Kind:    rapid.SampledFrom([]extract.Kind{extract.Talk, extract.Talk, extract.Call, extract.Result}).Draw(t, "kind"),
			Name:    rapid.SampledFrom([]string{"", "look_up"}).Draw(t, "name"),
			ID:      rapid.SampledFrom([]string{"", "c1"}).Draw(t, "id"),
			User:    rapid.Bool().Draw(t, "user"),
		}
		if l.Kind == extract.Talk {
			l.Text = words.Draw(t, "text")
		} else {
			l.Text = rapid.OneOf(data, words).Draw(t, "output")
		}
		return l
	})
	return rapid.Custom(func(t *rapid.T) []extract.Line {
		all := rapid.SliceOfN(line, 0, 12).Draw(t, "lines")
		for i := range all {
			all[i].Seq = int64(2*i + 1)
		}
		return all
	})
}

// runes is a counter that has nothing in common with a vocabulary.
func runes(text string) int { return (utf8.RuneCountInString(text) + 2) / 3 }

type failer interface {
	Helper()
	Errorf(string, ...any)
}

// checkSummary holds a summary against what Summarise promises of any input.
func checkSummary(t failer, lines []extract.Line, o extract.Options) extract.Summary {
	t.Helper()
	s := extract.Summarise(lines, o)
	if n := o.Count(s.Text); s.Text != "" && (n > o.Budget || n != s.Tokens) {
		t.Errorf("%d tokens, said to be %d, of %d", n, s.Tokens, o.Budget)
	}
	if !utf8.ValidString(s.Text) {
		t.Errorf("%q is not UTF-8", s.Text)
	}
	if s.Text != "" && (!strings.HasSuffix(s.Text, "\n") || strings.Contains(s.Text, "\n\n") || strings.HasPrefix(s.Text, "\n")) {
		t.Errorf("%q has empty lines", s.Text)
	}
	if !slices.IsSorted(s.Seqs) || (s.Text == "") != (len(s.Seqs) == 0) {
		t.Errorf("%v is represented by %q", s.Seqs, s.Text)
	}
	if again := extract.Summarise(lines, o); cmp.Diff(s, again) != "" {
		t.Errorf("not the same again: %s", cmp.Diff(s, again))
	}
	return s
}

func TestProperties(t *testing.T) {
	counters := []func(string) int{runes, bpe.Cl100k().Count}
	rapid.Check(t, func(t *rapid.T) {
		all := lines().Draw(t, "lines")
		before := slices.Clone(all)
		o := extract.Options{
			Budget: rapid.IntRange(-1, 400).Draw(t, "budget"),
			Count:  counters[rapid.IntRange(0, 1).Draw(t, "counter")],
			Focus:  rapid.SampledFrom([]string{"", "Find the lantern in Zwolle", "\xff"}).Draw(t, "focus"),
		}
		checkSummary(t, all, o)
		if diff := cmp.Diff(before, all); diff != "" {
			t.Errorf("lines have changed: %s", diff)
		}
	})
}

// spoken are the words of a text without punctuation; a character is one where no spaces are
// written.
func spoken(text string) []string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana):
			fmt.Fprintf(&b, " %c ", r)
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Fields(b.String())
}

// TestOwnWords checks that a line of talk is made of words of its speaker, said at its time, in
// their order.
func TestOwnWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := lines().Draw(t, "lines")
		said := map[string][]string{}
		for i := range all {
			l := &all[i]
			l.Kind, l.Text = extract.Talk, strings.ToValidUTF8(l.Text, " ")
			l.Speaker = []string{"Bram", "Ottilie"}[i%2]
			l.Time = fmt.Sprint("day ", i/5)
			said[l.Time+l.Speaker] = append(said[l.Time+l.Speaker], spoken(l.Text)...)
		}
		s := checkSummary(t, all, extract.Options{Budget: rapid.IntRange(1, 300).Draw(t, "budget"), Count: runes})
		time := ""
		for row := range strings.Lines(s.Text) {
			row = strings.TrimSpace(row)
			if strings.HasPrefix(row, "[day ") {
				time = strings.Trim(row, "[]")
				continue
			}
			speaker, text, _ := strings.Cut(row, ":")
			for _, w := range spoken(text) {
				rest := said[time+speaker]
				at := slices.Index(rest, w)
				if at < 0 {
					t.Fatalf("%q of %q does not follow in %q", w, row, rest)
				}
				said[time+speaker] = rest[at+1:]
			}
		}
	})
}

// TestGrowing checks that a larger budget is used: nothing else is certain of a greedy choice.
func TestGrowing(t *testing.T) {
	all := chatter(20 << 10)
	tokens := 0
	for _, budget := range []int{0, 1, 5, 10, 20, 50, 100, 200, 400, 800, 1600, 3200} {
		s := checkSummary(t, all, extract.Options{Budget: budget, Count: bpe.Cl100k().Count})
		if s.Tokens < tokens {
			t.Errorf("%d tokens of %d, %d of less", s.Tokens, budget, tokens)
		}
		if tokens = s.Tokens; budget >= 100 && tokens < budget*9/10 {
			t.Errorf("only %d tokens of %d", tokens, budget)
		}
	}
}

// TestStrangeCounters checks budgets with counters that make nonsense of every estimate.
func TestStrangeCounters(t *testing.T) {
	all := chatter(2 << 10)
	for name, count := range map[string]func(string) int{
		"square":   func(s string) int { return len(strings.Fields(s)) * len(strings.Fields(s)) },
		"constant": func(s string) int { return 40 + len(s)/4 },
		"free":     func(string) int { return 0 },
		"step": func(s string) int {
			if n := len(strings.Fields(s)); n <= 12 {
				return n
			}
			return 1001
		},
	} {
		for _, budget := range []int{1, 30, 60, 200, 1000, 5000, 20000, 100000, 1000000} {
			s := checkSummary(t, all, extract.Options{Budget: budget, Count: count})
			if budget >= 200 && len(s.Seqs) == 0 {
				t.Errorf("%s: nothing in %d", name, budget)
			}
		}
	}
}

func FuzzSummarise(f *testing.F) {
	f.Add("I moved to Zwolle. It's \"The End\" (really), and so on!\nWhy?", `{"id": "K1", "to": {"a": 1, "b": "x y"}}`, 40)
	f.Add("日本語です。```\nx := 1\n```", "error: no\n\tat tx.go:3", 7)
	f.Add("\xff\u0301{laugh} 's - ; 1. Dr. A.", `[[["a", {"b": null}]], "\u00e9\n"]`, 300)
	f.Fuzz(func(t *testing.T, said, output string, budget int) {
		all := []extract.Line{
			{Seq: 1, Speaker: "Bram", Text: said, Time: "9 May", User: true},
			{Seq: 2, Kind: extract.Call, Name: "t", Text: output},
			{Seq: 3, Kind: extract.Result, Name: "t", Text: output},
			{Seq: 4, Speaker: said, Time: output, Text: output},
			{Seq: 5, Kind: extract.Result, Name: output, Text: said},
		}
		checkSummary(t, all, extract.Options{Budget: budget % 1000, Count: runes, Focus: output})
	})
}
