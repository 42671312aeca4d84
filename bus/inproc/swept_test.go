package inproc_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/inproc"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

// sweep empties the bodies of what was published so far.
func (d *desk) sweep() {
	d.t.Helper()
	err := d.store.Store.Update(d.t.Context(), func(tx store.Tx) error {
		_, err := tx.Outbox().SweepExports(d.t.Context(), tx.Now().Add(time.Hour), 1000)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// What is no longer kept is passed: the mark is not left behind it, whether anything follows or not.
func TestTheMarkPassesWhatWasSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.publish(3)
		d.sweep()
		d.subscribe("indexer")
		time.Sleep(2 * time.Second)
		d.handled("")
		if m := d.mark(nil); m.Through != 3 {
			t.Errorf("nothing follows: mark %+v", m)
		}
		d.close()
		d.bus = inproc.New(d.store, whole("body"), nil, inproc.Config{})
		d.publish(2)
		d.sweep()
		d.publish(1)
		d.subscribe("indexer")
		time.Sleep(2 * time.Second)
		d.handled("06")
		if m := d.mark(nil); m.Through != 6 {
			t.Errorf("one follows: mark %+v", m)
		}
		d.close()
	})
}

// What was swept before a known daemon saw it is told of once. A new daemon begins with what is kept.
func TestWhatWasSweptUnseenIsToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		var told strings.Builder
		again := func(seconds int) {
			t.Helper()
			log := slog.NewTextHandler(&told, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}})
			d.bus = inproc.New(d.store, whole("body"), nil, inproc.Config{Log: log})
			d.subscribe("indexer")
			time.Sleep(time.Duration(seconds) * time.Second)
			d.close()
		}
		expect := func(when string, counts ...int) {
			t.Helper()
			var want strings.Builder
			for _, n := range counts {
				fmt.Fprintf(&want, "level=WARN msg=\"exports were swept before a daemon saw them\" daemon=indexer exports=%d\n", n)
			}
			if told.String() != want.String() {
				t.Errorf("%s: told %q, want %q", when, &told, &want)
			}
			told.Reset()
		}
		d.publish(300)
		d.sweep()
		d.publish(1)
		again(2)
		expect("new")

		d.bus = inproc.New(d.store, whole("body"), nil, inproc.Config{})
		d.publish(300) // more than are read at once
		d.sweep()
		again(2)
		expect("nothing follows", 300)

		d.bus = inproc.New(d.store, whole("body"), nil, inproc.Config{})
		d.publish(2)
		d.sweep()
		d.publish(1)
		again(2)
		expect("one follows", 2)
		again(2)
		expect("once more")
	})
}

// A new daemon is told of what is swept while it is at work, too.
func TestWhatWasSweptUnseenOfANewDaemonIsToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		var told strings.Builder
		d.bus = inproc.New(d.store, whole("body"), nil, inproc.Config{Log: slog.NewTextHandler(&told, nil)})
		d.subscribe("indexer")
		time.Sleep(10 * time.Millisecond)
		d.publish(2)
		d.sweep()
		time.Sleep(2 * time.Second)
		d.close()
		if !strings.Contains(told.String(), "exports=2") {
			t.Errorf("told %q", &told)
		}
	})
}

// It is told of before a daemon that has much to do has done all of it.
func TestWhatWasSweptUnseenIsToldOfBeforeWhatFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.mark(func(m *event.Mark) { m.Daemon = "indexer" })
		d.publish(2)
		d.sweep()
		d.publish(bus.MaxInFlight + 10)
		var told strings.Builder
		d.bus = inproc.New(d.store, whole("body"), nil, inproc.Config{Log: slog.NewTextHandler(&told, nil)})
		done := make(chan struct{})
		_, err := d.bus.Subscribe(t.Context(), "indexer", func(context.Context, event.Message) (int, error) {
			<-done
			return 1, nil
		}, bus.Options{})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !strings.Contains(told.String(), "exports=2") {
			t.Errorf("told %q", &told)
		}
		close(done)
		d.close()
	})
}

// What was swept behind an export that is still worked on waits for it.
func TestTheMarkDoesNotPassWhatIsWorkedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.publish(1)
		done := make(chan struct{})
		_, err := d.bus.Subscribe(t.Context(), "indexer", func(context.Context, event.Message) (int, error) {
			<-done
			return 1, nil
		}, bus.Options{})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		d.publish(2)
		d.sweep()
		time.Sleep(10 * time.Second)
		if m := d.mark(nil); m.Through != 0 {
			t.Errorf("at work: mark %+v", m)
		}
		close(done)
		time.Sleep(time.Second)
		if m := d.mark(nil); m.Through != 3 {
			t.Errorf("done: mark %+v", m)
		}
		d.close()
	})
}

// The mark is moved past what was swept as soon as the store can be written to again.
func TestTheMarkPassesWhatWasSweptOnceItCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.subscribe("indexer")
		d.publish(2)
		d.sweep()
		away := fmt.Errorf("disk: %w", store.ErrUnavailable)
		d.store.updateErr.Store(&away)
		time.Sleep(3 * time.Second)
		d.store.updateErr.Store(nil)
		time.Sleep(time.Second)
		if m := d.mark(nil); m.Through != 2 {
			t.Errorf("mark %+v", m)
		}
		d.close()
	})
}
