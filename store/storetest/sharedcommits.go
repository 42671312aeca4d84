package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testSharedPublishers(t *testing.T, a, b *world) { publishAtOnce(t, a, b) }

// testSharedHand has one store publish while the other has the session in hand.
func testSharedHand(t *testing.T, a, b *world) {
	s := a.create(a.key("shared"))
	first, second := a.exported(s, 1, 2), a.exported(s, 3, 4)
	a.export(first, second)
	sending, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		_, err := a.Publish(a.ctx(), 1, store.Publication{Send: func(context.Context, []event.Export) (int, error) {
			close(sending)
			<-release
			return 1, nil
		}})
		done <- err
	}()
	<-sending
	// The other store may wait for the first one or find nothing to do, but never send.
	ctx, cancel := context.WithTimeout(b.ctx(), 300*time.Millisecond)
	defer cancel()
	n, err := b.Publish(ctx, 10, store.Publication{Send: func(_ context.Context, exports []event.Export) (int, error) {
		t.Errorf("%v was sent while the session was in hand", exportIDs(exports))
		return 0, nil
	}})
	if n != 0 || err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, store.ErrLocked) {
		t.Errorf("the other store: %d, %v", n, err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	same(t, "the rest", exportIDs(b.publish(10)), []string{second.ID})
	published, _ := a.published(0, 10)
	same(t, "published", exportIDs(published), []string{first.ID, second.ID})
}

// testSharedVersions has both stores write the next version of one goal again and again.
func testSharedVersions(t *testing.T, a, b *world) {
	s := a.create(a.key("shared"))
	spans := []turn.Span{{Segment: s.Segment, From: 1, To: 9}}
	const rounds = 8
	type told struct {
		who string
		err error
	}
	for version := range int64(rounds) {
		start, answers := make(chan struct{}), make(chan told, 2)
		for who, w := range map[string]*world{"a": a, "b": b} {
			row := intend("goal", version+1, 0, true)
			row.Change = fmt.Sprintf(`{"by":%q}`, who)
			go func() {
				<-start
				answers <- told{who, w.Update(w.ctx(), func(tx store.Tx) error {
					return tx.Cortex().InsertVersion(w.ctx(), s.Tenant, s.Segment, row)
				})}
			}()
		}
		close(start)
		var winners []string
		for range 2 {
			switch answer := <-answers; {
			case answer.err == nil:
				winners = append(winners, answer.who)
			default:
				is(t, "the loser", answer.err, cortex.ErrStale)
			}
		}
		if len(winners) != 1 {
			t.Fatalf("version %d was written by %q", version+1, winners)
		}
		for _, w := range []*world{a, b} {
			rows := w.newest(s.Tenant, spans, true)
			if len(rows) != 1 || rows[0].Version != version+1 || rows[0].Change != fmt.Sprintf(`{"by":%q}`, winners[0]) {
				t.Errorf("%q won, read is %+v", winners[0], rows)
			}
		}
	}
	same(t, "versions", len(a.versions(s.Tenant, spans, cortex.KindGoal, "goal")), rounds)
}

// testSharedMark has both stores move one mark, from before there is one: no step may be lost.
func testSharedMark(t *testing.T, a, b *world) {
	const steps = 15
	errs := make(chan error, 2)
	for who, w := range map[string]*world{"a": a, "b": b} {
		go func() {
			var err error
			for i := 0; i < steps && err == nil; i++ {
				err = w.Update(w.ctx(), func(tx store.Tx) error {
					m, _, err := tx.Outbox().Mark(w.ctx(), "daemon")
					if err != nil {
						return err
					}
					m.Daemon, m.Through, m.Holder, m.Until = "daemon", m.Through+1, who, noon
					return tx.Outbox().PutMark(w.ctx(), m)
				})
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	b.view(func(tx store.Tx) error {
		m, _, err := tx.Outbox().Mark(b.ctx(), "daemon")
		same(t, "steps", m.Through, int64(2*steps))
		return err
	})
}
