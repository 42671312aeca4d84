package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestBrokenArgumentsAreKeptInPart(t *testing.T) {
	log := &ledger{}
	broken := "{" + strings.Repeat("\x01", 100<<10)
	w := agent.NewWorker("1", "one", llmtest.Replies(calls(call("a", "greet", broken)), says("sorry")))
	if _, err := w.Ask(t.Context(), newLoop(t, agent.Config{Tools: []agent.Tool{tool(t, "greet", greet)}}), log, "go"); err != nil {
		t.Fatal(err)
	}
	log.check(t)
	kept := log.turns[1].Content.(turn.Text).ToolCalls[0].Arguments
	if want := `"{` + strings.Repeat(`\u0001`, (64<<10-len(`"{ […]"`))/6) + ` […]"`; kept != want {
		t.Errorf("%d bytes, want %d", len(kept), len(want))
	}
}

// Written as strings, broken arguments may have six times their bytes: an answer that is within its limit stays there.
func TestBrokenArgumentsDoNotMakeAnAnswerTooLong(t *testing.T) {
	const most = 10_000
	var broken []llm.Call
	for i := range 100 {
		broken = append(broken, call(fmt.Sprint(i), "greet", strings.Repeat("\x01", 90)))
	}
	log := &ledger{}
	w := agent.NewWorker("1", "one", llmtest.Replies(calls(broken...), says("sorry")))
	l := newLoop(t, agent.Config{Tools: []agent.Tool{tool(t, "greet", greet)}, MaxAnswer: most})
	if _, err := w.Ask(t.Context(), l, log, "go"); err != nil {
		t.Fatal(err)
	}
	log.check(t)
	size := 0
	for _, c := range log.turns[1].Content.(turn.Text).ToolCalls {
		size += len(c.Arguments)
	}
	if size > most || size < most*9/10 {
		t.Errorf("%d bytes of arguments, at most %d", size, most)
	}
}

// A log that takes no more than a tool may return takes what is said of a tool that failed, too.
func TestReasonsAreNoLongerThanResults(t *testing.T) {
	log := &ledger{}
	w := agent.NewWorker("1", "one", llmtest.Replies(calls(call("a", "work", `{"name":"x"}`)), says("sorry")))
	l := newLoop(t, agent.Config{MaxResult: 2000, Tools: []agent.Tool{tool(t, "work", func(context.Context, nameArgs) (string, error) {
		return "", errors.New(strings.Repeat("\n", 5000))
	})}})
	if _, err := w.Ask(t.Context(), l, log, "go"); err != nil {
		t.Fatal(err)
	}
	if got, want := log.turns[2].Content.(turn.Result).Result, `"`+strings.Repeat(`\n`, (2000-len(`" […]"`))/2)+` […]"`; got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

func TestUsageMayComeBeforeTheEnd(t *testing.T) {
	given := []llm.Call{call("\xff", "greet", `{"name":"x"}`)}
	rounds := 0
	model := stream(func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		if rounds++; rounds > 1 {
			yield(llm.Chunk{Text: "done", Stop: llm.StopEnd}, nil)
			return
		}
		if yield(llm.Chunk{Calls: given, Usage: llm.Usage{Prompt: 3, Answer: 2}}, nil) {
			yield(llm.Chunk{Stop: llm.StopCalls}, nil)
		}
	})
	w := agent.NewWorker("1", "one", model)
	log := &ledger{}
	reply, err := w.Ask(t.Context(), newLoop(t, agent.Config{Tools: []agent.Tool{tool(t, "greet", greet)}}), log, "go")
	if err != nil || reply.Usage != (llm.Usage{Prompt: 3, Answer: 2}) {
		t.Error(reply, err)
	}
	if given[0].ID != "\xff" {
		t.Error("what the model yields was changed")
	}
	if e := w.Container.Entries()[1]; e.Meta.Tokens != 2 {
		t.Error(e.Meta)
	}
}

// BenchmarkExchange is what the loop adds to a model that answers at once in a session that costs nothing.
func BenchmarkExchange(b *testing.B) {
	loop, err := agent.NewLoop(agent.Config{})
	if err != nil {
		b.Fatal(err)
	}
	model := stream(func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		for range 100 {
			if !yield(llm.Chunk{Text: "word "}, nil) {
				return
			}
		}
		yield(llm.Chunk{Stop: llm.StopEnd}, nil)
	})
	w := agent.NewWorker("1", "one", model)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Ask(b.Context(), loop, free{}, "go"); err != nil {
			b.Fatal(err)
		}
		if err := w.Container.Trim(10, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// free is a session that keeps nothing.
type free struct{}

func (free) Begin(context.Context, ...turn.Draft) error { return nil }
func (free) Compile(context.Context, agent.Offer) (llm.Request, error) {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "go"}}}, nil
}
func (free) Receive(context.Context, llm.Chunk) error          { return nil }
func (free) Answer(context.Context, llm.Answer) error          { return nil }
func (free) Results(context.Context, []agent.ToolResult) error { return nil }
func (free) End(context.Context, agent.Ending) error           { return nil }

// A model that thought and said nothing is paid for all the same.
func TestUsageOfAnAnswerThatIsNone(t *testing.T) {
	usage := llm.Usage{Prompt: 7, Answer: 9}
	model := llmtest.Replies(llmtest.Reply{Thinking: "hm", Usage: usage})
	log := &ledger{}
	reply, err := agent.NewWorker("1", "one", model).Ask(t.Context(), newLoop(t, agent.Config{}), log, "go")
	if !errors.Is(err, agent.ErrNoAnswer) || reply.Usage != usage || log.last().Usage != usage {
		t.Errorf("%+v, %+v, %v", reply.Usage, log.last().Usage, err)
	}
}

// One that had no room for an answer needs more of it, not another model.
func TestWhatToDoAboutNoAnswer(t *testing.T) {
	for stop, want := range map[llm.Stop]string{llm.StopLength: "allow it more tokens", llm.StopEnd: "another model"} {
		model := llmtest.Replies(llmtest.Reply{Thinking: "hm", Stop: stop})
		_, err := agent.NewWorker("1", "one", model).Ask(t.Context(), newLoop(t, agent.Config{}), &ledger{}, "go")
		if !errors.Is(err, agent.ErrNoAnswer) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", stop, err)
		}
	}
}
