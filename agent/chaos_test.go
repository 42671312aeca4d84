package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/turn"
)

// chaos is a session in which anything may go wrong at any time.
type chaos struct {
	mu     sync.Mutex // guards all below
	random *rand.Rand
}

// IntN is a number below n.
func (c *chaos) IntN(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

// once in n.
func (c *chaos) once(n int) bool { return c.IntN(n) == 0 }

func (c *chaos) reply(llm.Request) llmtest.Reply {
	r := llmtest.Reply{Delay: time.Duration(c.IntN(3)) * time.Second}
	if c.once(3) {
		r.Thinking = "hm hm"
	}
	if !c.once(3) {
		r.Text = []string{"one two", " ", "nul \x00 and \xff", strings.Repeat("long ", 30)}[c.IntN(4)]
	}
	for range c.IntN(2) * c.IntN(7) {
		r.Calls = append(r.Calls, call(
			[]string{"a", "b", "", "\x00"}[c.IntN(4)],
			[]string{"work", "work", "work", "odd", ""}[c.IntN(5)],
			[]string{`{"name":"x"}`, `{"name":"y"}`, `{"name":1}`, `{`, "", "\xff"}[c.IntN(6)]))
	}
	if c.once(6) {
		r.Err = &llm.Error{Kind: llm.ErrInterrupted}
	}
	if c.once(12) {
		r.Endless = true
	}
	return r
}

func (c *chaos) work(ctx context.Context, _ nameArgs) (string, error) {
	switch c.IntN(7) {
	case 0:
		panic("oops")
	case 1:
		runtime.Goexit()
	case 2:
		<-ctx.Done()
		return "", ctx.Err()
	case 3:
		<-time.After(time.Hour)
	case 4:
		return strings.Repeat("x", 2<<20), nil
	case 5:
		return "", errors.New("no")
	}
	return "yes", nil
}

func (c *chaos) confirm(ctx context.Context, _ llm.Call) error {
	switch c.IntN(12) {
	case 0:
		return errors.New("no")
	case 1:
		panic("no terminal")
	case 2:
		return wait(ctx)
	}
	return nil
}

// trouble fails a method of the conversation, now and then.
func (c *chaos) trouble(_ context.Context, method string) error {
	if method == "End" || !c.once(40) {
		return nil
	}
	if c.once(2) {
		panic("no disk")
	}
	return errDisk
}

// TestWhateverGoesWrong runs exchanges of which most fail, one after the other in one session.
func TestWhateverGoesWrong(t *testing.T) {
	outcomes := map[agent.Outcome]int{}
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &chaos{random: rand.New(rand.NewPCG(seed, 1))}
				log := &ledger{at: c.trouble}
				w := agent.NewWorker("1", "one", llmtest.Respond(c.reply))
				l := newLoop(t, agent.Config{
					Parallel: 2, Tools: []agent.Tool{tool(t, "work", c.work)}, Confirm: c.confirm,
					MaxRounds: 4, MaxCalls: 5, MaxAnswer: 100, First: time.Minute, Idle: time.Minute,
				})
				for range 8 {
					job, err := l.Start(t.Context(), w, log, agent.RunOptions{Input: []turn.Draft{agent.Input("go")}})
					if err != nil {
						t.Fatal(err)
					}
					if c.once(3) {
						time.AfterFunc(time.Duration(c.IntN(20_000))*time.Millisecond, job.Cancel)
					}
					result, err := job.Wait(t.Context())
					if err != nil || (result.Outcome == agent.Normal) != (result.Err == nil) || w.State().Active() {
						t.Fatal(result, err, w.State())
					}
					outcomes[result.Outcome]++
					if len(log.open) == 0 {
						log.check(t)
					}
					if err := l.Drain(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				log.at = nil
				w.Model = llmtest.NewScript("fine")
				if reply, err := w.Ask(t.Context(), l, log, "and now?"); err != nil || reply.Text != "fine" {
					t.Errorf("the last exchange: %q, %v", reply.Text, err)
				}
				log.check(t)
			})
		})
	}
	for _, o := range []agent.Outcome{agent.Normal, agent.Cancelled, agent.Failed} {
		if outcomes[o] < 20 {
			t.Errorf("%d jobs were %s: this tests little", outcomes[o], o)
		}
	}
}
