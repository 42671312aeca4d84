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

// TestWhatStaysBeside finds what the user said, pins, and calls that wait for a result.
func TestWhatStaysBeside(t *testing.T) {
	l := story().tool("look", `{}`, "", "").agent("done")
	for _, tt := range []struct {
		name   string
		to     int
		pinned []turn.Range
		beside []turn.Range
	}{
		{"everything", 11, nil, []turn.Range{{From: 1, To: 1}, {From: 8, To: 8}, {From: 10, To: 10}}},
		{"the beginning", 6, nil, []turn.Range{{From: 1, To: 1}}},
		{"pins", 6, []turn.Range{{From: 2, To: 2}, {From: 20, To: 30}}, []turn.Range{{From: 1, To: 2}}},
		{"nothing", 0, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := turn.Range{From: 1, To: int64(tt.to)}
			s := compress.NewSource(r, l.turns[:tt.to], tt.pinned)
			if diff := cmp.Diff(tt.beside, s.Beside); diff != "" || s.Range != r || len(s.Turns) != tt.to {
				t.Errorf("%+v, %d turns: %s", s.Range, len(s.Turns), diff)
			}
		})
	}
}

func TestWhatTheUserSaidStaysBeside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := compress.NewSource(turn.Range{}, randomTurns(t), nil)
		for _, x := range s.Turns {
			if stays := len((&compress.Source{Turns: []turn.Turn{x}, Beside: s.Beside}).Lines()) == 0; x.Role == turn.User && !stays {
				t.Fatalf("what the user said in %d does not stay", x.Seq)
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
