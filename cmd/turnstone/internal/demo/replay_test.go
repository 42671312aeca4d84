package demo_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/demo"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func words(text string) int { return len(strings.Fields(text)) }

func session(t *testing.T) (*turnstone.Engine, *turnstone.Session) {
	t.Helper()
	eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := eng.Create(t.Context(), turn.SessionInfo{Model: "gpt-4"})
	if err != nil {
		t.Fatal(err)
	}
	return eng, s
}

func TestReplayOfWhatIsShipped(t *testing.T) {
	c, err := demo.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	eng, s := session(t)
	var told int64
	r, err := demo.Replay(t.Context(), s, c, demo.Options{Window: 8192, Count: words, Progress: func(n int64) {
		if n != told+1 {
			t.Errorf("after %d exchanges there were %d", told, n)
		}
		told = n
	}})
	if err != nil {
		t.Fatal(err)
	}
	turns, calls := 0, 0
	for _, ex := range c.Exchanges {
		turns += len(ex.Turns)
		for _, d := range ex.Turns {
			if text, ok := d.Content.(turn.Text); ok {
				calls += len(text.ToolCalls)
			}
		}
	}
	if r.Exchanges != len(c.Exchanges) || r.Turns != turns || r.Calls != calls || told != int64(len(c.Exchanges)) {
		t.Errorf("replayed %d exchanges, %d turns, %d calls, told of %d", r.Exchanges, r.Turns, r.Calls, told)
	}
	if want := len(c.Exchanges) + calls + 1; r.Prompts.Calls != want {
		t.Errorf("%d prompts, want one before everything that the agent says and one at the end: %d", r.Prompts.Calls, want)
	}
	if r.Passes < 3 || r.Checkpoints == 0 || r.Held == 0 || r.Facts < r.Held || r.Last == 0 || r.Last > r.Window.Usable {
		t.Errorf("%d passes, %d checkpoints, %d of %d facts, %d tokens in the last prompt", r.Passes, r.Checkpoints, r.Held, r.Facts, r.Last)
	}
	if r.Prompts.Reuse() < 0.8 || r.Said == 0 || r.Remembered < 50 || r.Goals < 5 || r.Done < 5 {
		t.Errorf("reuse %g, %d words, %d items, %d of %d goals", r.Prompts.Reuse(), r.Said, r.Remembered, r.Done, r.Goals)
	}
	if trace, err := eng.Trace(t.Context(), r.Trace); err != nil || trace.Session != s.ID() {
		t.Errorf("the last exchange's trace is of %q, %v", trace.Session, err)
	}
	holdFindings(t, s, r)
}

// holdFindings holds what was found against the session itself.
func holdFindings(t *testing.T, s *turnstone.Session, r *demo.Report) {
	t.Helper()
	status, err := s.Status(t.Context(), turnstone.PromptOptions{Context: 8192})
	if err != nil {
		t.Fatal(err)
	}
	shown := func(text string) bool {
		for _, m := range status.Prompt.Messages {
			for _, p := range m.Parts {
				if strings.Contains(p.Text, text) {
					return true
				}
			}
		}
		return false
	}
	places := map[demo.Place]int{}
	for _, f := range r.Found {
		places[f.Place]++
		page, err := s.Query(t.Context(), turn.Query{Match: f.Text, From: f.Turn, To: f.Turn})
		if err != nil || len(page.Turns) != 1 {
			t.Errorf("turn %d does not hold %q: %v", f.Turn, f.Text, err)
		}
		if in := f.Place == demo.Verbatim || f.Place == demo.Kept; in != shown(f.Text) {
			t.Errorf("%q is found as %s", f.Text, f.Place)
		}
	}
	if first := r.Found[0]; first.Place != demo.Verbatim || !first.Pinned || first.Turn > 5 {
		t.Errorf("the rules of the first evening: %+v", first)
	}
	if places[demo.Verbatim] < 2 || places[demo.Recalled] < 1 || places[demo.Logged] > 0 {
		t.Errorf("found at %v", places)
	}
}

func TestReplayEndsWithItsContext(t *testing.T) {
	c, err := demo.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	_, s := session(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = demo.Replay(ctx, s, c, demo.Options{Window: 8192, Count: words, Progress: func(n int64) {
		if n == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "exchange 4: ") {
		t.Errorf("got %v", err)
	}
}

const head = `{"session":"s","system":"Be kind.","tools":[{"name":"look","description":"Look","schema":{"type":"object"}}],"pins":[1],"probes":[{"exchange":1,"text":"blue","ask":"which colour"}]}` + "\n"

const exchange = `{"turns":[{"role":"user","text":"blue"},{"role":"agent","text":"Yes."}]}` + "\n"

func TestParse(t *testing.T) {
	c, err := demo.Parse(head + exchange + exchange)
	if err != nil || c.Session != "s" || c.Settings.System != "Be kind." || len(c.Settings.Tools) != 1 || len(c.Exchanges) != 2 || c.Pins[0] != 1 || c.Probes[0].Ask != "which colour" {
		t.Errorf("got %+v, %v", c, err)
	}
	for name, test := range map[string]struct{ text, want string }{
		"nothing":        {"", "it has no exchange"},
		"no exchange":    {head, "it has no exchange"},
		"unknown field":  {`{"sesion":"s"}` + "\n" + exchange, "line 1: "},
		"no session":     {"{}\n" + exchange, "session: it has no name"},
		"bad tool":       {`{"session":"s","tools":[{"name":"","schema":{}}]}` + "\n" + exchange, "line 1: "},
		"bad exchange":   {head + `{"turn":[]}` + "\n", "line 2: "},
		"no reply":       {head + exchange + `{"turns":[{"role":"user","text":"a"}]}` + "\n", "line 3: turns: they are no exchange"},
		"no input":       {head + `{"turns":[{"role":"agent","text":"a"},{"role":"agent","text":"b"}]}` + "\n", "line 2: turns: they are no exchange"},
		"pin too far":    {`{"session":"s","pins":[2]}` + "\n" + exchange, "there is no exchange 2"},
		"probe too soon": {`{"session":"s","probes":[{"exchange":0,"text":"a"}]}` + "\n" + exchange, "there is no exchange 0"},
	} {
		if _, err := demo.Parse(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

func TestReplayFindsOutWhatIsWrong(t *testing.T) {
	var bad *invalid.Field
	for name, test := range map[string]struct {
		text string
		is   func(error) bool
	}{
		"never said": {strings.Replace(head, "blue", "red", 1) + exchange, func(err error) bool { return errors.Is(err, demo.ErrNotSaid) }},
		"bad goal": {head + strings.Replace(exchange, `]}`, `],"intentions":{"goals":[{"id":"none","status":"completed"}]}}`, 1),
			func(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "exchange 1: goal") }},
	} {
		c, err := demo.Parse(test.text)
		if err != nil {
			t.Fatal(err)
		}
		_, s := session(t)
		if _, err := demo.Replay(t.Context(), s, c, demo.Options{Window: 8192, Count: words}); !test.is(err) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	c, err := demo.Parse(head + exchange)
	if err != nil {
		t.Fatal(err)
	}
	_, s := session(t)
	if _, err := demo.Replay(t.Context(), s, c, demo.Options{Window: 1, Count: words}); !errors.As(err, &bad) {
		t.Errorf("a window of 1: %v", err)
	}
}

// TestWhatIsShippedIsWorthTheLook holds the conversation to what it is there to show.
func TestWhatIsShippedIsWorthTheLook(t *testing.T) {
	c, err := demo.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	calls, failed := 0, 0
	markers := map[string]int{"[GOAL] ": 0, "[CHECKPOINT] ": 0, "[DECISION] ": 0, "[ARTIFACT] ": 0, "[NEXT] ": 0}
	candidates, actions, notes := 0, 0, 0
	for _, ex := range c.Exchanges {
		candidates, actions, notes = candidates+len(ex.Candidates), actions+len(ex.Intentions.Actions), notes+len(ex.Scratch.Put)
		for _, d := range ex.Turns {
			switch content := d.Content.(type) {
			case turn.Text:
				calls += len(content.ToolCalls)
				for m := range markers {
					markers[m] += strings.Count(content.Text, m)
				}
			case turn.Result:
				if content.Status == turn.CallError {
					failed++
				}
			}
		}
	}
	if len(c.Exchanges) < 120 || calls < 100 || failed < 15 || candidates < 10 || actions < 3 || notes < 3 || len(c.Settings.Tools) != 5 {
		t.Errorf("%d exchanges, %d calls, %d of them failed, %d candidates, %d actions, %d notes", len(c.Exchanges), calls, failed, candidates, actions, notes)
	}
	for m, n := range markers {
		if n < 8 {
			t.Errorf("%d of %s", n, m)
		}
	}
}
