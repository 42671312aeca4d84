package compress_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/compress/extract"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestLines(t *testing.T) {
	l := (&log{}).user("hi").agent("let me look")
	l.turns[1].Content = turn.Text{Text: "let me look", Thinking: "hm", ToolCalls: []turn.ToolCall{{ID: "a", Name: "look", Arguments: `{"x":1}`}}}
	l.add(turn.System, turn.Result{Name: "look", CallID: "a", Status: turn.CallError, Result: `"no"`})
	l.add(turn.User, turn.Speech{Transcript: "and now"})
	l.add(turn.User, turn.Image{Alt: "a cat"})
	l.add(turn.User, turn.Action{Name: "click", Target: "ok"})
	l.agent(" ")
	l.turns[0].CreatedAt = l.turns[0].CreatedAt.AddDate(0, 0, -1)
	const day = "2026-11-01"
	want := []extract.Line{
		{Seq: 1, Speaker: "user", Time: "2026-10-31", Text: "hi", User: true},
		{Seq: 2, Speaker: "agent", Time: day, Text: "let me look"},
		{Seq: 2, Speaker: "agent", Time: day, Kind: extract.Call, Name: "look", Text: `{"x":1}`},
		{Seq: 3, Speaker: "system", Time: day, Kind: extract.Result, Name: "look error", Text: "no"},
		{Seq: 4, Speaker: "user", Time: day, Text: "and now", User: true},
		{Seq: 5, Speaker: "user", Time: day, Text: "a cat", User: true},
		{Seq: 6, Speaker: "user", Time: day, Text: "click\nok", User: true},
	}
	s := l.source()
	if diff := cmp.Diff(want, s.Lines()); diff != "" {
		t.Error(diff)
	}
	s.Beside = []turn.Range{{From: 1, To: 1}, {From: 4, To: 6}}
	if diff := cmp.Diff(want[1:4], s.Lines()); diff != "" {
		t.Error(diff)
	}
}

func TestHash(t *testing.T) {
	seen := map[string]string{}
	base := story().source()
	for name, change := range map[string]func(s *compress.Source){
		"the same":       func(*compress.Source) {},
		"another text":   func(s *compress.Source) { s.Turns[0].Content = turn.Text{Text: "x"} },
		"thinking":       func(s *compress.Source) { s.Turns[1].Content = turn.Text{Text: "x", Thinking: "y"} },
		"another role":   func(s *compress.Source) { s.Turns[0].Role = turn.Agent },
		"another seq":    func(s *compress.Source) { s.Turns[0].Seq = 77 },
		"another kind":   func(s *compress.Source) { s.Turns[8].Kind = turn.KindSummary },
		"a turn less":    func(s *compress.Source) { s.Turns = s.Turns[:8] },
		"forgotten":      func(s *compress.Source) { s.Turns[0].Content = nil },
		"beside":         func(s *compress.Source) { s.Beside = []turn.Range{{From: 1, To: 1}} },
		"two beside":     func(s *compress.Source) { s.Beside = []turn.Range{{From: 1, To: 1}, {From: 3, To: 3}} },
		"a range beside": func(s *compress.Source) { s.Beside = []turn.Range{{From: 1, To: 2}} },
	} {
		s := story().source()
		change(&s)
		h := s.Hash()
		if other, ok := seen[h]; ok {
			t.Errorf("%s has the hash of %s", name, other)
		}
		if (h == base.Hash()) != (name == "the same") || len(h) != 64 {
			t.Errorf("%s: %s", name, h)
		}
		seen[h] = name
	}
}

func TestUnits(t *testing.T) {
	l := &log{}
	unit := func(units ...int64) {
		for _, u := range units {
			l.agent("x")
			l.turns[len(l.turns)-1].Unit = u
		}
	}
	unit(0, 2, 0, 2, 0, 6, 7, 6, 7, 0)
	l.user("two")
	l.user("parts")
	l.turns[10].MessageID, l.turns[11].MessageID = "m", "m"
	var sizes []int
	for _, u := range compress.Units(l.turns) {
		sizes = append(sizes, len(u))
	}
	if diff := cmp.Diff([]int{1, 3, 1, 4, 1, 2}, sizes); diff != "" {
		t.Error(diff)
	}
	if compress.Units(nil) != nil {
		t.Error("units of nothing")
	}
}

func TestPlan(t *testing.T) {
	l := story().tool("look", `{}`, "", "").agent("done")
	cost := func(from, to int) int {
		s := compress.Source{Turns: l.turns[from-1 : to]}
		return s.Tokens(count)
	}
	for _, tt := range []struct {
		name   string
		keep   int
		pinned []turn.Range
		to     int64
		beside []turn.Range
	}{
		{"everything", 0, nil, 11, []turn.Range{{From: 1, To: 1}, {From: 8, To: 8}, {From: 10, To: 10}}},
		{"the last turn stays", 1, nil, 10, []turn.Range{{From: 1, To: 1}, {From: 8, To: 8}, {From: 10, To: 10}}},
		{"exactly two stay", cost(10, 11), nil, 9, []turn.Range{{From: 1, To: 1}, {From: 8, To: 8}}},
		{"a little more", cost(10, 11) + 1, nil, 8, []turn.Range{{From: 1, To: 1}, {From: 8, To: 8}}},
		{"a unit is not split", cost(7, 11) + 1, nil, 4, []turn.Range{{From: 1, To: 1}}},
		{"pins", cost(7, 11), []turn.Range{{From: 2, To: 2}, {From: 20, To: 30}}, 6, []turn.Range{{From: 1, To: 2}}},
		{"only what the user said", cost(2, 11), nil, 0, nil},
		{"nothing", cost(1, 11), nil, 0, nil},
		{"less than nothing", 1 << 30, nil, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, ok := compress.Plan(l.turns, tt.keep, tt.pinned, count)
			if ok != (tt.to > 0) {
				t.Fatalf("%v, %+v", ok, s.Range)
			}
			if !ok {
				return
			}
			if s.Range != (turn.Range{From: 1, To: tt.to}) || int64(len(s.Turns)) != tt.to {
				t.Errorf("%+v, %d turns", s.Range, len(s.Turns))
			}
			if diff := cmp.Diff(tt.beside, s.Beside); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, ok := compress.Plan(nil, 0, nil, count); ok {
		t.Error("nothing can be summarised")
	}
}

func TestPlansKeepTheirPromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := randomTurns(t)
		keep := rapid.IntRange(0, 200).Draw(t, "keep")
		s, ok := compress.Plan(turns, keep, nil, count)
		if !ok {
			return
		}
		rest := compress.Source{Turns: turns[len(s.Turns):]}
		if rest.Tokens(count) < keep {
			t.Fatalf("%d tokens are left, want %d", rest.Tokens(count), keep)
		}
		inside := map[int64]bool{}
		for _, x := range s.Turns {
			inside[x.Unit] = true
			if stays := len((&compress.Source{Turns: []turn.Turn{x}, Beside: s.Beside}).Lines()) == 0; x.Role == turn.User && !stays {
				t.Fatalf("what the user said in %d does not stay", x.Seq)
			}
		}
		for _, x := range rest.Turns {
			if x.Unit != 0 && inside[x.Unit] {
				t.Fatalf("unit %d is split", x.Unit)
			}
		}
	})
}

func TestWhatAToolReturnedIsReadAsText(t *testing.T) {
	l := &log{}
	l.tool("cat", `{"path":"a.go"}`, turn.CallOK, `"1: func a()\n2: func \"b\"()"`)
	l.tool("cat", `{"path":"b.go"}`, turn.CallOK, `{"lines":2}`)
	var got []string
	s := l.source()
	for _, line := range s.Lines() {
		if line.Kind == extract.Result {
			got = append(got, line.Text)
		}
	}
	if diff := cmp.Diff([]string{"1: func a()\n2: func \"b\"()", `{"lines":2}`}, got); diff != "" {
		t.Error(diff)
	}
}
