package agent_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
)

// early is a ledger whose Begin returns before it is known whether the input is kept.
type early struct {
	ledger
	begun func() (again bool, err error)
	times int
}

func (e *early) Begun(context.Context) (bool, error) {
	e.times++
	return e.begun()
}

func TestAConversationThatBeginsEarly(t *testing.T) {
	boom := errors.New("boom")
	for name, test := range map[string]struct {
		again   bool
		err     error
		asked   int
		entries string
		ended   int
	}{
		"kept":                   {false, nil, 1, "Prompt Response", 1},
		"kept with other words":  {true, nil, 2, "Prompt Response", 1},
		"refused, nothing begun": {false, boom, 1, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			script := llmtest.NewScript("fine", "fine")
			log := &early{begun: func() (bool, error) { return test.again, test.err }}
			w := agent.NewWorker("1", "one", script)
			reply, err := w.Ask(t.Context(), newLoop(t, agent.Config{}), log, "go")
			if !errors.Is(err, test.err) || err == nil && reply.Text != "fine" {
				t.Errorf("%q, %v", reply.Text, err)
			}
			if len(script.Asked()) != test.asked || log.times != 1 || len(log.endings) != test.ended {
				t.Errorf("asked %d times, begun %d times, ended %d times", len(script.Asked()), log.times, len(log.endings))
			}
			if got := kinds(w.Container); got != test.entries {
				t.Errorf("the container holds %q", got)
			}
		})
	}
}

// room is a context that many exchanges share, and knows how many watch it.
type room struct {
	context.Context
	watched atomic.Int32
}

func (*room) Value(any) any { return nil }

func (r *room) AfterFunc(fn func()) func() bool {
	r.watched.Add(1)
	stop := context.AfterFunc(r.Context, fn)
	return func() bool {
		r.watched.Add(-1)
		return stop()
	}
}

// shared is a ledger whose exchanges end with the room.
type shared struct {
	*ledger
	room *room
}

func (s shared) Speaking() context.Context { return s.room }

func TestAnExchangeThatIsOverWatchesNothing(t *testing.T) {
	in := &room{Context: t.Context()}
	if _, err := agent.NewWorker("1", "one", llmtest.NewScript("hi")).Ask(t.Context(), newLoop(t, agent.Config{}), shared{&ledger{}, in}, "go"); err != nil {
		t.Fatal(err)
	}
	if n := in.watched.Load(); n != 0 {
		t.Errorf("%d watch on", n)
	}
}

// What keeps an input from becoming durable may end the exchange's context as well, and is the reason all the same.
func TestWhyAnExchangeDoesNotBegin(t *testing.T) {
	boom := errors.New("boom")
	for name, test := range map[string]struct {
		says     func(context.Context) error
		canceled bool
	}{
		"the conversation failed": {func(context.Context) error { return boom }, false},
		"the context ended":       {context.Context.Err, true},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		log := &ledger{at: func(ctx context.Context, method string) error {
			cancel(boom)
			return test.says(ctx)
		}}
		_, err := agent.NewWorker("1", "one", llmtest.Replies()).Ask(ctx, newLoop(t, agent.Config{}), log, "go")
		if !errors.Is(err, boom) || errors.Is(err, context.Canceled) != test.canceled {
			t.Errorf("%s: %v", name, err)
		}
	}
}
