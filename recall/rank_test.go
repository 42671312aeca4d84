package recall_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/recall"
)

// transcript makes lines of "session | time | speaker | text", with ids from 1.
func transcript(text string) *recall.Transcript {
	var lines []recall.Line
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		part := strings.SplitN(line, "|", 4)
		for i := range part {
			part[i] = strings.TrimSpace(part[i])
		}
		lines = append(lines, recall.Line{
			ID: fmt.Sprint(len(lines) + 1), Session: part[0], Time: part[1], Speaker: part[2], Text: part[3],
		})
	}
	return recall.NewTranscript(lines)
}

func TestRanking(t *testing.T) {
	for _, tt := range []struct {
		rule, talk, query string
		want              []string // the first ids
	}{
		{"a rare word counts more than common ones", `
			1|||the garden gate is open
			2|||the garden is green
			3|||the garden is wet
			4|||a walrus
			5|||the garden is long`, "walrus garden", []string{"4"}},
		{"words that say nothing do not count", `
			1|||what is it that they were on about
			2|||a heron
			3|||it was so`, "what was it about the heron", []string{"2"}},
		{"but are looked for where there are no others", `
			1|||to be
			2|||or not`, "or not", []string{"2"}},
		{"endings and irregular forms are the same word", `
			1|||nothing at all
			2|||we swam across
			3|||other things
			4|||she drew maps`, "when did you swim", []string{"2"}},
		{"the word itself counts more than its family", `
			1|||we see a lynx
			2|||we saw a lynx`, "see lynx", []string{"1", "2"}},
		{"numbers are words", `
			1|||no cats there
			2|||they have 3 cats
			3|||some cats`, "three cats", []string{"2"}},
		{"a word twice counts more than once", `
			1|||melons and melons and things here
			2|||melons and some more things here
			3|||nothing of the kind here today`, "melons", []string{"1", "2"}},
		{"of two the shorter one is more about it", `
			1|||otter by the river
			2|||an otter was seen by the river while everyone else looked at clouds and distant hills`, "otter", []string{"1", "2"}},
		{"words that stand together as asked count more", `
			1|||the boy stood in front of an old silver kettle
			2|||an old kettle stood in front of the boy of silver`, "silver kettle", []string{"1", "2"}},
		{"a turn among turns that hold the words is found", `
			1|||we talk of the ferry
			1|||yes, at nine
			1|||the ferry to the island
			2|||nothing here
			3|||nothing there`, "ferry", []string{"3", "1", "2"}},
		{"but not one of another conversation", `
			1|||we talk of the ferry
			2|||yes, at nine
			3|||nothing there`, "ferry", []string{"1"}},
		{"the answer to a question is found before what else stands beside it", `
			1|||oh dear
			1|||where was the ferry?
			1|||oh well`, "ferry", []string{"2", "3", "1"}},
		{"and only after a question", `
			1|||oh dear
			1|||there was the ferry
			1|||oh well`, "ferry", []string{"2", "3", "1"}},
		{"who is named is who said it", `
			1||Bob|Ann, I like tea
			2||Ann|Bob, I like tea`, "what does Bob like, tea?", []string{"1", "2"}},
		{"a question for a time is answered by words of time", `
			1|||we painted it last week
			2|||we painted long fences`, "when was it painted", []string{"1", "2"}},
		{"how long is such a question", `
			1|||we painted for a week
			2|||we painted a fence`, "how long have they painted", []string{"1", "2"}},
		{"and so is which month", `
			1|||we painted the fence in june
			2|||we painted the fence in red`, "we painted in which month", []string{"1", "2"}},
		{"a month and a year that are named are those of the turn", `
			1|9:00 on 3 June, 2023||lunch with the team
			2|9:00 on 3 July, 2023||lunch with the team
			3|9:00 on 3 July, 2022||lunch with the team`, "lunch in July 2023", []string{"2", "3", "1"}},
		{"May is a month where it is written like one", `
			1|9:00 on 3 June, 2023||lunch with the team
			2|9:00 on 3 May, 2023||lunch with the team
			3|9:00 on 3 April, 2023||lunch with the team`, "lunch in May", []string{"2"}},
		{"and a verb otherwise", `
			1|9:00 on 3 May, 2023||lunch with the team
			2|9:00 on 3 June, 2023||lunch with the team`, "may we lunch", []string{"2", "1"}},
		{"a day of the month counts with its month", `
			1|9:00 on 3 July, 2023||lunch with the team
			2|9:00 on 4 July, 2023||lunch with the team
			3|9:00 on 5 July, 2023||lunch with the team`, "lunch on July 4th", []string{"2"}},
		{"of equals the newest is first", `
			1|||a heron
			2|||a heron
			3|||a heron`, "heron", []string{"3", "2", "1"}},
	} {
		got, err := transcript(tt.talk).Search(t.Context(), tt.query)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < len(tt.want) || !slices.Equal(got[:len(tt.want)], tt.want) {
			t.Errorf("%s: %v, want %v first", tt.rule, got, tt.want)
		}
	}
}

func TestATranscriptFindsNothingWhereThereIsNothing(t *testing.T) {
	talk := transcript("1|||a heron\n2|||a gull\n3|||a tern\n4|||a skua")
	for query, want := range map[string]int{"walrus": 0, "": 0, "?!": 0, "heron": 1} {
		got, err := talk.Search(t.Context(), query)
		if err != nil || len(got) != want {
			t.Errorf("%q: %v, %v", query, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := talk.Search(ctx, "heron"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestEveryCandidateIsInALongRanking asks for more than are judged.
func TestEveryCandidateIsInALongRanking(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%d|||heron number %d\n", i, i%7)
	}
	got, err := transcript(b.String()).Search(t.Context(), "heron 5")
	if err != nil {
		t.Fatal(err)
	}
	sorted := slices.Clone(got)
	slices.Sort(sorted)
	if sorted = slices.Compact(sorted); len(got) != 300 || len(sorted) != 300 {
		t.Errorf("%d ids, %d of them different", len(got), len(sorted))
	}
	// Every seventh, from the sixth line on, is number 5: those come first.
	fives := 0
	for _, id := range got[:42] {
		var n int
		if _, err := fmt.Sscan(id, &n); err != nil {
			t.Fatal(err)
		}
		if n%7 == 6 {
			fives++
		}
	}
	if want := 42; fives != want {
		t.Errorf("%d of the first %d", fives, want)
	}
}

func TestTheSameTranscriptGivesTheSameRanking(t *testing.T) {
	var b strings.Builder
	for i := range 80 {
		fmt.Fprintf(&b, "%d||%s|%s\n", i/10, []string{"Ann", "Bob"}[i%2], strings.Repeat("heron gull ", i%5)+[]string{"tern", "skua", "auk"}[i%3])
	}
	talk := transcript(b.String())
	first, err := talk.Search(t.Context(), "heron and gull, or skua")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := talk.Search(t.Context(), "heron and gull, or skua")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestALongQueryTakesNoLonger would not end if all of its words were looked for beside each other in every turn.
func TestALongQueryTakesNoLonger(t *testing.T) {
	var lines []recall.Line
	for i := range 300 {
		lines = append(lines, recall.Line{ID: fmt.Sprint(i), Text: "harbour boat " + strings.Repeat("water and wind ", 500)})
	}
	log := recall.NewTranscript(lines)
	var different strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&different, "word%d ", i)
	}
	for _, rest := range []string{different.String(), strings.Repeat("harbour boat ", 100_000)} {
		found, err := log.Search(t.Context(), "the boat in the harbour "+rest)
		if err != nil || len(found) != len(lines) {
			t.Errorf("%d of %d lines, %v", len(found), len(lines), err)
		}
	}
}
