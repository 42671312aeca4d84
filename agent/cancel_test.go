package agent_test

import (
	"context"
	"errors"
	"fmt"
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

var allStates = []agent.State{
	agent.Inactive, agent.Working, agent.Requesting, agent.Receiving, agent.Waiting, agent.UsingTool, agent.InactiveFailed,
}

func TestStates(t *testing.T) {
	legal := map[agent.State]string{
		agent.Inactive:       "[working]",
		agent.Working:        "[inactive requesting inactive_failed]",
		agent.Requesting:     "[inactive receiving inactive_failed]",
		agent.Receiving:      "[inactive waiting inactive_failed]",
		agent.Waiting:        "[inactive working using_tool inactive_failed]",
		agent.UsingTool:      "[inactive working inactive_failed]",
		agent.InactiveFailed: "[working]",
	}
	for _, from := range allStates {
		var next []agent.State
		for _, to := range allStates {
			if from.Leads(to) {
				next = append(next, to)
			}
		}
		if got := fmt.Sprint(next); got != legal[from] {
			t.Errorf("%s: %s", from, got)
		}
		if from.Active() != from.Leads(agent.Inactive) {
			t.Errorf("%s: active %v", from, from.Active())
		}
	}
}

// cancelled is an exchange that goes through every state and is cancelled in one of them, for the nth time it is
// in it.
var cancelled = []struct {
	name    string
	state   agent.State
	nth     int
	log     string
	entries string
	reply   string
}{
	{"working", agent.Working, 1, "", "Prompt?", ""},
	{"requesting", agent.Requesting, 1, "", "Prompt?", ""},
	{
		"receiving", agent.Receiving, 1, "agent \"let \" interrupted\n", "Prompt Response!", "let ",
	},
	{
		"waiting", agent.Waiting, 1,
		"agent \"let me see\" a:work({\"name\":\"x\"}) b:work({\"name\":\"y\"})\n" +
			"result a work cancelled \"the exchange ended before the call did\"\nresult b work cancelled \"the exchange ended before the call did\"\n",
		"Prompt ToolUse CancelledTools?", "",
	},
	{
		"using a tool", agent.UsingTool, 1,
		"agent \"let me see\" a:work({\"name\":\"x\"}) b:work({\"name\":\"y\"})\n" +
			"result a work ok \"x is quick\"\nresult b work cancelled \"cancelled while it ran\"\n",
		"Prompt ToolUse ToolResults?", "",
	},
	{
		"working again", agent.Working, 2,
		"agent \"let me see\" a:work({\"name\":\"x\"}) b:work({\"name\":\"y\"})\n" +
			"result a work ok \"x is quick\"\nresult b work ok \"y is slow\"\n",
		"Prompt ToolUse ToolResults?", "",
	},
	{
		"requesting again", agent.Requesting, 2,
		"agent \"let me see\" a:work({\"name\":\"x\"}) b:work({\"name\":\"y\"})\n" +
			"result a work ok \"x is quick\"\nresult b work ok \"y is slow\"\n",
		"Prompt ToolUse ToolResults?", "",
	},
	{
		"receiving the reply", agent.Receiving, 2,
		"agent \"let me see\" a:work({\"name\":\"x\"}) b:work({\"name\":\"y\"})\n" +
			"result a work ok \"x is quick\"\nresult b work ok \"y is slow\"\nagent \"all \" interrupted\n",
		"Prompt ToolUse ToolResults Response!", "all ",
	},
}

// TestCancelInEveryState lets everything take time and cancels half-way through a state, by the job or by the
// caller's context.
func TestCancelInEveryState(t *testing.T) {
	for _, test := range cancelled {
		for _, how := range []string{"job", "context"} {
			t.Run(test.name+" by "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					log := &ledger{at: func(ctx context.Context, method string) error {
						if method == "Compile" {
							return wait(ctx)
						}
						return nil
					}}
					model := llmtest.Replies(
						llmtest.Reply{Text: "let me see", Delay: 2 * time.Second, Calls: []llm.Call{call("a", "work", `{"name":"x"}`), call("b", "work", `{"name":"y"}`)}},
						llmtest.Reply{Text: "all done", Delay: 2 * time.Second},
					)
					w := agent.NewWorker("1", "one", model)
					l := newLoop(t, agent.Config{
						Confirm: func(ctx context.Context, _ llm.Call) error { return wait(ctx) },
						Tools: []agent.Tool{tool(t, "work", func(ctx context.Context, a nameArgs) (string, error) {
							if a.Name == "x" {
								return "x is quick", nil
							}
							return "y is slow", wait(ctx)
						})},
					})
					reached := make(chan struct{})
					seen := 0
					job, err := l.Start(ctx, w, log, agent.RunOptions{
						Input: []turn.Draft{agent.Input("go")},
						Observe: func(_ context.Context, e agent.Event) {
							if e == (agent.StateChanged{State: test.state}) {
								if seen++; seen == test.nth {
									close(reached)
								}
							}
						},
					})
					if err != nil {
						t.Fatal(err)
					}
					<-reached
					<-time.After(time.Second)
					if got := w.State(); got != test.state {
						t.Fatalf("half-way it is %s", got)
					}
					want := error(context.Canceled)
					switch how {
					case "job":
						job.Cancel()
						want = agent.ErrCancelled
					case "context":
						cancel()
					}
					result, err := job.Wait(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if result.Outcome != agent.Cancelled || !errors.Is(result.Err, context.Canceled) || !errors.Is(result.Err, want) {
						t.Errorf("%s: %v", result.Outcome, result.Err)
					}
					if result.Reply.Text != test.reply || w.State() != agent.Inactive || w.LastFailure() != nil {
						t.Errorf("%q, %s, %v", result.Reply.Text, w.State(), w.LastFailure())
					}
					if e := log.last(); e.State != commit.Interrupted || !errors.Is(e.Err, context.Canceled) {
						t.Errorf("%+v", e)
					}
					if diff := cmp.Diff("user \"go\"\n"+test.log, log.transcript()); diff != "" {
						t.Error(diff)
					}
					if got := kinds(w.Container); got != test.entries {
						t.Error(got)
					}
					log.check(t)

					w.Model = llmtest.NewScript("fine")
					if reply, err := w.Ask(t.Context(), l, log, "and now?"); err != nil || reply.Text != "fine" {
						t.Errorf("the next exchange: %q, %v", reply.Text, err)
					}
					log.check(t)
				})
			})
		}
	}
}

// wait takes two seconds, or as long as ctx lives.
func wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(2 * time.Second):
		return nil
	}
}

func TestACancelledJobThatHasItsReplyIsNormal(t *testing.T) {
	for _, method := range []string{"Answer", "End"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			log := &ledger{at: func(_ context.Context, m string) error {
				if m == method {
					cancel()
				}
				return nil
			}}
			w := agent.NewWorker("1", "one", llmtest.NewScript("done"))
			reply, err := w.Ask(ctx, newLoop(t, agent.Config{}), log, "go")
			if err != nil || reply.Text != "done" || log.last().State != commit.Complete {
				t.Errorf("%s: %q, %v, %s", method, reply.Text, err, log.last().State)
			}
			log.check(t)
		})
	}
}

func TestADeadlineCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		log := &ledger{}
		w := agent.NewWorker("1", "one", llmtest.Replies(llmtest.Reply{Endless: true, Delay: time.Second}))
		reply, err := w.Ask(ctx, newLoop(t, agent.Config{}), log, "go")
		if !errors.Is(err, context.DeadlineExceeded) || reply.Text != "on on " || w.State() != agent.Inactive {
			t.Errorf("%q, %v, %s", reply.Text, err, w.State())
		}
		log.check(t)
	})
}

func TestAJobThatIsCancelledBeforeItBeginsLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		log := &ledger{}
		w := agent.NewWorker("1", "one", llmtest.NewScript("never"))
		_, err := w.Ask(ctx, newLoop(t, agent.Config{}), log, "go")
		if !errors.Is(err, context.Canceled) || !w.Container.Empty() || log.transcript() != "" || len(log.endings) != 0 {
			t.Errorf("%v, %s, %s", err, kinds(w.Container), log.transcript())
		}
	})
}

func TestCancelWhileResultsAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		log := &ledger{at: func(_ context.Context, m string) error {
			if m == "Results" {
				cancel()
			}
			return nil
		}}
		model := llmtest.Replies(calls(call("a", "greet", `{"name":"x"}`)), says("never"))
		w := agent.NewWorker("1", "one", model)
		_, err := w.Ask(ctx, newLoop(t, agent.Config{Tools: []agent.Tool{tool(t, "greet", greet)}}), log, "go")
		if !errors.Is(err, context.Canceled) || kinds(w.Container) != "Prompt ToolUse ToolResults?" || len(model.Asked()) != 1 {
			t.Error(err, kinds(w.Container))
		}
		log.check(t)
	})
}

func TestAModelThatDoesNotHeedItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		log := &ledger{}
		model := stream(func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
			for yield(llm.Chunk{Text: "x"}, nil) {
				cancel()
			}
		})
		w := agent.NewWorker("1", "one", model)
		reply, err := w.Ask(ctx, newLoop(t, agent.Config{}), log, "go")
		if !errors.Is(err, context.Canceled) || reply.Text != "xx" {
			t.Errorf("%q, %v", reply.Text, err)
		}
		log.check(t)
	})
}

func TestACancelledJobWhoseReplyIsNotKeptHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		log := &ledger{at: func(_ context.Context, m string) error {
			if m == "Answer" {
				return errDisk
			}
			return nil
		}}
		w := agent.NewWorker("1", "one", llmtest.Replies(llmtest.Reply{Endless: true, Delay: time.Second}))
		_, err := w.Ask(ctx, newLoop(t, agent.Config{}), log, "go")
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errDisk) || w.State() != agent.InactiveFailed || log.last().State != commit.Failed {
			t.Error(err, w.State(), log.last().State)
		}
	})
}
