package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/simulate"
	"github.com/turnstone-dev/turnstone/replay/history"
)

// talk is a conversation of n exchanges with a call of a tool in every fourth, and a literal in each.
func talk(t *testing.T, n int) simulate.Conversation {
	t.Helper()
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`{"role":"system","content":"You keep the ledger."}`)
	for i := range n {
		line(`{"role":"user","content":"Please book invoice INV-%04d for the %s."}`, i, strings.Repeat("long table in the hall and ", 6))
		if i%4 == 0 {
			line(`{"role":"assistant","content":"I look.","tool_calls":[{"id":"c%d","type":"function","function":{"name":"find","arguments":"{\"id\":%d}"}}]}`, i, i)
			line(`{"role":"tool","tool_call_id":"c%d","content":"{\"total\":%d}"}`, i, 7000+i)
		}
		line(`{"role":"assistant","content":"Booked under page/%d.txt, %s."}`, i, strings.Repeat("as the others were before it ", 6))
	}
	c, err := simulate.Read(t.Context(), "ledger", []byte(b.String()), "", history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func options() simulate.Options {
	return simulate.Options{Model: "gpt-4", Window: 4096, Count: bpe.Cl100k().Count}
}

func run(t *testing.T, c simulate.Conversation, o simulate.Options) (*simulate.Report, []string) {
	t.Helper()
	var prompts []string
	o.Prompt = func(call int, text string) error {
		prompts = append(prompts, text)
		if call != len(prompts) {
			t.Errorf("call %d is told as %d", len(prompts), call)
		}
		return nil
	}
	r, err := simulate.Run(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, prompts
}

// While everything fits, ours is the full history, byte for byte.
func TestRunShort(t *testing.T) {
	r, prompts := run(t, talk(t, 12), options())
	// Twelve answers, three calls of a tool, and the end.
	if r.Ours.Calls != 12+3+1 || r.Passes != 0 || r.Refused != 0 || r.Turns != 1+12*2+3*2 {
		t.Errorf("calls %d, passes %d, refused %d, turns %d", r.Ours.Calls, r.Passes, r.Refused, r.Turns)
	}
	for i, u := range r.Baselines {
		if diff := cmp.Diff(r.Ours, u); diff != "" {
			t.Errorf("%s (-ours +theirs)\n%s", simulate.Baselines()[i], diff)
		}
	}
	for i, p := range prompts[1:] {
		if !strings.HasPrefix(p, prompts[i]) || p == prompts[i] {
			t.Errorf("prompt %d does not go on from the one before:\n%s", i+2, p)
		}
	}
	last := prompts[len(prompts)-1]
	for _, want := range []string{"You keep the ledger.", "INV-0000", `find {"id":8}`, `{"total":7008}`, "page/11.txt"} {
		if !strings.Contains(last, want) {
			t.Errorf("the last prompt lacks %s", want)
		}
	}
	if count := bpe.Cl100k().Count(last); r.Tokens < count-20 || r.Tokens > count+20 {
		t.Errorf("%d tokens, want about %d", r.Tokens, count)
	}
	want := simulate.Kept{Verbatim: 12}
	if r.Survived.Said != want || r.Survived.Literals.Verbatim != r.Survived.Literals.All() || r.Survived.Literals.All() < 24 {
		t.Errorf("survived %+v", r.Survived)
	}
}

func TestRunLong(t *testing.T) {
	r, prompts := run(t, talk(t, 120), options())
	room := r.Window.Usable - r.Window.Reserve
	passes := int64(0)
	for i, c := range r.Calls {
		if c.Pass {
			passes++
		}
		if c.Tokens > room || len(c.Baselines) != len(simulate.Baselines()) {
			t.Errorf("call %d: %+v", i+1, c)
		}
	}
	if r.Passes < 3 || passes != r.Passes || len(r.Calls) != len(prompts) {
		t.Errorf("%d passes, %d marked, %d calls, %d prompts", r.Passes, passes, len(r.Calls), len(prompts))
	}
	for i, u := range r.Baselines {
		if u.Calls != r.Ours.Calls || i > 0 && u.Largest > room {
			t.Errorf("%s: %+v", simulate.Baselines()[i], u)
		}
	}
	full := r.Baselines[0]
	if full.Largest != r.Tokens || full.Breaks != 0 || r.Ours.Billed() >= full.Billed() || r.Ours.Reuse() < 0.7 {
		t.Errorf("full history %+v, ours %+v", full, r.Ours)
	}
	if !strings.Contains(prompts[len(prompts)-1], "You keep the ledger.") {
		t.Error("what the system opened with has left the prompt")
	}
	if s := r.Survived; s.Said.All() != 120 || s.Said.Verbatim == 0 || s.Said.Handle == 0 || s.Said.Lost != 0 || s.Literals.All() < 240 {
		t.Errorf("survived %+v", s)
	}
	if r.Checkpoints == 0 || r.Summarised == 0 || r.Summarised > room {
		t.Errorf("%d checkpoints of %d tokens", r.Checkpoints, r.Summarised)
	}
}

// What a summary says of the time is the time of the conversation, also where a turn does not say its own.
func TestRunKeepsTheTime(t *testing.T) {
	c := talk(t, 60)
	for i := range c.Entries {
		if i%3 == 0 {
			c.Entries[i].At = time.Date(2023, time.May, 8+i/30, 12, 0, 0, 0, time.UTC)
		}
	}
	_, prompts := run(t, c, options())
	last := prompts[len(prompts)-1]
	if !strings.Contains(last, "[2023-05-0") || strings.Contains(last, time.Now().Format("[2006-")) {
		t.Errorf("the last prompt is\n%s", last)
	}
}

func TestRunLate(t *testing.T) {
	o := options()
	plain, _ := run(t, talk(t, 60), o)
	o.Late = true
	late, prompts := run(t, talk(t, 60), o)
	last, before := prompts[len(prompts)-1], prompts[len(prompts)-2]
	at := strings.LastIndex(last, "[note]\n")
	if at < 0 || !strings.Contains(last[at:], "Recalled: ") || strings.Contains(before, last[at:]) {
		t.Fatalf("the last prompt ends with %q", last[max(at, 0):])
	}
	block := bpe.Cl100k().Count(last[at:])
	if most := late.Window.Usable * 3 / 100; block > most+10 || block < most/2 {
		t.Errorf("the late block takes %d tokens of %d", block, most)
	}
	if late.Ours.Billed() <= plain.Ours.Billed() || late.Ours.Reuse() >= plain.Ours.Reuse() {
		t.Errorf("with the late block %+v, without %+v", late.Ours, plain.Ours)
	}
	if diff := cmp.Diff(plain.Baselines, late.Baselines); diff != "" {
		t.Errorf("the late block changes what others take:\n%s", diff)
	}
}

// What can never fit is told, and the rest goes on.
func TestRunRefused(t *testing.T) {
	c, err := simulate.Read(t.Context(), "", []byte(
		`{"role":"user","content":"`+strings.Repeat("too long ", 4000)+`"}
{"role":"assistant","content":"What?"}`), "", history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, prompts := run(t, c, options())
	if r.Refused == 0 || r.Refused+len(prompts) != 2 {
		t.Errorf("%d refused, %d made", r.Refused, len(prompts))
	}
}

func TestRunEnds(t *testing.T) {
	failed := errors.New("disk full")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name string
		ctx  context.Context
		set  func(*simulate.Options)
		want error
	}{
		{"window", t.Context(), func(o *simulate.Options) { o.Window = 10 }, nil},
		{"engine", t.Context(), func(o *simulate.Options) { o.Config = turnstone.Config{Windows: -1} }, nil},
		{"prompt", t.Context(), func(o *simulate.Options) { o.Prompt = func(int, string) error { return failed } }, failed},
		{"cancelled", cancelled, func(*simulate.Options) {}, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := options()
			test.set(&o)
			r, err := simulate.Run(test.ctx, talk(t, 2), o)
			if err == nil || r != nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("%v, %v, want %v", r, err, test.want)
			}
		})
	}
}

func TestRunTellsProgress(t *testing.T) {
	o := options()
	var told []int64
	o.Progress = func(n int64) { told = append(told, n) }
	c := talk(t, 2)
	run(t, c, o)
	if len(told) != len(c.Entries) || told[len(told)-1] != int64(len(c.Entries)) || told[0] != 1 {
		t.Errorf("told %v", told)
	}
}

// The parts of one message come from one call of the model, and the agent may begin.
func TestRunCalls(t *testing.T) {
	for _, test := range []struct {
		name, input string
		calls       int
	}{
		{"parts", `{"role":"user","content":"hi"}` + "\n" + `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, 2},
		{"two answers", `{"role":"user","content":"hi"}` + "\n" + `{"role":"assistant","content":"a"}` + "\n" + `{"role":"assistant","content":"b"}`, 3},
		{"the agent begins", `{"role":"assistant","content":"a"}` + "\n" + `{"role":"user","content":"hi"}`, 1},
		{"nobody answers", `{"role":"user","content":"hi"}` + "\n" + `{"role":"user","content":"hello?"}`, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := simulate.Read(t.Context(), "", []byte(test.input), "", history.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r, _ := run(t, c, options()); r.Ours.Calls != test.calls {
				t.Errorf("%d calls, want %d", r.Ours.Calls, test.calls)
			}
		})
	}
}

func TestRunHoldsTheWindow(t *testing.T) {
	o := options()
	o.Window = 8192
	r, _ := run(t, talk(t, 3), o)
	want, err := budget.WindowOf(8192)
	if err != nil || r.Window != want {
		t.Errorf("window %+v, want %+v, %v", r.Window, want, err)
	}
}
