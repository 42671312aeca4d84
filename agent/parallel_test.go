package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/turn"
)

// fifty are calls of which the first takes longest.
func fifty() []llm.Call {
	list := make([]llm.Call, 50)
	for i := range list {
		list[i] = call(fmt.Sprintf("c%d", i), "work", fmt.Sprintf(`{"seconds":%d}`, 50-i))
	}
	return list
}

func TestFiftyCallsAtOnce(t *testing.T) {
	for parallel, want := range map[int]int32{0: 16, 3: 3, 100: 50} {
		synctest.Test(t, func(t *testing.T) {
			var running, most atomic.Int32
			work, err := agent.NewTool("work", "", func(_ context.Context, a struct {
				Seconds int `json:"seconds"`
			}) (int, error) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				<-time.After(time.Duration(a.Seconds) * time.Second)
				return a.Seconds, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			log := &ledger{}
			w := agent.NewWorker("1", "one", llmtest.Replies(calls(fifty()...), says("done")))
			var took []time.Duration
			job, err := newLoop(t, agent.Config{Tools: []agent.Tool{work}, Parallel: parallel}).Start(t.Context(), w, log, agent.RunOptions{
				Input: []turn.Draft{agent.Input("go")},
				Observe: func(_ context.Context, e agent.Event) {
					if f, ok := e.(agent.ToolFinished); ok {
						took = append(took, f.Result.Took)
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			result, err := job.Wait(t.Context())
			if err != nil || result.Outcome != agent.Normal || result.Reply.Calls != 50 {
				t.Fatal(result, err)
			}
			log.check(t)
			if most.Load() != want {
				t.Errorf("%d at once, want %d", most.Load(), want)
			}
			var wanted strings.Builder
			for i := range 50 {
				fmt.Fprintf(&wanted, "result c%d work ok %d\n", i, 50-i)
			}
			if !strings.Contains(log.transcript(), wanted.String()) {
				t.Error(log.transcript())
			}
			if len(took) != 50 || parallel == 100 && (took[0] != time.Second || took[49] != 50*time.Second) {
				t.Error(took)
			}
		})
	}
}

func TestCancelWhileCallsWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &ledger{}
		w := agent.NewWorker("1", "one", llmtest.Replies(calls(
			call("a", "work", `{"name":"x"}`), call("b", "work", `{"name":"y"}`), call("c", "work", `{"name":"z"}`))))
		var job *agent.Job
		started := make(chan struct{})
		l := newLoop(t, agent.Config{Parallel: 1, Tools: []agent.Tool{tool(t, "work", func(ctx context.Context, a nameArgs) (string, error) {
			if a.Name == "x" {
				return "quick", nil
			}
			close(started)
			<-time.After(time.Hour) // deaf
			return "", nil
		})}})
		job, err := l.Start(t.Context(), w, log, agent.RunOptions{Input: []turn.Draft{agent.Input("go")}})
		if err != nil {
			t.Fatal(err)
		}
		<-started
		job.Cancel()
		begin := time.Now()
		result, err := job.Wait(t.Context())
		if err != nil || result.Outcome != agent.Cancelled || time.Since(begin) != time.Second {
			t.Error(result, err, time.Since(begin))
		}
		log.check(t)
		want := `user "go"
agent "" a:work({"name":"x"}) b:work({"name":"y"}) c:work({"name":"z"})
result a work ok "quick"
result b work cancelled "cancelled while it ran; it may still be running"
result c work cancelled "the exchange ended before the call did"
`
		if got := log.transcript(); got != want {
			t.Error(got)
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := l.Drain(impatient); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if err := l.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestAToolHasItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := tool(t, "slow", func(ctx context.Context, _ nameArgs) (string, error) { <-ctx.Done(); return "", ctx.Err() })
		short, err := agent.NewRawTool(llm.Tool{Name: "short"}, func(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if err != nil {
			t.Fatal(err)
		}
		short.Timeout = time.Second
		log := &ledger{}
		w := agent.NewWorker("1", "one", llmtest.Replies(calls(call("a", "slow", `{"name":"x"}`), call("b", "short", "")), says("done")))
		if _, err := w.Ask(t.Context(), newLoop(t, agent.Config{Tools: []agent.Tool{slow, short}, ToolTimeout: time.Minute}), log, "go"); err != nil {
			t.Fatal(err)
		}
		if got := log.transcript(); !strings.Contains(got, `"timed out after 1m0s"`) || !strings.Contains(got, `"timed out after 1s"`) {
			t.Error(got)
		}
	})
}

func TestIDsOfCallsAreUniqueWithinASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &ledger{}
		l := newLoop(t, agent.Config{Tools: []agent.Tool{tool(t, "greet", greet)}})
		ask := func(w *agent.Worker) {
			t.Helper()
			w.Model = llmtest.Replies(
				calls(call("a", "greet", `{"name":"x"}`), call("a", "greet", `{"name":"y"}`), call("", "greet", `{"name":"z"}`)),
				calls(call("a", "greet", `{"name":"x"}`)), says("done"))
			if _, err := w.Ask(t.Context(), l, log, "go"); err != nil {
				t.Fatal(err)
			}
			log.check(t)
		}
		w := agent.NewWorker("1", "one", nil)
		ask(w)
		ask(w)
		// Somebody who has only the prompt to know them from.
		ask(agent.NewWorker("2", "two", nil))
		if len(log.used) != 12 || !log.used["a"] || !log.used["a-9"] || !log.used["call-3"] {
			t.Error(log.used)
		}
	})
}

// TestAnObserverThatWaitsIsFreedByCancel also shows that its time does not count as the model's.
func TestAnObserverThatWaitsIsFreedByCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &ledger{}
		w := agent.NewWorker("1", "one", llmtest.NewScript("one two three"))
		l := newLoop(t, agent.Config{Idle: time.Minute})
		pieces := 0
		job, err := l.Start(t.Context(), w, log, agent.RunOptions{
			Input: []turn.Draft{agent.Input("go")},
			Observe: func(ctx context.Context, e agent.Event) {
				if _, ok := e.(agent.TextPiece); !ok {
					return
				}
				if pieces++; pieces == 1 {
					<-time.After(time.Hour)
					return
				}
				<-ctx.Done()
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(2*time.Hour, job.Cancel)
		result, err := job.Wait(t.Context())
		// The model may have heard of the end after the observer, and have said its next piece meanwhile.
		if err != nil || result.Outcome != agent.Cancelled || result.Reply.Text != "one two " && result.Reply.Text != "one two three" {
			t.Error(result, err)
		}
		log.check(t)
	})
}
