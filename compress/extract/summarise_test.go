package extract_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress/extract"
)

// fields counts words, so that budgets in tests can be counted by hand.
func fields(text string) int { return len(strings.Fields(text)) }

// say makes lines of one speaker after the other.
func say(texts ...string) []extract.Line {
	var lines []extract.Line
	for i, text := range texts {
		lines = append(lines, extract.Line{Seq: int64(i + 1), Speaker: []string{"Bram", "Pell"}[i%2], Text: text})
	}
	return lines
}

// telegram is what is written of a text when there is no room for all of it.
func telegram(text string) string {
	lines := []extract.Line{{Seq: 1, Speaker: "Bram", Text: text}}
	for budget := fields(text) + 1; budget > 0; budget-- {
		s := extract.Summarise(lines, extract.Options{Budget: budget, Count: fields}).Text
		if row, _, _ := strings.Cut(s, "\n"); fields(row) < fields(text)+1 {
			return strings.TrimPrefix(row, "Bram: ")
		}
	}
	return ""
}

func TestTelegram(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"I painted the old boat", "painted old boat"},
		{"I'm painting a boat", "painting boat"},
		{"It was not the boat", "was not boat"},
		{"When I paint, I really sing", "When I paint, I sing"},
		{"the boat is so beautiful", "boat is beautiful"},
		{"the boat leaked so I left", "boat leaked so I left"},
		{"we saw the Lord of the Rings", "we saw Lord of the Rings"},
		{`the play is "The Boat and the Sea"`, `play is "The Boat and the Sea"`},
		{"the boat (a big one) sank", "boat (a big one) sank"},
		{"the rent is 40 a month", "rent is 40 a month"},
		{"the {laugh} boat sank", "boat sank"},
		{"I 'm on the boat", "I 'm on boat"},
		{"I'll never sell the boat", "I'll never sell boat"},
	} {
		if got := telegram(test.text); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.text, got, test.want)
		}
	}
}

// TestUserWords checks that what the user says is not shortened inside of a clause.
func TestUserWords(t *testing.T) {
	const request = "I really want the green boat, not a red one"
	lines := []extract.Line{
		{Speaker: "User", User: true, Text: request + "."},
		{Speaker: "Agent", Text: "The green boat was sold to the baker of Urk. It is really a pity that it was sold."},
	}
	s := extract.Summarise(lines, extract.Options{Budget: 20, Count: fields})
	if !strings.Contains(s.Text, "User: "+request+"\n") || strings.Contains(s.Text, "Agent: The") {
		t.Errorf("%q", s.Text)
	}
}

func TestVocative(t *testing.T) {
	of := func(lines []extract.Line) string {
		return extract.Summarise(lines, extract.Options{Budget: 8, Count: fields}).Text
	}
	lines := say("Pell, the green boat sank near Urk yesterday.", "Oh!")
	if got, want := of(lines), "Bram: green boat sank near Urk yesterday\n"; got != want {
		t.Errorf("of two: %q, want %q", got, want)
	}
	lines = append(lines, extract.Line{Speaker: "Xanthe", Text: "Ah!"})
	if got, want := of(lines), "Bram: Pell, green boat sank near Urk yesterday\n"; got != want {
		t.Errorf("of three: %q, want %q", got, want)
	}
}

// TestPreference checks what is kept where there is room for one of two.
func TestPreference(t *testing.T) {
	for name, test := range map[string]struct{ want, other string }{
		"names":        {"Bram met Liesbeth there.", "Bram met nobody there."},
		"numbers":      {"The ladder costs 35 guilders.", "The ladder costs several guilders."},
		"dates":        {"The ladder broke last week.", "The ladder broke beside everyone."},
		"paths":        {"Look into store/tx.go for ladders.", "Look into cupboards for ladders."},
		"statements":   {"The ladder stands outside.", "Does the ladder stand outside?"},
		"oneself":      {"I repaired ladders.", "You repaired ladders."},
		"facts":        {"The ladder collapsed.", "The ladder sounds awesome."},
		"decisions":    {"We decided against ladders.", "We argued against ladders."},
		"errors":       {"The ladder test failed.", "The ladder test started."},
		"what is new":  {"A lantern burns.", "A ladder stands. A ladder stands. A ladder stands."},
		"what is said": {"The violin plays.", "They did what they could."},
	} {
		filler := "Well, so it is."
		for _, texts := range [][]string{{test.want, filler, test.other}, {test.other, filler, test.want}} {
			lines := say(append(texts, filler)...)
			s := extract.Summarise(lines, extract.Options{Budget: 7, Count: fields})
			last := strings.Fields(strings.Trim(test.want, ".?"))
			if !strings.Contains(s.Text, last[len(last)-1]) {
				t.Errorf("%s: %q of %q", name, s.Text, texts)
			}
		}
	}
}

func TestFocus(t *testing.T) {
	lines := say("The violin plays upstairs.", "The kettle boils downstairs.")
	for focus, want := range map[string]string{"mend the violins": "violin", "a boiling kettle": "kettle"} {
		if s := extract.Summarise(lines, extract.Options{Budget: 5, Count: fields, Focus: focus}); !strings.Contains(s.Text, want) {
			t.Errorf("%s: %q", focus, s.Text)
		}
	}
}

func TestQuestions(t *testing.T) {
	// An answered question gives way to its answer; an open one is what has to be done next.
	lines := say("Which harbour is meant?", "Urk harbour, behind the lighthouse.", "Which lantern is missing?")
	s := extract.Summarise(lines, extract.Options{Budget: 11, Count: fields})
	if diff := cmp.Diff([]int64{2, 3}, s.Seqs); diff != "" {
		t.Errorf("%q: %s", s.Text, diff)
	}
	if !strings.HasSuffix(s.Text, "missing?\n") {
		t.Errorf("%q", s.Text)
	}
}

func TestAgreement(t *testing.T) {
	lines := say("Shall I delete the table?", "Yes.", "Well.", "It is.")
	s := extract.Summarise(lines, extract.Options{Budget: 8, Count: fields})
	if want := "Bram: Shall I delete table?\nPell: Yes\n"; s.Text != want {
		t.Errorf("%q, want %q", s.Text, want)
	}
}

func TestLayout(t *testing.T) {
	lines := []extract.Line{
		{Seq: 3, Time: "9 May", Speaker: "Bram", Text: "Hi! The violin, plays - the kettle boils."},
		{Seq: 5, Time: "9 May", Speaker: "Bram", Text: "A ladder broke!"},
		{Seq: 7, Time: "10 May", Speaker: "Pell", Text: "Where is the lantern? Behind the lighthouse, and a falcon sits on it (for now)."},
		{Seq: 8, Text: "nobody said this"},
	}
	s := extract.Summarise(lines, extract.Options{Budget: 1000, Count: fields})
	want := "[9 May]\nBram: Hi! The violin, plays - the kettle boils; A ladder broke\n" +
		"[10 May]\nPell: Where is the lantern? Behind the lighthouse, and a falcon sits on it (for now)\n" +
		"nobody said this\n"
	if diff := cmp.Diff(want, s.Text); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{3, 5, 7, 8}, s.Seqs); diff != "" {
		t.Error(diff)
	}
}

func TestLongLines(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("lantern ladder violin kettle falcon ", 40))
	s := extract.Summarise(say(text), extract.Options{Budget: 10000, Count: fields})
	for row := range strings.Lines(s.Text) {
		if n := fields(row); n > 42 {
			t.Errorf("%d words in %q", n, row)
		}
	}
	if n := strings.Count(s.Text, "falcon"); n != 40 {
		t.Errorf("%d falcons", n)
	}
}

func TestDefaults(t *testing.T) {
	lines := say("The violin plays upstairs.")
	if s := extract.Summarise(lines, extract.Options{Budget: 20}); s.Text == "" || s.Tokens == 0 || s.Tokens > 20 {
		t.Errorf("%+v", s)
	}
	for _, budget := range []int{0, -1} {
		if diff := cmp.Diff(extract.Summary{}, extract.Summarise(lines, extract.Options{Budget: budget})); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff(extract.Summary{}, extract.Summarise(nil, extract.Options{Budget: 20})); diff != "" {
		t.Error(diff)
	}
}

// TestShare checks that data leaves room for what it was wanted for.
func TestShare(t *testing.T) {
	var ids []string
	for i := range 200 {
		ids = append(ids, `"K`+strings.Repeat("7", 1+i%3)+string(rune('A'+i%26))+string(rune('0'+i%10))+`"`)
	}
	lines := []extract.Line{
		{Seq: 1, Speaker: "Bram", Text: "The violin plays upstairs while the kettle boils. A falcon sits behind the lighthouse near Urk.", User: true},
		{Seq: 2, Kind: extract.Result, Name: "list", Text: "[" + strings.Join(ids, ", ") + "]"},
	}
	count := func(text string) int {
		return len(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' }))
	}
	s := extract.Summarise(lines, extract.Options{Budget: 40, Count: count})
	if !slices.Contains(s.Seqs, 1) || !slices.Contains(s.Seqs, 2) {
		t.Errorf("%q", s.Text)
	}
}
