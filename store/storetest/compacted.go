package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// writeCheckpoints writes a row of every table that compression writes to, and changes those that change.
func (w *world) writeCheckpoints(tx store.Tx, info turn.SessionInfo) error {
	ctx, n := w.ctx(), int64(w.ids.Add(1))
	kept, gone := w.newID(), w.newID()
	return errors.Join(
		tx.Compress().InsertCheckpoint(ctx, info.Tenant, info.Segment, compressed(n, 1, 1)),
		tx.Compress().InsertCheckpoint(ctx, info.Tenant, info.Segment, compressed(n, 2, 1)),
		tx.Compress().PutBreaker(ctx, info.Tenant, info.Segment, `{}`, noon),
		tx.Compress().PutBreaker(ctx, info.Tenant, info.Segment, fmt.Sprintf(`{"failures":%d}`, n), noon),
		tx.Snapshot().InsertSnapshot(ctx, info.Tenant, info.Segment, taken(kept, 1)),
		tx.Snapshot().InsertSnapshot(ctx, info.Tenant, info.Segment, taken(gone, 1)),
		tx.Snapshot().DeleteSnapshot(ctx, info.Tenant, info.Segment, gone),
		second(tx.Snapshot().SweepSnapshots(ctx, info.Tenant, 100, 100)),
	)
}

// compressWrites are all methods that write what compression keeps, by name.
func (w *world) compressWrites(k turn.Key, segment int64) map[string]func(store.Tx) error {
	ctx := w.ctx()
	return map[string]func(store.Tx) error{
		"InsertCheckpoint": func(tx store.Tx) error {
			return tx.Compress().InsertCheckpoint(ctx, k.Tenant, segment, compressed(1, 1, 1))
		},
		"PutBreaker":     func(tx store.Tx) error { return tx.Compress().PutBreaker(ctx, k.Tenant, segment, `{}`, noon) },
		"InsertSnapshot": func(tx store.Tx) error { return tx.Snapshot().InsertSnapshot(ctx, k.Tenant, segment, taken("x", 1)) },
		"DeleteSnapshot": func(tx store.Tx) error { return tx.Snapshot().DeleteSnapshot(ctx, k.Tenant, segment, "x") },
		"SweepSnapshots": func(tx store.Tx) error { return second(tx.Snapshot().SweepSnapshots(ctx, k.Tenant, 0, 1)) },
	}
}

// compressReads are all methods that read it, by name.
func (w *world) compressReads(k turn.Key, along []turn.Span) map[string]func(store.Tx) error {
	ctx := w.ctx()
	return map[string]func(store.Tx) error{
		"Checkpoint":  func(tx store.Tx) error { return second(tx.Compress().Checkpoint(ctx, k.Tenant, along, 1, 1)) },
		"Checkpoints": func(tx store.Tx) error { return second(tx.Compress().Checkpoints(ctx, k.Tenant, along, 0, 1)) },
		"LastNumber":  func(tx store.Tx) error { return second(tx.Compress().LastNumber(ctx, k.Tenant, along)) },
		"Breaker":     func(tx store.Tx) error { return third(tx.Compress().Breaker(ctx, k.Tenant, along[0].Segment)) },
		"Snapshot":    func(tx store.Tx) error { return second(tx.Snapshot().Snapshot(ctx, k.Tenant, along, "x")) },
		"Snapshots":   func(tx store.Tx) error { return second(tx.Snapshot().Snapshots(ctx, k.Tenant, along, "", 1)) },
	}
}

// testExactCheckpoints reads strange texts, times and numbers back from every table of compression.
func testExactCheckpoints(t *testing.T, w *world) {
	info := w.create(w.key("strange"))
	spans := []turn.Span{{Segment: info.Segment, To: 1<<63 - 1}}
	times := []time.Time{noon, time.UnixMicro(-1).UTC(), time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)}
	n := int64(0)
	for name, text := range strangeTexts {
		n++
		at := times[n%int64(len(times))]
		c := compress.Row{Number: n << 50, Version: n << 49, AfterSeq: 1 << 60, Doc: text, At: at}
		s := snapshot.Row{ID: name, AfterSeq: 1 << 60, Auto: n%2 == 0, Doc: text, At: at}
		w.update(func(tx store.Tx) error {
			return errors.Join(
				tx.Compress().InsertCheckpoint(w.ctx(), w.tenant, info.Segment, c), tx.Snapshot().InsertSnapshot(w.ctx(), w.tenant, info.Segment, s),
				tx.Compress().PutBreaker(w.ctx(), w.tenant, info.Segment, text, at))
		})
		same(t, "checkpoint of "+name, w.checkpoint(w.tenant, spans, c.Number, c.Version), c)
		same(t, "page of "+name, w.checkpoints(w.tenant, spans, c.Number-1, 1<<62), []compress.Row{c})
		same(t, "last number of "+name, w.lastNumber(w.tenant, spans), c.Number)
		same(t, "snapshot of "+name, w.snapshot(w.tenant, spans, name), s)
		w.view(func(tx store.Tx) error {
			doc, _, err := tx.Compress().Breaker(w.ctx(), w.tenant, info.Segment)
			same(t, "breaker of "+name, doc, text)
			return err
		})
	}
}

// testSharedCheckpoints has both stores make the next checkpoint, age the first one and take a snapshot
// again and again, each in one update: one of them does all of it, the other nothing.
func testSharedCheckpoints(t *testing.T, a, b *world) {
	s := a.create(a.key("shared"))
	spans := upTo(s.Segment, 9)
	for number := int64(1); number <= 6; number++ {
		start, answers := make(chan struct{}), make(chan error, 2)
		for who, w := range map[string]*world{"a": a, "b": b} {
			made, aged, place := compressed(number, 1, number), compressed(1, number+1, number), taken(a.newID(), number)
			made.Doc = fmt.Sprintf(`{"by":%q}`, who)
			aged.Doc, place.Doc = made.Doc, made.Doc
			go func() {
				<-start
				answers <- w.Update(w.ctx(), func(tx store.Tx) error {
					for _, row := range []compress.Row{made, aged} {
						if err := tx.Compress().InsertCheckpoint(w.ctx(), s.Tenant, s.Segment, row); err != nil {
							return err
						}
					}
					return tx.Snapshot().InsertSnapshot(w.ctx(), s.Tenant, s.Segment, place)
				})
			}()
		}
		close(start)
		losers := 0
		for range 2 {
			if err := <-answers; err != nil {
				losers++
				is(t, "the loser", err, compress.ErrStale)
			}
		}
		if losers != 1 {
			t.Fatalf("%d of two could not make checkpoint %d", losers, number)
		}
		for _, w := range []*world{a, b} {
			made, aged := w.checkpoint(s.Tenant, spans, number, 1), w.checkpoint(s.Tenant, spans, 1, number+1)
			places := w.snapshots(s.Tenant, spans, "", 9)
			if last := w.lastNumber(s.Tenant, spans); last != number || len(places) != int(number) {
				t.Fatalf("the last checkpoint is %d of %d, with %d snapshots", last, number, len(places))
			}
			place := places[0]
			if places[0].AfterSeq != number {
				t.Fatalf("the last snapshot is %+v", place)
			}
			if made.Doc == "" || aged.Doc != made.Doc || place.Doc != made.Doc {
				t.Errorf("checkpoint %+v, aged %+v and snapshot %+v are not of one update", made, aged, place)
			}
		}
	}
}
