package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// stopped is a process that is stopped in the middle of a reply and goes on: nothing that it does reaches the store
// meanwhile, and the first to come is what the model said.
type stopped struct {
	llm.Model
	st     *faulty.Store
	during func()        // runs while it is stopped
	still  chan struct{} // closed when it is not any more
}

func (s *stopped) Stream(context.Context, llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if !yield(llm.Chunk{Text: "One "}, nil) {
			return
		}
		time.Sleep(time.Second) // it is written down
		s.st.Set(func(at string) error {
			if at == "begin" {
				<-s.still
			}
			return nil
		})
		s.during()
		go soon(func() { close(s.still) })
		for n := range 20 {
			if !yield(llm.Chunk{Text: fmt.Sprint(n, " ")}, nil) {
				return
			}
		}
		yield(llm.Chunk{Stop: llm.StopEnd}, nil)
	}
}

// soon runs f after all others had a chance to run. The clock stands still meanwhile: some wait for a mutex.
func soon(f func()) {
	for range 10_000 {
		runtime.Gosched()
	}
	f()
}

// lent is a store that another engine closes.
type lent struct{ store.Store }

func (lent) Close() error { return nil }

// stoppedFor has one engine be stopped in the middle of a reply, and another on the same store that is not.
func stoppedFor(t *testing.T, long time.Duration, meanwhile func(t *testing.T, other *turnstone.Session)) (pieces, log []string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		under := mem.New(mem.Config{})
		m := &stopped{st: faulty.New(lent{under}), still: make(chan struct{})}
		one, err1 := turnstone.Open(t.Context(), m.st, turnstone.Config{Model: m, ModelName: "llama3.2"})
		two, err2 := turnstone.Open(context.WithValue(t.Context(), byItself{}, true), patient{under}, turnstone.Config{Model: llmtest.NewScript("Yes."), ModelName: "llama3.2"})
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		chat := session(t, one, "talk")
		m.during = func() {
			time.Sleep(long)
			if meanwhile != nil {
				meanwhile(t, session(t, two, "talk"))
			}
		}
		for piece, failed := range chat.Stream(t.Context(), "Count.") {
			if err = failed; piece.Text != "" {
				pieces = append(pieces, piece.Text)
			}
		}
		log = turnsOf(t, session(t, two, "talk"))
		if err := errors.Join(one.Close(), two.Close()); err != nil {
			t.Error(err)
		}
	})
	return pieces, log, err
}

// Nothing of a reply is told once somebody else has the session: it would be kept by nobody.
func TestNothingIsToldWithoutTheLease(t *testing.T) {
	pieces, log, err := stoppedFor(t, 18*time.Second, func(t *testing.T, other *turnstone.Session) {
		if _, err := other.Say(t.Context(), "And now?"); err != nil {
			t.Error(err)
		}
	})
	if !errors.Is(err, turn.ErrLeaseLost) {
		t.Error(err)
	}
	same(t, "told", pieces, []string{"One "})
	same(t, "log", log, []string{"user: Count.", "agent: One  [interrupted]", "user: And now?", "agent: Yes."})
}

// A lease that ran out and that nobody took is renewed, and the reply goes on.
func TestAReplyGoesOnWhereNobodyTookTheLease(t *testing.T) {
	pieces, log, err := stoppedFor(t, time.Minute, nil)
	if err != nil || len(pieces) != 21 {
		t.Errorf("%q, %v", pieces, err)
	}
	same(t, "log", log, []string{"user: Count.", "agent: One 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 "})
}

// steady says a word every half second.
type steady struct{ llm.Model }

func (steady) Stream(context.Context, llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for n := range 80 {
			time.Sleep(500 * time.Millisecond)
			if !yield(llm.Chunk{Text: fmt.Sprint(n, " ")}, nil) {
				return
			}
		}
		yield(llm.Chunk{Stop: llm.StopEnd}, nil)
	}
}

// While the store cannot be reached nothing is told from when the lease has run out until it is renewed, and then the reply
// goes on.
func TestNothingIsToldUntilTheLeaseIsRenewed(t *testing.T) {
	slowly(t, turnstone.Config{Model: steady{}}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
		start := time.Now()
		const from, to = 9900 * time.Millisecond, 21500 * time.Millisecond
		st.Set(func(at string) error {
			if now := time.Since(start); at == "begin" && now > from && now < to {
				return store.ErrUnavailable
			}
			return nil
		})
		told, late := 0, 0
		for piece, err := range chat.Stream(t.Context(), "Count.") {
			if err != nil {
				t.Fatal(err)
			}
			if piece.Text == "" {
				continue
			}
			told++
			if now := time.Since(start); now > 20500*time.Millisecond && now < to {
				late++
			}
		}
		if told != 80 || late != 0 {
			t.Errorf("%d pieces, %d of them after the lease had run out", told, late)
		}
	})
}

// A client's own loop is refused a piece as well.
func TestARelayReceivesNothingWithoutTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		under := mem.New(mem.Config{})
		st, still := faulty.New(lent{under}), make(chan struct{})
		one, err1 := turnstone.Open(t.Context(), st, turnstone.Config{ModelName: "llama3.2"})
		two, err2 := turnstone.Open(context.WithValue(t.Context(), byItself{}, true), patient{under}, turnstone.Config{Model: llmtest.NewScript("Yes."), ModelName: "llama3.2"})
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		relay := session(t, one, "talk").Relay(turnstone.RelayOptions{After: turnstone.Head, Untouched: true})
		if err := relay.Begin(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Count."}}); err != nil {
			t.Fatal(err)
		}
		if _, err := relay.Begun(t.Context()); err != nil {
			t.Fatal(err)
		}
		relay.Untouched()
		if err := relay.Receive(t.Context(), llm.Chunk{Text: "One "}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		st.Set(func(at string) error {
			if at == "begin" {
				<-still
			}
			return nil
		})
		time.Sleep(18 * time.Second)
		if _, err := session(t, two, "talk").Say(t.Context(), "And now?"); err != nil {
			t.Error(err)
		}
		go soon(func() { close(still) })
		// Also what has no words, such as the beginning of a call.
		for _, piece := range []llm.Chunk{{}, {Text: "two "}} {
			if err := relay.Receive(t.Context(), piece); !errors.Is(err, turn.ErrLeaseLost) {
				t.Errorf("%+v: %v", piece, err)
			}
		}
		if err := relay.End(t.Context(), agent.Ending{State: commit.Failed, Err: turn.ErrLeaseLost}); !errors.Is(err, turn.ErrLeaseLost) {
			t.Error(err)
		}
		if err := errors.Join(one.Close(), two.Close()); err != nil {
			t.Error(err)
		}
	})
}
