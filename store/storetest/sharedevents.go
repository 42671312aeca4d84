package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

// next reads on behind a place as an engine does. It is safe for concurrent use.
func (w *world) next(ctx context.Context, after int64) (found []event.Event, err error) {
	err = w.Update(ctx, func(tx store.Tx) error {
		if err := tx.Outbox().PlaceEvents(ctx, w.tenant); err != nil {
			return err
		}
		found, err = tx.Outbox().Events(ctx, w.tenant, "", after, 7)
		// What became visible between the two has no place yet.
		found = slices.DeleteFunc(found, func(e event.Event) bool { return e.Place == 0 })
		return err
	})
	return found, err
}

// testSharedEvents has both stores write events and both read them meanwhile.
func testSharedEvents(t *testing.T, a, b *world) {
	const writers, rounds = 4, 12
	var writing sync.WaitGroup
	errs := make(chan error, writers+2)
	for i := range writers {
		w := []*world{a, b}[i%2]
		writing.Go(func() {
			for n := range rounds {
				session := fmt.Sprintf("%d", i)
				if err := w.announced(w.happened(session, event.SessionEnded, ""), w.happened(session, event.Undone, "")); err != nil {
					errs <- fmt.Errorf("writer %d, round %d: %w", i, n, err)
					return
				}
			}
		})
	}
	written := make(chan struct{})
	go func() {
		writing.Wait()
		close(written)
	}()
	read := make([][]event.Event, 2)
	var reading sync.WaitGroup
	for i, w := range []*world{a, b} {
		reading.Go(func() {
			after := int64(0)
			for over := false; ; {
				page, err := w.next(t.Context(), after)
				if err != nil {
					errs <- fmt.Errorf("reader %d: %w", i, err)
					return
				}
				for _, e := range page {
					after = e.Place
				}
				read[i] = append(read[i], page...)
				if over && len(page) == 0 {
					return
				}
				select {
				case <-written:
					over = true
				default:
				}
			}
		})
	}
	reading.Wait()
	select {
	case err := <-errs:
		t.Fatal(err)
	default:
	}
	same(t, "what the second read", read[1], read[0])
	once := make(map[string]bool)
	for _, e := range read[0] {
		once[e.ID] = true
	}
	if len(once) != 2*writers*rounds || len(read[0]) != len(once) {
		t.Errorf("%d events were read, %d of them once, want %d", len(read[0]), len(once), 2*writers*rounds)
	}
	same(t, "read again", a.events(a.tenant, "", 0, 1000), read[0])
}

// testLateEvent has one store write an event and become durable only after the other one wrote and read. Where writers
// wait for each other the other one does so afterwards.
func testLateEvent(t *testing.T, a, b *world) {
	a.announce(a.happened("first", event.SessionEnded, ""))
	late, early := a.happened("late", event.SessionEnded, ""), b.happened("early", event.SessionEnded, "")
	inserted, release, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var once sync.Once
	go func() {
		done <- a.Update(a.ctx(), func(tx store.Tx) error {
			if err := tx.Outbox().InsertEvent(a.ctx(), late); err != nil {
				return err
			}
			// Whatever is answered, the event has reached the database by then.
			if _, err := tx.Outbox().LastPlace(a.ctx(), a.tenant); err != nil {
				return err
			}
			once.Do(func() { close(inserted) })
			<-release
			return nil
		})
	}()
	<-inserted
	ctx, cancel := context.WithTimeout(b.ctx(), 2*time.Second)
	defer cancel()
	err := b.Update(ctx, func(tx store.Tx) error { return tx.Outbox().InsertEvent(ctx, early) })
	waits := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrLocked)
	if err != nil && !waits {
		t.Fatal(err)
	}
	var read []event.Event
	if !waits {
		if read, err = b.next(ctx, 0); err != nil {
			t.Fatal(err)
		}
		same(t, "read before it is there", sessionsOf(read), []string{"first", "early"})
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if waits {
		b.announce(early)
	}
	after := int64(0)
	for _, e := range read {
		after = e.Place
	}
	for range 2 {
		page, err := b.next(b.ctx(), after)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			after = e.Place
		}
		read = append(read, page...)
	}
	want := []string{"first", "early", "late"}
	if waits {
		want = []string{"first", "late", "early"}
	}
	same(t, "everything", sessionsOf(read), want)
	same(t, "read again", a.events(a.tenant, "", 0, 9), read)
}

func sessionsOf(events []event.Event) (names []string) {
	for _, e := range events {
		names = append(names, e.Session)
	}
	return names
}
