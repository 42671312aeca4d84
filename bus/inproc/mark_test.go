package inproc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/inproc"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// desk is a mem store with a bus, in a bubble of fake time.
type desk struct {
	t     *testing.T
	store *flaky
	bus   *inproc.Bus
	made  int

	mu  sync.Mutex // guards got
	got []string
}

// flaky is a store that can be away.
type flaky struct {
	store.Store
	viewErr, updateErr atomic.Pointer[error]
	stuck              atomic.Bool  // updates do not return before their context ends
	late               atomic.Int64 // how much later updates return, a time.Duration
}

func (f *flaky) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := f.viewErr.Load(); err != nil {
		return *err
	}
	return f.Store.View(ctx, fn)
}

func (f *flaky) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := f.updateErr.Load(); err != nil {
		return *err
	}
	if f.stuck.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	defer func() { time.Sleep(time.Duration(f.late.Load())) }()
	return f.Store.Update(ctx, fn)
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, store: &flaky{Store: mem.New(mem.Config{})}}
	d.bus = inproc.New(d.store, whole("body"), nil, inproc.Config{})
	return d
}

// publish adds exports and notes them as published, without telling the bus.
func (d *desk) publish(n int) {
	d.t.Helper()
	ctx := d.t.Context()
	err := d.store.Store.Update(ctx, func(tx store.Tx) error {
		for range n {
			d.made++
			e := event.Export{
				Body:   "{}",
				Tenant: "t", Session: "s", Segment: 1, ID: fmt.Sprintf("%02d", d.made), TurnID: "u",
				First: int64(d.made), Last: int64(d.made), Status: "complete", At: tx.Now(),
			}
			if err := tx.Outbox().InsertExport(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.store.Store.Publish(ctx, n, store.Publication{Send: d.bus.Publish}); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) subscribe(name string) *bus.Subscription {
	d.t.Helper()
	s, err := d.bus.Subscribe(d.t.Context(), name, func(_ context.Context, m event.Message) (int, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.got = append(d.got, m.ID)
		return 1, nil
	}, bus.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *desk) handled(want string) {
	d.t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if got := strings.Join(d.got, " "); got != want {
		d.t.Errorf("handled %q, want %q", got, want)
	}
}

// mark changes the daemon's mark, if change is not nil, and returns it.
func (d *desk) mark(change func(*event.Mark)) event.Mark {
	d.t.Helper()
	var m event.Mark
	err := d.store.Store.Update(d.t.Context(), func(tx store.Tx) (err error) {
		if m, _, err = tx.Outbox().Mark(d.t.Context(), "indexer"); err != nil || change == nil {
			return err
		}
		change(&m)
		return tx.Outbox().PutMark(d.t.Context(), m)
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return m
}

func (d *desk) close() {
	d.t.Helper()
	if err := d.bus.Close(); err != nil {
		d.t.Error(err)
	}
}

func TestMarkIsHeldRenewedAndLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.subscribe("indexer")
		d.publish(3)
		time.Sleep(2 * time.Second)
		d.handled("01 02 03")
		if m := d.mark(nil); m.Through != 3 || m.Holder == "" {
			t.Errorf("mark %+v", m)
		}
		time.Sleep(time.Minute)
		if left := time.Until(d.mark(nil).Until); left < 9*time.Second || left > 15*time.Second {
			t.Errorf("the lease has %v left, want it renewed every 5 s for 15 s", left)
		}
		d.close()
		if m := d.mark(nil); m.Through != 3 || m.Holder != "" || !m.Until.IsZero() {
			t.Errorf("after close: mark %+v", m)
		}
	})
}

func TestOtherProcessesExportsAreFoundByLooking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.subscribe("indexer")
		time.Sleep(10 * time.Millisecond)
		d.publish(1)
		d.handled("")
		time.Sleep(time.Second)
		d.handled("01")
		d.publish(1)
		d.bus.Announce()
		d.handled("01 02")
		d.close()
	})
}

func TestALostMarkEndsTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.subscribe("indexer")
		d.publish(1)
		time.Sleep(2 * time.Second)
		d.handled("01")
		until := time.Now().Add(time.Minute)
		d.mark(func(m *event.Mark) { m.Holder, m.Until = "another", until })
		time.Sleep(10 * time.Second)
		d.publish(1)
		time.Sleep(10 * time.Second)
		d.handled("01")
		if m := d.mark(nil); m.Holder != "another" || m.Through != 1 {
			t.Errorf("the other's mark was touched: %+v", m)
		}
		// The other gives no sign of life any more.
		time.Sleep(time.Until(until) + 2*time.Second)
		d.handled("01 02")
		d.close()
	})
}

func TestAMarkThatMovedOnIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.publish(4)
		d.mark(func(m *event.Mark) { *m = event.Mark{Daemon: "indexer", Through: 2} })
		d.subscribe("indexer")
		d.handled("03 04")
		d.close()
	})
}

func TestARemovedMarkBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.subscribe("indexer")
		d.publish(2)
		time.Sleep(2 * time.Second)
		err := d.store.Update(t.Context(), func(tx store.Tx) error { return tx.Outbox().DeleteMark(t.Context(), "indexer") })
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		d.handled("01 02 01 02")
		d.close()
	})
}

func TestAStoreThatIsAwayIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.subscribe("indexer")
		away := fmt.Errorf("disk: %w", store.ErrUnavailable)
		d.store.viewErr.Store(&away)
		d.publish(2)
		time.Sleep(10 * time.Second)
		d.handled("")
		d.store.viewErr.Store(nil)
		time.Sleep(2 * time.Second)
		d.handled("01 02")
		d.store.updateErr.Store(&away)
		d.publish(1)
		time.Sleep(2 * time.Second)
		d.handled("01 02 03")
		d.store.updateErr.Store(nil)
		time.Sleep(10 * time.Second)
		if m := d.mark(nil); m.Through != 3 {
			t.Errorf("mark %+v", m)
		}
		d.handled("01 02 03")
		d.close()
	})
}

// scribe notes the exports whose completions it was given.
type scribe struct {
	mu  sync.Mutex // guards ids
	ids []string
}

func (s *scribe) Completed(_ context.Context, done []bus.Completion) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range done {
		s.ids = append(s.ids, c.ExportID)
	}
	return nil
}

func TestWhatIsRecordedIsNotRecordedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, record := newDesk(t), &scribe{}
		d.bus = inproc.New(d.store, whole("body"), record, inproc.Config{})
		d.subscribe("indexer")
		synctest.Wait()
		away := fmt.Errorf("disk: %w", store.ErrUnavailable)
		d.store.updateErr.Store(&away) // the mark cannot move
		d.publish(2)
		time.Sleep(2 * time.Second)
		d.store.updateErr.Store(nil)
		time.Sleep(10 * time.Second)
		d.publish(1)
		time.Sleep(2 * time.Second)
		d.close()
		if got := strings.Join(record.ids, " "); got != "01 02 03" {
			t.Errorf("recorded %s", got)
		}
	})
}

func TestWhoCannotRenewGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.subscribe("indexer")
		away := fmt.Errorf("disk: %w", store.ErrUnavailable)
		time.Sleep(time.Second)
		d.store.updateErr.Store(&away)
		time.Sleep(30 * time.Second)
		d.publish(1)
		time.Sleep(10 * time.Second)
		d.handled("") // another may hold the mark by now
		d.store.updateErr.Store(nil)
		time.Sleep(2 * time.Second)
		d.handled("01")
		d.close()
	})
}

// TestWhoIsStuckGivesUpInTime: the lease runs out while an update hangs, and who stands by takes over then.
func TestWhoIsStuckGivesUpInTime(t *testing.T) {
	for name, test := range map[string]struct {
		late, after, want time.Duration
	}{
		"renewed after five seconds": {0, 6 * time.Second, 20 * time.Second},
		"taken with a late answer":   {4 * time.Second, 0, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				d.publish(1)
				begin := time.Now()
				told := make(chan time.Duration, 10) // once a lease, since the message comes again
				d.store.late.Store(int64(test.late))
				_, err := d.bus.Subscribe(t.Context(), "indexer", func(ctx context.Context, _ event.Message) (int, error) {
					<-ctx.Done()
					told <- time.Since(begin)
					return 0, ctx.Err()
				}, bus.Options{Timeout: time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				d.store.late.Store(0)
				time.Sleep(test.after)
				d.store.stuck.Store(true)
				time.Sleep(time.Minute)
				if got := <-told; got != test.want {
					t.Errorf("the handler was told to stop after %s, want %s", got, test.want)
				}
				d.store.stuck.Store(false)
				d.close()
			})
		})
	}
}

func TestCloseSaysWhatWasNotNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.subscribe("indexer")
		d.publish(1)
		d.bus.Announce()
		synctest.Wait()
		away := errors.New("disk gone")
		d.store.updateErr.Store(&away)
		if err := d.bus.Close(); !errors.Is(err, away) {
			t.Errorf("close: %v", err)
		}
	})
}

func TestSubscribeNeedsTheStore(t *testing.T) {
	d := newDesk(t)
	away := errors.New("disk gone")
	d.store.viewErr.Store(&away)
	_, err := d.bus.Subscribe(t.Context(), "indexer", func(context.Context, event.Message) (int, error) { return 0, nil }, bus.Options{})
	if !errors.Is(err, away) || !strings.Contains(err.Error(), "subscribe daemon indexer") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := d.bus.Publish(ctx, make([]event.Export, 2)); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("publish: %d, %v", n, err)
	}
}
