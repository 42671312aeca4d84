package bus_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
)

var errBroken = errors.New("broken")

// ledger is what a consumer settled.
type ledger struct {
	mu      sync.Mutex // guards all below
	fail    error
	gate    chan struct{} // gives a token when settling may go on; nil: it may
	calls   []int         // how many messages each call had
	times   []time.Time
	settled []bus.Settled
	live    bool // whether the last call's context was alive
}

func (l *ledger) settle(ctx context.Context, batch []bus.Settled) error {
	if l.gate != nil {
		<-l.gate
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls, l.times, l.live = append(l.calls, len(batch)), append(l.times, time.Now()), ctx.Err() == nil
	if l.fail != nil {
		return l.fail
	}
	l.settled = append(l.settled, batch...)
	return nil
}

// made returns how many messages each call had, and when it came.
func (l *ledger) made() ([]int, []time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.calls), slices.Clone(l.times)
}

func (l *ledger) completions() []bus.Completion {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []bus.Completion
	for _, s := range l.settled {
		all = append(all, s.Completion)
	}
	return all
}

func message(session string, n int) event.Message {
	return event.Message{Tenant: "t", Session: session, ID: fmt.Sprint(session, n), TurnID: "turn", Number: int64(n)}
}

func consumer(t *testing.T, l *ledger, h bus.Handler, o bus.Options) *bus.Consumer {
	o, err := bus.Check("indexer", h, o)
	if err != nil {
		t.Fatal(err)
	}
	return bus.NewConsumer(t.Context(), "indexer", h, o, l.settle, bus.Logger(nil))
}

func take(t *testing.T, c *bus.Consumer, messages ...event.Message) {
	t.Helper()
	for _, m := range messages {
		if err := c.Take(t.Context(), bus.Delivery{Message: m}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTriesComeAfterOneTwoAndFourSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var at []time.Duration
		l := &ledger{}
		c := consumer(t, l, func(context.Context, event.Message) (int, error) {
			at = append(at, time.Since(begin))
			time.Sleep(100 * time.Millisecond)
			return 3, errBroken
		}, bus.Options{})
		take(t, c, message("s", 1))
		time.Sleep(time.Minute)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		const pause = 100 * time.Millisecond
		want := []time.Duration{0, time.Second + pause, 3*time.Second + 2*pause, 7*time.Second + 3*pause}
		if !slices.Equal(at, want) {
			t.Errorf("tries at %v, want %v", at, want)
		}
		got := l.completions()
		if len(got) != 1 || got[0].Status != bus.Dead || got[0].Tries != 4 || got[0].Duration != 4*pause ||
			!got[0].At.Equal(begin.Add(7*time.Second+4*pause)) || got[0].Error != "broken" {
			t.Errorf("completions %+v", got)
		}
	})
}

// TestAHandlerThatEndsItsGoroutineFailed, as one does that was given to t.Fatal.
func TestAHandlerThatEndsItsGoroutineFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		c := consumer(t, l, func(_ context.Context, m event.Message) (int, error) {
			if m.Session == "bad" {
				runtime.Goexit()
			}
			return 1, nil
		}, bus.Options{Parallel: 1, Backoff: []time.Duration{time.Second}})
		take(t, c, message("bad", 1), message("good", 2), message("bad", 3))
		time.Sleep(time.Minute)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, done := range l.completions() {
			got = append(got, fmt.Sprint(done.ExportID, " ", done.Status, " ", done.Tries, " ", done.Error))
		}
		const ended = "handler ended its goroutine"
		if want := []string{"good2 ok 1 ", "bad1 dead 2 " + ended, "bad3 dead 2 " + ended}; !slices.Equal(got, want) {
			t.Errorf("completions %q", got)
		}
	})
}

func TestAnEmptyBackoffMeansOneTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		c := consumer(t, l, func(context.Context, event.Message) (int, error) { return 0, errBroken },
			bus.Options{Backoff: []time.Duration{}})
		take(t, c, message("s", 1))
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if got := l.completions(); len(got) != 1 || got[0].Tries != 1 || got[0].Status != bus.Dead {
			t.Errorf("completions %+v", got)
		}
	})
}

func TestInFlightIsBounded(t *testing.T) {
	big := make([]byte, bus.MaxInFlightBytes/2)
	for _, test := range []struct {
		name string
		body []byte
		want int
	}{
		{"by count", nil, bus.MaxInFlight},
		{"by bytes", big, 2},
		{"one alone may be larger", make([]byte, bus.MaxInFlightBytes+1), 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ledger{gate: make(chan struct{})}
				c := consumer(t, l, func(context.Context, event.Message) (int, error) { return 1, nil }, bus.Options{})
				taken := 0
				ctx, cancel := context.WithCancelCause(t.Context())
				stopped := make(chan error)
				go func() {
					for {
						m := message("s", taken)
						m.Body = test.body
						if err := c.Take(ctx, bus.Delivery{Message: m}); err != nil {
							stopped <- err
							return
						}
						if taken++; taken == 3*test.want {
							cancel(errBroken)
						}
					}
				}()
				time.Sleep(time.Second)
				synctest.Wait()
				if taken != test.want {
					t.Errorf("%d taken while nothing is settled, want %d", taken, test.want)
				}
				l.gate <- struct{}{}
				time.Sleep(time.Second)
				synctest.Wait()
				if calls, _ := l.made(); taken != test.want+calls[0] {
					t.Errorf("%d taken once %d are settled, want as many more", taken, calls[0])
				}
				close(l.gate)
				if err := <-stopped; !errors.Is(err, errBroken) {
					t.Errorf("take: %v, want the context's cause", err)
				}
				time.Sleep(time.Second)
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				if len(l.settled) != taken {
					t.Errorf("%d settled of %d", len(l.settled), taken)
				}
			})
		})
	}
}

func TestSettlingIsBatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		begin := time.Now()
		c := consumer(t, l, func(context.Context, event.Message) (int, error) { return 1, nil }, bus.Options{})
		take(t, c, message("s", 1), message("s", 2))
		synctest.Wait()
		if calls, _ := l.made(); len(calls) != 0 {
			t.Errorf("settled at once: %v", calls)
		}
		time.Sleep(time.Second)
		if calls, times := l.made(); !slices.Equal(calls, []int{2}) || times[0].Sub(begin) != 100*time.Millisecond {
			t.Errorf("calls %v at %v, want 2 messages after 100 ms", calls, times)
		}
		begin = time.Now()
		for i := range 256 {
			take(t, c, message("s", i))
		}
		synctest.Wait()
		if calls, times := l.made(); len(calls) < 2 || times[1] != begin {
			t.Errorf("a full batch waited: calls %v at %v", calls, times)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if len(l.settled) != 258 {
			t.Errorf("%d settled, want 258", len(l.settled))
		}
	})
}

func TestSettlingIsTriedAgainWithTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{fail: errBroken}
		c := consumer(t, l, func(ctx context.Context, m event.Message) (int, error) {
			if m.Session == "late" {
				<-ctx.Done()
				time.Sleep(time.Second)
			}
			return 1, nil
		}, bus.Options{})
		take(t, c, message("s", 1), message("s", 2))
		time.Sleep(time.Second)
		if calls, _ := l.made(); len(calls) < 3 || len(calls) > 6 {
			t.Errorf("%d calls in a second, want some with growing waits", len(calls))
		}
		l.mu.Lock()
		l.fail = nil
		l.mu.Unlock()
		time.Sleep(10 * time.Second)
		if got := l.completions(); len(got) != 2 || got[0].ExportID != "s1" || got[1].ExportID != "s2" {
			t.Errorf("settled %+v", got)
		}
		l.mu.Lock()
		l.fail = errBroken
		l.mu.Unlock()
		take(t, c, message("s", 3))
		time.Sleep(time.Second)
		take(t, c, message("s", 4), message("late", 5))
		synctest.Wait()
		if err := c.Close(); !errors.Is(err, errBroken) {
			t.Errorf("close: %v, want the error of the last settling", err)
		}
		if last := l.calls[len(l.calls)-1]; last != 3 || !l.live {
			t.Errorf("the last settling had %d messages, context alive: %v", last, l.live)
		}
	})
}

func TestCloseLeavesWhatIsNotDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		c := consumer(t, l, func(ctx context.Context, m event.Message) (int, error) {
			switch m.Session {
			case "failing":
				return 0, errBroken
			case "running":
				<-ctx.Done()
				return 0, ctx.Err()
			case "late":
				<-ctx.Done()
				time.Sleep(time.Second)
			}
			return 1, nil
		}, bus.Options{})
		take(t, c, message("failing", 1), message("running", 1), message("running", 2), message("done", 1), message("late", 1))
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := l.completions(); len(got) != 2 || got[0].Session != "done" || got[1].Session != "late" {
			t.Errorf("settled %+v", got)
		}
		if err := c.Take(t.Context(), bus.Delivery{Message: message("s", 1)}); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("take after close: %v", err)
		}
	})
}

func TestCloseBeginsNothingAndBlamesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		var begun []string
		c := consumer(t, l, func(ctx context.Context, m event.Message) (int, error) {
			begun = append(begun, m.Session)
			<-ctx.Done()
			return 0, ctx.Err()
		}, bus.Options{Parallel: 1, Backoff: []time.Duration{}})
		take(t, c, message("running", 1), message("waiting", 1))
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if got := l.completions(); !slices.Equal(begun, []string{"running"}) || len(got) > 0 {
			t.Errorf("begun %v, settled %+v", begun, got)
		}
	})
}

// unheard is a context whose end is known before it reaches anyone who waits for it.
type unheard struct{ context.Context }

func (unheard) Err() error            { return context.Canceled }
func (unheard) Done() <-chan struct{} { return make(chan struct{}) }

func TestHandlersAreToldWhyTheParentEnded(t *testing.T) {
	running, cause := make(chan struct{}), make(chan error, 1)
	h := func(ctx context.Context, _ event.Message) (int, error) {
		close(running)
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return 0, ctx.Err()
	}
	o, err := bus.Check("indexer", h, bus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := bus.NewConsumer(unheard{t.Context()}, "indexer", h, o, (&ledger{}).settle, bus.Logger(nil))
	take(t, c, message("s", 1))
	<-running
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-cause; !errors.Is(err, context.Canceled) {
		t.Errorf("cause %v, want that of the parent", err)
	}
}

func TestSessionsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		c := consumer(t, &ledger{}, func(_ context.Context, m event.Message) (int, error) {
			order = append(order, m.ID)
			return 1, nil
		}, bus.Options{Parallel: 1})
		// The first message holds the only place while the others line up.
		hold := make(chan struct{})
		take(t, c)
		if err := c.Take(t.Context(), bus.Delivery{Message: message("x", 0), Load: func(context.Context) (event.Message, error) {
			<-hold
			return message("x", 0), nil
		}}); err != nil {
			t.Fatal(err)
		}
		take(t, c, message("a", 1), message("a", 2), message("a", 3), message("b", 1), message("b", 2))
		synctest.Wait()
		close(hold)
		synctest.Wait()
		if want := []string{"x0", "a1", "b1", "a2", "b2", "a3"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestLoadIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loads := 0
		var body string
		l := &ledger{}
		c := consumer(t, l, func(_ context.Context, m event.Message) (int, error) {
			body = string(m.Body)
			return 1, nil
		}, bus.Options{})
		whole := message("s", 1)
		whole.Body = []byte("whole")
		err := c.Take(t.Context(), bus.Delivery{Message: message("s", 1), Load: func(context.Context) (event.Message, error) {
			if loads++; loads < 3 {
				return event.Message{}, errBroken
			}
			return whole, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if got := l.completions(); body != "whole" || len(got) != 1 || got[0].Tries != 3 || got[0].Status != bus.OK {
			t.Errorf("body %q, completions %+v", body, got)
		}
	})
}

func TestErrorsAreShortened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		c := consumer(t, l, func(context.Context, event.Message) (int, error) {
			return 0, bus.Reject(errors.New("x" + strings.Repeat("ü", 5000)))
		}, bus.Options{})
		take(t, c, message("s", 1))
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		text := l.completions()[0].Error
		if len(text) > 2048 || len(text) < 2040 || !utf8.ValidString(text) || !strings.HasSuffix(text, "ü…") {
			t.Errorf("%d bytes: …%s", len(text), text[len(text)-10:])
		}
	})
}
