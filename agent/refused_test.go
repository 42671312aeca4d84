package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

var errDisk = errors.New("the disk is full")

// TestAConversationThatRefuses fails the nth call of each method, by an error and by a panic, in an exchange with a
// tool.
func TestAConversationThatRefuses(t *testing.T) {
	for _, test := range []struct {
		method  string
		nth     int
		state   commit.State
		entries string
	}{
		{"Begin", 1, "", ""},
		{"Compile", 1, commit.Failed, "Prompt?"},
		{"Receive", 1, commit.Interrupted, "Prompt Response!"},
		{"Answer", 1, commit.Failed, "Prompt?"},
		{"Results", 1, commit.Failed, "Prompt ToolUse CancelledTools?"},
		{"Compile", 2, commit.Failed, "Prompt ToolUse ToolResults?"},
		{"Answer", 2, commit.Failed, "Prompt ToolUse ToolResults?"},
		{"End", 1, "", "Prompt ToolUse ToolResults Response"},
	} {
		for _, how := range []string{"error", "panic"} {
			t.Run(fmt.Sprintf("%s %d by %s", test.method, test.nth, how), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					met := 0
					log := &ledger{at: func(_ context.Context, method string) error {
						if method != test.method {
							return nil
						}
						if met++; met != test.nth {
							return nil
						}
						if how == "panic" {
							panic(errDisk)
						}
						return errDisk
					}}
					model := llmtest.Replies(llmtest.Reply{Text: "so", Calls: []llm.Call{call("a", "greet", `{"name":"x"}`)}}, says("done"))
					w := agent.NewWorker("1", "one", model)
					l := newLoop(t, agent.Config{Tools: []agent.Tool{tool(t, "greet", greet)}})
					_, err := w.Ask(t.Context(), l, log, "go")
					if !errors.Is(err, errDisk) || (how == "panic") != panics(err) {
						t.Errorf("%v", err)
					}
					if w.State() != agent.InactiveFailed || w.LastFailure() == nil || w.Job() != nil {
						t.Error(w.State(), w.LastFailure())
					}
					state, entries := test.state, test.entries
					if test.method == "Answer" && test.nth == 1 && how == "error" {
						state, entries = commit.Interrupted, "Prompt Response!" // its text alone
					}
					if got := log.last().State; got != state {
						t.Errorf("the exchange ended as %q", got)
					}
					if got := kinds(w.Container); got != entries {
						t.Error(got)
					}
					w.Model = llmtest.NewScript("fine")
					if test.method == "End" {
						log.begun = false
					}
					if reply, err := w.Ask(t.Context(), l, log, "and now?"); err != nil || reply.Text != "fine" {
						t.Errorf("the next exchange: %q, %v", reply.Text, err)
					}
					log.check(t)
				})
			})
		}
	}
}

// TestTheTextOfARefusedAnswerIsKept has the log refuse an answer with calls, whole or cut off.
func TestTheTextOfARefusedAnswerIsKept(t *testing.T) {
	const unended llm.Stop = "unended"
	refusal := errors.New("4 MiB at most")
	for _, test := range []struct {
		name    string
		reply   llmtest.Reply
		refuse  func(llm.Answer) error
		log     string
		entries string
		state   commit.State
	}{
		{
			"whole", llmtest.Reply{Thinking: "hm", Text: "I said this.", Calls: []llm.Call{call("a", "greet", `{"name":"x"}`)}},
			func(a llm.Answer) error { return only(len(a.Calls) > 0, refusal) },
			"agent \"I said this.\" interrupted\n", "Prompt Response!", commit.Interrupted,
		},
		{
			"cut off", llmtest.Reply{Text: "I said this.", Calls: []llm.Call{call("a", "greet", `{"name":"x"}`)}, Stop: unended},
			func(a llm.Answer) error { return only(len(a.Calls) > 0, refusal) },
			"agent \"I said this.\" interrupted\n", "Prompt Response!", commit.Interrupted,
		},
		{
			"without a text", llmtest.Reply{Text: " ", Calls: []llm.Call{call("a", "greet", `{"name":"x"}`)}},
			func(a llm.Answer) error { return only(len(a.Calls) > 0, refusal) }, "", "Prompt?", commit.Failed,
		},
		{
			"text too", llmtest.Reply{Text: "I said this.", Calls: []llm.Call{call("a", "greet", `{"name":"x"}`)}},
			func(llm.Answer) error { return refusal }, "", "Prompt?", commit.Failed,
		},
		{
			"perhaps", llmtest.Reply{Text: "I said this.", Calls: []llm.Call{call("a", "greet", `{"name":"x"}`)}},
			func(a llm.Answer) error { return only(len(a.Calls) > 0, errors.Join(refusal, store.ErrUnknown)) }, "", "Prompt?", commit.Failed,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			log := &refusing{refuse: test.refuse}
			w := agent.NewWorker("1", "one", llmtest.Replies(test.reply))
			if test.reply.Stop == unended {
				w.Model = stream(func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
					yield(llm.Chunk{Text: test.reply.Text, Calls: test.reply.Calls}, nil)
				})
			}
			l := newLoop(t, agent.Config{Tools: []agent.Tool{tool(t, "greet", greet)}})
			reply, err := w.Ask(t.Context(), l, log, "go")
			if !errors.Is(err, refusal) || strings.Contains(err.Error(), "its text was kept, and none of its calls") != (test.log != "") {
				t.Error(err)
			}
			if got := log.transcript(); got != "user \"go\"\n"+test.log || kinds(w.Container) != test.entries || log.last().State != test.state {
				t.Errorf("%s, %s, %s", got, kinds(w.Container), log.last().State)
			}
			if kept := test.log != ""; kept && (reply.Text != test.reply.Text || reply.Thinking != test.reply.Thinking || reply.Calls != 0) {
				t.Errorf("%+v", reply)
			}
			log.refuse, w.Model = func(llm.Answer) error { return nil }, llmtest.NewScript("fine")
			if reply, err := w.Ask(t.Context(), l, log, "and now?"); err != nil || reply.Text != "fine" {
				t.Errorf("the next exchange: %q, %v", reply.Text, err)
			}
			log.check(t)
		})
	}
}

// refusing is a ledger that does not take every answer.
type refusing struct {
	ledger
	refuse func(llm.Answer) error
}

func (r *refusing) Answer(ctx context.Context, a llm.Answer) error {
	if err := r.refuse(a); err != nil {
		return err
	}
	return r.ledger.Answer(ctx, a)
}

func only(when bool, err error) error {
	if when {
		return err
	}
	return nil
}

func TestConfirmation(t *testing.T) {
	reply := calls(call("a", "greet", `{"name":"x"}`), call("b", "ask", `{"name":"y"}`), call("c", "greet", `{"name":"z"}`), call("d", "none", `{}`))
	var asked []string
	hook := func(answer error, by string) agent.Confirm {
		return func(_ context.Context, c llm.Call) error {
			asked = append(asked, by+" "+c.ID+" "+c.Arguments)
			if c.ID == "c" {
				panic("no terminal")
			}
			return answer
		}
	}
	ask := tool(t, "ask", greet)
	ask.Confirm = hook(agent.ErrDenied, "tool")
	config := agent.Config{Tools: []agent.Tool{tool(t, "greet", greet), ask}, Confirm: hook(errors.New("ask me tomorrow"), "loop")}
	survive(t, survival{
		model: llmtest.Replies(reply, says("well")), config: config,
		outcome: agent.Normal, state: commit.Complete, entries: "Prompt ToolUse ToolResults Response",
		log: `agent "" a:greet({"name":"x"}) b:ask({"name":"y"}) c:greet({"name":"z"}) d:none({})
result a greet cancelled "not confirmed: ask me tomorrow"
result b ask cancelled "not confirmed"
result c greet cancelled "not confirmed: panic: no terminal"
result d none error "there is no tool \"none\"; use one of greet, ask"
agent "well"
`,
	})
	if got := strings.Join(asked, "; "); got != `loop a {"name":"x"}; tool b {"name":"y"}; loop c {"name":"z"}` {
		t.Error(got)
	}
	config.Confirm = func(_ context.Context, c llm.Call) error { return nil }
	survive(t, survival{
		model: llmtest.Replies(calls(call("a", "greet", `{"name":"x"}`), call("b", "ask", `{"name":"y"}`)), says("well")), config: config,
		outcome: agent.Normal, state: commit.Complete, entries: "Prompt ToolUse ToolResults Response",
		log: `agent "" a:greet({"name":"x"}) b:ask({"name":"y"})
result a greet ok "hello x"
result b ask cancelled "not confirmed"
agent "well"
`,
	})
	survive(t, survival{
		model: llmtest.Replies(calls(call("b", "ask", `{"name":"y"}`)), says("well")), config: config,
		outcome: agent.Normal, state: commit.Complete, entries: "Prompt ToolUse CancelledTools Response",
		log: "agent \"\" b:ask({\"name\":\"y\"})\nresult b ask cancelled \"not confirmed\"\nagent \"well\"\n",
	})
}

func TestAnObserverThatPanicsFailsTheExchange(t *testing.T) {
	for _, at := range []agent.Event{
		agent.StateChanged{State: agent.Working}, agent.StateChanged{State: agent.Waiting}, agent.StateChanged{State: agent.UsingTool},
		agent.TextPiece{Text: "so"}, agent.ToolStarted{Call: call("b", "work", `{"name":"y"}`)},
	} {
		synctest.Test(t, func(t *testing.T) {
			log := &ledger{}
			model := llmtest.Replies(llmtest.Reply{Text: "so", Calls: []llm.Call{call("a", "work", `{"name":"x"}`), call("b", "work", `{"name":"y"}`)}})
			w := agent.NewWorker("1", "one", model)
			l := newLoop(t, agent.Config{Tools: []agent.Tool{tool(t, "work", func(ctx context.Context, _ nameArgs) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			})}})
			job, err := l.Start(t.Context(), w, log, agent.RunOptions{
				Input: []turn.Draft{agent.Input("go")},
				Observe: func(_ context.Context, e agent.Event) {
					if e == at {
						panic("no screen")
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			result, err := job.Wait(t.Context())
			if err != nil || result.Outcome != agent.Failed || !panics(result.Err) {
				t.Errorf("%v: %s, %v, %v", at, result.Outcome, result.Err, err)
			}
			log.check(t)
			if err := l.Drain(t.Context()); err != nil {
				t.Error(err)
			}
			w.Model = llmtest.NewScript("fine")
			if reply, err := w.Ask(t.Context(), l, log, "and now?"); err != nil || reply.Text != "fine" {
				t.Errorf("the next exchange: %q, %v", reply.Text, err)
			}
		})
	}
}

func TestAContainerThatIsChangedDuringARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &ledger{}
		w := agent.NewWorker("1", "one", llmtest.Replies(calls(call("a", "greet", `{"name":"x"}`))))
		l := newLoop(t, agent.Config{Tools: []agent.Tool{tool(t, "greet", greet)}})
		log.at = func(_ context.Context, method string) error {
			if method == "Compile" {
				if _, staged := w.Container.Staged(); staged || w.Container.Rollback() {
					t.Error("an input can be taken back that is in the log")
				}
				w.Container.Abandon()
			}
			return nil
		}
		_, err := w.Ask(t.Context(), l, log, "go")
		var field *agent.FieldError
		if !errors.As(err, &field) || kinds(w.Container) != "Prompt?" {
			t.Errorf("%v, %s", err, kinds(w.Container))
		}
		log.check(t)
		log.at = nil
		w.Model = llmtest.NewScript("fine")
		if reply, err := w.Ask(t.Context(), l, log, "and now?"); err != nil || reply.Text != "fine" {
			t.Errorf("the next exchange: %q, %v", reply.Text, err)
		}
	})
}

func TestAModelThatDiesWhileTheLogRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &ledger{at: func(_ context.Context, method string) error {
			if method == "Answer" {
				return errDisk
			}
			return nil
		}}
		w := agent.NewWorker("1", "one", llmtest.Replies(llmtest.Reply{Text: "half", Err: errDown}))
		_, err := w.Ask(t.Context(), newLoop(t, agent.Config{}), log, "go")
		if !errors.Is(err, errDisk) || !errors.Is(err, llm.ErrInterrupted) || log.last().State != commit.Failed || kinds(w.Container) != "Prompt?" {
			t.Error(err, log.last().State, kinds(w.Container))
		}
	})
}
