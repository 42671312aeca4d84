package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// compressed makes a version of a checkpoint; its document names it.
func compressed(number, version, afterSeq int64) compress.Row {
	return compress.Row{
		Number: number, Version: version, AfterSeq: afterSeq, Doc: fmt.Sprintf(`{"checkpoint":%d,"version":%d,"city":"東京"}`, number, version),
		At: noon.Add(time.Duration(10*number+version) * time.Microsecond),
	}
}

// taken makes a snapshot; its document names it.
func taken(id string, afterSeq int64) snapshot.Row {
	return snapshot.Row{ID: id, AfterSeq: afterSeq, Doc: fmt.Sprintf(`{"snapshot":%q,"city":"東京"}`, id), At: noon.Add(time.Duration(afterSeq) * time.Second)}
}

// takenByItself makes a snapshot that the engine took.
func takenByItself(id string, afterSeq int64) snapshot.Row {
	row := taken(id, afterSeq)
	row.Auto = true
	return row
}

// compress adds versions of checkpoints.
func (w *world) compress(s turn.SessionInfo, rows ...compress.Row) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for _, r := range rows {
			if err := tx.Compress().InsertCheckpoint(w.ctx(), s.Tenant, s.Segment, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// take adds snapshots.
func (w *world) take(s turn.SessionInfo, rows ...snapshot.Row) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for _, r := range rows {
			if err := tx.Snapshot().InsertSnapshot(w.ctx(), s.Tenant, s.Segment, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// fillCompressed adds what compression leaves.
func fillCompressed(w *world) {
	w.Helper()
	zeta, leaf, other := w.session(w.key("zeta")), w.session(w.key("leaf")), w.session(turn.Key{Tenant: "zoo", Session: "other"})
	w.compress(zeta, compressed(1, 1, 4), compressed(2, 1, 5), compressed(1, 2, 5), compressed(1, 3, 6))
	w.compress(leaf, compressed(1, 2, 5))
	w.compress(other, compressed(1, 1, 2))
	w.take(zeta, taken(w.newID(), 4), takenByItself(w.newID(), 6))
	w.take(leaf, taken(w.newID(), 5))
	w.take(zeta, taken(w.newID(), 5))
	w.take(other, taken(w.newID(), 0))
	ctx := w.ctx()
	w.update(func(tx store.Tx) error {
		return errors.Join(
			tx.Compress().PutBreaker(ctx, zeta.Tenant, zeta.Segment, `{"failures":3}`, noon),
			tx.Compress().PutBreaker(ctx, leaf.Tenant, leaf.Segment, `{}`, noon.Add(time.Second)),
			tx.Compress().PutBreaker(ctx, other.Tenant, other.Segment, `{"failures":1}`, noon),
		)
	})
}
