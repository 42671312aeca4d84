package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/turn"
)

type nameArgs struct {
	Name string `json:"name" doc:"whom to greet"`
}

func greet(_ context.Context, a nameArgs) (string, error) { return "hello " + a.Name, nil }

// tool makes a tool that takes a name.
func tool(t testing.TB, name string, run func(context.Context, nameArgs) (string, error)) agent.Tool {
	t.Helper()
	made, err := agent.NewTool(name, "for tests", run)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func newLoop(t testing.TB, c agent.Config) *agent.Loop {
	t.Helper()
	l, err := agent.NewLoop(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func call(id, name, arguments string) llm.Call {
	return llm.Call{ID: id, Name: name, Arguments: arguments}
}

func calls(c ...llm.Call) llmtest.Reply { return llmtest.Reply{Calls: c} }

func says(text string) llmtest.Reply { return llmtest.Reply{Text: text} }

// stream is a model that is one function.
type stream func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool)

func (s stream) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) { s(ctx, r, yield) }
}

func TestAnExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &ledger{maxTokens: 500}
		model := llmtest.Replies(
			llmtest.Reply{Thinking: "hm", Text: "wait ", Calls: []llm.Call{call("a", "greet", `{"name":"Ann"}`)}, Usage: llm.Usage{Prompt: 5, Cached: 1, Answer: 3, PromptTime: time.Second}},
			llmtest.Reply{Text: "She says hello.", Usage: llm.Usage{Prompt: 7, Cached: 2, Answer: 4, PromptTime: time.Second}},
		)
		w := agent.NewWorker("1", "one", model)
		var events []string
		l := newLoop(t, agent.Config{Tools: []agent.Tool{tool(t, "greet", greet)}, MaxTokens: 200})
		job, err := l.Start(t.Context(), w, log, agent.RunOptions{
			Input:   []turn.Draft{agent.Input("greet Ann")},
			Observe: func(_ context.Context, e agent.Event) { events = append(events, fmt.Sprintf("%T%+v", e, e)) },
		})
		if err != nil {
			t.Fatal(err)
		}
		result, err := job.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		log.check(t)
		usage := llm.Usage{Prompt: 12, Cached: 3, Answer: 7, PromptTime: 2 * time.Second}
		want := agent.Result{Outcome: agent.Normal, Reply: agent.Reply{Text: "She says hello.", Stop: llm.StopEnd, Rounds: 2, Calls: 1, Usage: usage}}
		if diff := cmp.Diff(want, result); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(agent.Ending{State: commit.Complete, Rounds: 2, Calls: 1, Usage: usage}, log.last()); diff != "" {
			t.Error(diff)
		}
		wantLog := `user "greet Ann"
agent "wait " a:greet({"name":"Ann"})
result a greet ok "hello Ann"
agent "She says hello."
`
		if diff := cmp.Diff(wantLog, log.transcript()); diff != "" {
			t.Error(diff)
		}
		if got := kinds(w.Container); got != "Prompt ToolUse ToolResults Response" {
			t.Error(got)
		}
		if w.State() != agent.Inactive || w.LastFailure() != nil || w.Job() != nil || w.LastReply() != "She says hello." {
			t.Error(w.State(), w.LastFailure(), w.Job(), w.LastReply())
		}
		for _, r := range model.Asked() {
			if r.MaxTokens != 200 || len(r.Tools) != 1 {
				t.Errorf("%+v", r)
			}
		}
		wantEvents := []string{
			"agent.StateChanged{State:working}", "agent.StateChanged{State:requesting}", "agent.StateChanged{State:receiving}",
			"agent.ThinkingPiece{Text:hm}", "agent.TextPiece{Text:wait }", "agent.Answered", "agent.StateChanged{State:waiting}",
			"agent.StateChanged{State:using_tool}", "agent.ToolStarted", "agent.ToolFinished", "agent.StateChanged{State:working}",
			"agent.StateChanged{State:requesting}", "agent.StateChanged{State:receiving}",
			"agent.TextPiece{Text:She }", "agent.TextPiece{Text:says }", "agent.TextPiece{Text:hello.}", "agent.Answered",
		}
		if len(events) != len(wantEvents) {
			t.Fatalf("%q", events)
		}
		for i, e := range events {
			if !strings.HasPrefix(e, wantEvents[i]) {
				t.Errorf("event %d is %s, want %s", i, e, wantEvents[i])
			}
		}
	})
}

func TestTheTimeOfAnAnswerIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := agent.NewWorker("1", "one", stream(func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
			<-time.After(time.Second)
			yield(llm.Chunk{Text: "done", Stop: llm.StopEnd}, nil)
		}))
		if _, err := w.Ask(t.Context(), newLoop(t, agent.Config{}), &ledger{}, "go"); err != nil {
			t.Fatal(err)
		}
		if took := w.Container.Entries()[1].Meta.Latency; took != time.Second {
			t.Error(took)
		}
	})
}

// kinds names the entries of a container, with a mark on those that are unanswered or interrupted.
func kinds(c *agent.Container) string {
	var names []string
	for _, e := range c.All() {
		name := strings.TrimPrefix(fmt.Sprintf("%T", e.Message), "agent.")
		if e.Unanswered {
			name += "?"
		}
		if e.Meta.Interrupted {
			name += "!"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// survival is something that goes wrong, and what is left of it.
type survival struct {
	name   string
	model  llm.Model
	config agent.Config
	before func(*ledger)

	outcome agent.Outcome
	state   commit.State // of the exchange
	err     func(error) bool
	log     string // after the user's "go"
	entries string
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func limit(name string) func(error) bool {
	return func(err error) bool {
		var e *agent.LimitError
		return errors.As(err, &e) && e.Limit == name && e.Most > 0
	}
}

func panics(err error) bool {
	var e *agent.PanicError
	return errors.As(err, &e) && len(e.Stack) > 0
}

// survive plays it, and then an exchange that must work.
func survive(t *testing.T, s survival) {
	synctest.Test(t, func(t *testing.T) {
		log := &ledger{}
		if s.before != nil {
			s.before(log)
		}
		w := agent.NewWorker("1", "one", s.model)
		l := newLoop(t, s.config)
		job, err := l.Start(t.Context(), w, log, agent.RunOptions{Input: []turn.Draft{agent.Input("go")}})
		if err != nil {
			t.Fatal(err)
		}
		result, err := job.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if result.Outcome != s.outcome || (s.err == nil) != (result.Err == nil) || s.err != nil && !s.err(result.Err) {
			t.Errorf("%s: %v", result.Outcome, result.Err)
		}
		if failed := s.outcome == agent.Failed; failed != (w.State() == agent.InactiveFailed) || failed != (w.LastFailure() != nil) || w.State().Active() {
			t.Error(w.State(), w.LastFailure())
		}
		if got := log.last().State; got != s.state {
			t.Errorf("the exchange ended as %q", got)
		}
		if diff := cmp.Diff("user \"go\"\n"+s.log, log.transcript()); diff != "" {
			t.Error(diff)
		}
		if got := kinds(w.Container); got != s.entries {
			t.Error(got)
		}
		log.check(t)

		log.at = nil
		w.Model = llmtest.NewScript("fine")
		if reply, err := w.Ask(t.Context(), l, log, "and now?"); err != nil || reply.Text != "fine" {
			t.Errorf("the next exchange: %q, %v", reply.Text, err)
		}
		log.check(t)
		if err := l.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
