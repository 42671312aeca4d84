package agent_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestWhoDoesNotHeedTheContextIsLeftAlone has a hook or a model wait for something that does not come.
func TestWhoDoesNotHeedTheContextIsLeftAlone(t *testing.T) {
	const lookup = "agent \"\" a:greet({\"name\":\"x\"})\n"
	for _, test := range []struct {
		name    string
		model   func(free chan struct{}) llm.Model
		config  agent.Config
		took    time.Duration
		outcome agent.Outcome
		err     error
		log     string
	}{
		{
			name:    "a hook",
			model:   func(chan struct{}) llm.Model { return llmtest.Replies(calls(call("a", "greet", `{"name":"x"}`))) },
			took:    time.Hour + time.Second,
			outcome: agent.Cancelled, err: context.DeadlineExceeded,
			log: lookup + "result a greet cancelled \"the exchange ended before the call did\"\n",
		},
		{
			name: "a model that says nothing",
			model: func(free chan struct{}) llm.Model {
				return stream(func(context.Context, llm.Request, func(llm.Chunk, error) bool) { <-free })
			},
			config: agent.Config{First: time.Minute, Grace: 5 * time.Second}, took: time.Minute + 5*time.Second,
			outcome: agent.Failed, err: llm.ErrUnreachable,
		},
		{
			name: "a model in the middle",
			model: func(free chan struct{}) llm.Model {
				return stream(func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
					yield(llm.Chunk{Text: "so far"}, nil)
					<-free
				})
			},
			config: agent.Config{Idle: 2 * time.Hour}, took: time.Hour + time.Second,
			outcome: agent.Cancelled, err: context.DeadlineExceeded, log: "agent \"so far\" interrupted\n",
		},
		{
			name: "a model at the end",
			model: func(free chan struct{}) llm.Model {
				return stream(func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
					yield(llm.Chunk{Text: "all", Stop: llm.StopEnd}, nil)
					<-free
				})
			},
			took: time.Second, outcome: agent.Normal, log: "agent \"all\"\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				free := make(chan struct{})
				test.config.Tools = []agent.Tool{tool(t, "greet", greet)}
				test.config.Confirm = func(context.Context, llm.Call) error { <-free; return nil }
				l := newLoop(t, test.config)
				log, w := &ledger{}, agent.NewWorker("1", "one", test.model(free))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				begin := time.Now()
				job, err := l.Start(ctx, w, log, agent.RunOptions{Input: []turn.Draft{agent.Input("go")}})
				if err != nil {
					t.Fatal(err)
				}
				result, err := job.Wait(t.Context())
				if err != nil || result.Outcome != test.outcome || !errors.Is(result.Err, test.err) {
					t.Errorf("%s, %v, %v", result.Outcome, result.Err, err)
				}
				if took := time.Since(begin); took != test.took {
					t.Errorf("it was over after %s, want %s", took, test.took)
				}
				if got := log.transcript(); got != "user \"go\"\n"+test.log {
					t.Error(got)
				}
				log.check(t)
				w.Model = llmtest.NewScript("fine")
				if reply, err := w.Ask(t.Context(), l, log, "and now?"); err != nil || reply.Text != "fine" {
					t.Errorf("the next exchange: %q, %v", reply.Text, err)
				}
				short, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := l.Drain(short); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("nobody waits for it: %v", err)
				}
				close(free)
				if err := l.Drain(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestWhoEndsTheGoroutineEndsOnlyTheExchange has whoever is called call runtime.Goexit, as t.FailNow does.
func TestWhoEndsTheGoroutineEndsOnlyTheExchange(t *testing.T) {
	for _, who := range []string{"hook", "model", "model at the end", "observer", "Begin", "Compile", "Receive", "Answer", "Results", "End"} {
		t.Run(who, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				exit := func(by string) {
					if by == who {
						runtime.Goexit()
					}
				}
				log := &ledger{at: func(_ context.Context, method string) error {
					exit(method)
					return nil
				}}
				script := llmtest.Replies(llmtest.Reply{Text: "so", Calls: []llm.Call{call("a", "greet", `{"name":"x"}`)}}, says("done"))
				w := agent.NewWorker("1", "one", stream(func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
					exit("model")
					script.Stream(ctx, r)(yield)
					exit("model at the end")
				}))
				l := newLoop(t, agent.Config{
					Tools: []agent.Tool{tool(t, "greet", greet)},
					Confirm: func(context.Context, llm.Call) error {
						exit("hook")
						return nil
					},
				})
				job, err := l.Start(t.Context(), w, log, agent.RunOptions{
					Input: []turn.Draft{agent.Input("go")},
					Observe: func(_ context.Context, e agent.Event) {
						if e == (agent.TextPiece{Text: "so"}) {
							exit("observer")
						}
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				result, err := job.Wait(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if who == "hook" {
					if want := `result a greet cancelled "not confirmed: its goroutine ended without a result"`; result.Err != nil || !strings.Contains(log.transcript(), want) {
						t.Errorf("%v, %s", result.Err, log.transcript())
					}
				} else if result.Outcome != agent.Failed || !strings.Contains(result.Err.Error(), "its goroutine ended without a result") {
					t.Errorf("%s, %v", result.Outcome, result.Err)
				}
				last := who
				who, w.Model = "", llmtest.NewScript("fine")
				if last == "End" {
					log.begun = false
				}
				if reply, err := w.Ask(t.Context(), l, log, "and now?"); err != nil || reply.Text != "fine" {
					t.Errorf("the next exchange: %q, %v", reply.Text, err)
				}
			})
		})
	}
}

// TestCallsAreStoppedWhenAnObserverPanics looks whether a tool still works when the job is over.
func TestCallsAreStoppedWhenAnObserverPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var working atomic.Int32
		work := tool(t, "work", func(ctx context.Context, a nameArgs) (string, error) {
			working.Add(1)
			defer working.Add(-1)
			<-ctx.Done()
			<-time.After(time.Second)
			if a.Name == "y" {
				return "y was done already", nil
			}
			return "", ctx.Err()
		})
		log := &ledger{}
		w := agent.NewWorker("1", "one", llmtest.Replies(calls(call("a", "work", `{"name":"x"}`), call("b", "work", `{"name":"y"}`), call("c", "work", `{"name":"z"}`))))
		l := newLoop(t, agent.Config{Tools: []agent.Tool{work}, Grace: time.Minute})
		job, err := l.Start(t.Context(), w, log, agent.RunOptions{
			Input: []turn.Draft{agent.Input("go")},
			Observe: func(_ context.Context, e agent.Event) {
				if e == (agent.ToolStarted{Call: call("c", "work", `{"name":"z"}`)}) {
					panic("no screen")
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		result, err := job.Wait(t.Context())
		if err != nil || !panics(result.Err) || log.last().State != commit.Failed {
			t.Errorf("%v, %v, %s", result.Err, err, log.last().State)
		}
		if n := working.Load(); n != 0 {
			t.Errorf("%d tools are at work when the job is over", n)
		}
		want := "result a work cancelled \"cancelled while it ran\"\nresult b work ok \"y was done already\"\n" +
			"result c work cancelled \"the exchange ended before the call did\"\n"
		if got := log.transcript(); !strings.HasSuffix(got, want) {
			t.Error(got)
		}
		log.check(t)
	})
}
