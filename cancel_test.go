package turnstone_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// cancelling is a model that calls a tool and then replies, and tells where it is.
type cancelling struct{ at func(where string) }

func (m *cancelling) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		last := r.Messages[len(r.Messages)-1]
		m.at("requesting")
		if ctx.Err() != nil {
			yield(llm.Chunk{}, ctx.Err())
			return
		}
		if last.Role == llm.User && last.Text == "Go." {
			yield(llm.Chunk{Calls: []llm.Call{call("c", "Lisbon")}, Stop: llm.StopCalls}, nil)
			return
		}
		if !yield(llm.Chunk{Text: "It is "}, nil) {
			return
		}
		m.at("receiving")
		if ctx.Err() != nil {
			yield(llm.Chunk{}, ctx.Err())
			return
		}
		yield(llm.Chunk{Text: "noon.", Stop: llm.StopEnd}, nil)
	}
}

// Wherever a worker is when its caller hangs up, what was said is kept, calls have results, and the next exchange works.
func TestSayCancelledInEveryState(t *testing.T) {
	called, noon := `agent: clock {"zone":"Lisbon"}`, `system: clock "noon" ok`
	for _, test := range []struct {
		name, where string
		nth         int // time that it comes by
		log         []string
		state       string // none where the exchange did not begin
	}{
		{"inactive", "begin", 1, nil, ""},
		{"working", "PutExchange", 1, nil, ""},
		{"requesting", "requesting", 1, []string{"user: Go."}, "interrupted"},
		{"waiting", "waiting", 1, []string{"user: Go.", called, `system: clock "the exchange ended before the call did" cancelled`}, "interrupted"},
		{"using a tool", "using_tool", 1, []string{"user: Go.", called, `system: clock "cancelled while it ran" cancelled`}, "interrupted"},
		{"requesting again", "requesting", 2, []string{"user: Go.", called, noon}, "interrupted"},
		{"receiving", "receiving", 1, []string{"user: Go.", called, noon, "agent: It is  [interrupted]"}, "interrupted"},
		{"being written down", "InsertExport", 1, []string{"user: Go.", called, noon, "agent: It is noon."}, "complete"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inner, err := sqlite.Open(t.Context(), litetest.File(t, filepath.Join(t.TempDir(), "log.db")), sqlite.Config{})
			if err != nil {
				t.Fatal(err)
			}
			st := faulty.New(inner)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			left, armed, durable := test.nth, false, make(chan struct{})
			at := func(where string) {
				if armed && where == "requesting" {
					<-durable // it is asked while the input is written
				}
				if armed && where == test.where {
					if left--; left == 0 {
						cancel()
					}
				}
			}
			tool, err := agent.NewTool("clock", "Tells the time.", func(ctx context.Context, _ zone) (string, error) {
				at("using_tool")
				return "noon", ctx.Err()
			})
			if err != nil {
				t.Fatal(err)
			}
			eng := open(t, st, turnstone.Config{Model: &cancelling{at}, ModelName: "llama3.2", Agent: agent.Config{
				Tools: []agent.Tool{tool},
				Confirm: func(ctx context.Context, _ llm.Call) error {
					at("waiting")
					return ctx.Err()
				},
			}})
			chat := session(t, eng, "talk")
			var once sync.Once
			st.Set(func(where string) error {
				if where == test.where {
					at(where)
				}
				if where == "durable" {
					once.Do(func() { close(durable) })
				}
				return nil
			})
			armed = true
			_, err = chat.Say(ctx, "Go.")
			armed = false
			st.Set(nil)
			if complete := test.state == "complete"; complete != (err == nil) || !complete && !errors.Is(err, context.Canceled) || left > 0 {
				t.Errorf("%v, %d times too few", err, left)
			}
			same(t, "log", turnsOf(t, chat), test.log)
			var states []string
			if test.state != "" {
				states = []string{test.state}
			}
			same(t, "states", statuses(t, st, chat), states)
			if reply, err := chat.Say(t.Context(), "And now?"); err != nil || reply.Text != "It is noon." {
				t.Error(reply.Text, err)
			}
			examined(t, st)
		})
	}
}
