package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// snapshot returns one, an empty one where there is none.
func (w *world) snapshot(tenant string, spans []turn.Span, id string) (row snapshot.Row) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		row, err = tx.Snapshot().Snapshot(w.ctx(), tenant, spans, id)
		if errors.Is(err, snapshot.ErrNotFound) {
			return nil
		}
		return err
	})
	return row
}

func (w *world) snapshots(tenant string, spans []turn.Span, before string, limit int) (rows []snapshot.Row) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		rows, err = tx.Snapshot().Snapshots(w.ctx(), tenant, spans, before, limit)
		return err
	})
	return rows
}

func testSnapshots(t *testing.T, w *world) {
	s := w.create(w.key("snapshots"))
	w.run("there is none before the first", func(t *testing.T) {
		w.view(func(tx store.Tx) error {
			row, err := tx.Snapshot().Snapshot(w.ctx(), s.Tenant, upTo(s.Segment, 9), "a")
			is(t, "none", err, snapshot.ErrNotFound)
			same(t, "none", row, snapshot.Row{})
			return nil
		})
		same(t, "all", w.snapshots(s.Tenant, upTo(s.Segment, 9), "", 9), []snapshot.Row(nil))
	})

	// Ids are compared by their bytes; their order is not that of the turns after a clock was set back.
	a, b, c, z := taken("a", 2), takenByItself("B", 4), takenByItself("c", 4), taken("z", 3)
	w.take(s, z, b, a, c)

	w.run("each is found by its id, if it is along the span", func(t *testing.T) {
		for _, row := range []snapshot.Row{a, b, c, z} {
			same(t, row.ID, w.snapshot(s.Tenant, upTo(s.Segment, row.AfterSeq), row.ID), row)
			same(t, row.ID+" too early", w.snapshot(s.Tenant, upTo(s.Segment, row.AfterSeq-1), row.ID), snapshot.Row{})
		}
		same(t, "no spans", w.snapshot(s.Tenant, nil, "a"), snapshot.Row{})
		same(t, "another id", w.snapshot(s.Tenant, upTo(s.Segment, 9), "A"), snapshot.Row{})
	})

	w.run("pages go down from the newest", func(t *testing.T) {
		for _, test := range []struct {
			to     int64
			before string
			limit  int
			want   []snapshot.Row
		}{
			{9, "", 9, []snapshot.Row{z, c, a, b}},
			{9, "", 2, []snapshot.Row{z, c}},
			{9, "c", 2, []snapshot.Row{a, b}},
			{9, "b", 1, []snapshot.Row{a}},
			{9, "zz", 1, []snapshot.Row{z}},
			{3, "", 9, []snapshot.Row{z, a}},
			{3, "z", 9, []snapshot.Row{a}},
			{3, "", 1, []snapshot.Row{z}},
			{9, "B", 9, nil},
			{9, "", 0, nil},
			{9, "", -1, nil},
		} {
			same(t, fmt.Sprintf("%d before %q up to turn %d", test.limit, test.before, test.to),
				w.snapshots(s.Tenant, upTo(s.Segment, test.to), test.before, test.limit), test.want)
		}
	})

	aside := w.create(w.key("aside"))
	w.run("an id that the tenant has is refused, and the update may go on", func(t *testing.T) {
		next := taken("d", 5)
		w.update(func(tx store.Tx) error {
			is(t, "taken", tx.Snapshot().InsertSnapshot(w.ctx(), s.Tenant, s.Segment, taken("a", 5)), snapshot.ErrExists)
			is(t, "taken elsewhere", tx.Snapshot().InsertSnapshot(w.ctx(), s.Tenant, aside.Segment, taken("a", 5)), snapshot.ErrExists)
			return tx.Snapshot().InsertSnapshot(w.ctx(), s.Tenant, aside.Segment, next)
		})
		same(t, "the old one", w.snapshot(s.Tenant, upTo(s.Segment, 9), "a"), a)
		same(t, "the new one", w.snapshots(s.Tenant, upTo(aside.Segment, 9), "", 9), []snapshot.Row{next})
		same(t, "of another segment", w.snapshot(s.Tenant, upTo(s.Segment, 9), "d"), snapshot.Row{})
	})

	w.run("tenants are apart", func(t *testing.T) {
		there := w.create(w.elsewhere("there", "s"))
		w.take(there, taken("a", 1))
		same(t, "theirs", w.snapshots(there.Tenant, upTo(there.Segment, 9), "", 9), []snapshot.Row{taken("a", 1)})
		same(t, "another tenant", w.snapshots("other", upTo(s.Segment, 9), "", 9), []snapshot.Row(nil))
		same(t, "another tenant's", w.snapshot("other", upTo(s.Segment, 9), "a"), snapshot.Row{})
	})

	w.run("one of the segment's own is deleted", func(t *testing.T) {
		w.update(func(tx store.Tx) error {
			is(t, "of another segment", tx.Snapshot().DeleteSnapshot(w.ctx(), s.Tenant, aside.Segment, "c"), snapshot.ErrNotFound)
			is(t, "of another tenant", tx.Snapshot().DeleteSnapshot(w.ctx(), "other", s.Segment, "c"), snapshot.ErrNotFound)
			is(t, "none", tx.Snapshot().DeleteSnapshot(w.ctx(), s.Tenant, s.Segment, "C"), snapshot.ErrNotFound)
			err := tx.Snapshot().DeleteSnapshot(w.ctx(), s.Tenant, s.Segment, "c")
			is(t, "twice", tx.Snapshot().DeleteSnapshot(w.ctx(), s.Tenant, s.Segment, "c"), snapshot.ErrNotFound)
			return err
		})
		same(t, "left", w.snapshots(s.Tenant, upTo(s.Segment, 9), "", 9), []snapshot.Row{z, a, b})
		same(t, "it", w.snapshot(s.Tenant, upTo(s.Segment, 9), "c"), snapshot.Row{})
		w.take(s, c)
		same(t, "taken again", w.snapshots(s.Tenant, upTo(s.Segment, 9), "", 9), []snapshot.Row{z, c, a, b})
	})

	w.run("a failing update takes and deletes nothing", func(t *testing.T) {
		boom := errors.New("boom")
		err := w.Update(w.ctx(), func(tx store.Tx) error {
			err := errors.Join(
				tx.Snapshot().InsertSnapshot(w.ctx(), s.Tenant, s.Segment, taken("e", 5)),
				tx.Snapshot().DeleteSnapshot(w.ctx(), s.Tenant, s.Segment, "c"))
			rows, err2 := tx.Snapshot().Snapshots(w.ctx(), s.Tenant, upTo(s.Segment, 9), "", 9)
			same(t, "inside", rows, []snapshot.Row{z, taken("e", 5), a, b})
			swept, err3 := tx.Snapshot().SweepSnapshots(w.ctx(), s.Tenant, 0, 9)
			same(t, "swept inside", swept, int64(1))
			return errors.Join(err, err2, err3, boom)
		})
		is(t, "update", err, boom)
		same(t, "afterwards", w.snapshots(s.Tenant, upTo(s.Segment, 9), "", 9), []snapshot.Row{z, c, a, b})
		w.update(func(tx store.Tx) error {
			swept, err := tx.Snapshot().SweepSnapshots(w.ctx(), s.Tenant, 2, 9)
			same(t, "swept afterwards", swept, int64(0))
			return err
		})
	})

	w.run("a fork has those of its parent up to the fork point, and its own", func(t *testing.T) {
		root, child := w.create(w.key("root")).Key, w.key("child")
		w.append(root, says(4)...)
		early, late, own := taken("root-1", 2), taken("root-2", 4), taken("child-1", 4)
		w.take(w.session(root), early)
		w.fork(root, 3, child)
		w.append(child, says(1)...)
		w.take(w.session(root), late)
		info := w.session(child)
		w.take(info, own)
		spans := info.Spans(4)
		same(t, "all", w.snapshots(root.Tenant, spans, "", 9), []snapshot.Row{early, own})
		same(t, "the newest", w.snapshots(root.Tenant, spans, "", 1), []snapshot.Row{early})
		same(t, "inherited", w.snapshot(root.Tenant, spans, early.ID), early)
		same(t, "own", w.snapshot(root.Tenant, spans, own.ID), own)
		same(t, "the parent's alone", w.snapshot(root.Tenant, spans, late.ID), snapshot.Row{})
		w.update(func(tx store.Tx) error {
			is(t, "delete of an inherited one", tx.Snapshot().DeleteSnapshot(w.ctx(), root.Tenant, info.Segment, early.ID), snapshot.ErrNotFound)
			return nil
		})
	})
}

// testSweptSnapshots keeps the newest automatic ones of every session of one tenant, and all of the others.
func testSweptSnapshots(t *testing.T, w *world) {
	one, two, few := w.create(w.key("one")), w.create(w.key("two")), w.create(w.key("few"))
	there := w.create(w.elsewhere("there", "s"))
	for n := range 5 {
		w.take(one, takenByItself(fmt.Sprintf("one-%d", n), int64(5-n)))
		w.take(two, takenByItself(fmt.Sprintf("two-%d", n), 1))
		w.take(there, takenByItself(fmt.Sprintf("one-%d", n), 1))
	}
	w.take(few, takenByItself("few-0", 1), takenByItself("few-1", 1))
	// Older and newer than the automatic ones, and more than are kept.
	mine := w.create(w.key("mine"))
	w.take(mine, taken("mine-0", 1), taken("mine-1", 1), takenByItself("mine-2", 1), taken("mine-3", 1), taken("mine-4", 1))
	left := func(s turn.SessionInfo) (ids []string) {
		for _, row := range w.snapshots(s.Tenant, upTo(s.Segment, 9), "", 9) {
			ids = append(ids, row.ID)
		}
		return ids
	}
	sweep := func(keep, limit int) (took int64) {
		w.update(func(tx store.Tx) (err error) {
			took, err = tx.Snapshot().SweepSnapshots(w.ctx(), w.tenant, keep, limit)
			return err
		})
		return took
	}

	w.run("up to the limit, the oldest of a session first", func(t *testing.T) {
		for _, limit := range []int{-1, 0} {
			same(t, "none", sweep(3, limit), int64(0))
		}
		same(t, "one", sweep(3, 1), int64(1))
		if a, b := len(left(one)), len(left(two)); a+b != 9 {
			t.Errorf("%d and %d are left of ten after one was taken", a, b)
		}
		for _, s := range []turn.SessionInfo{one, two} {
			if ids := left(s); ids[0] != s.Session+"-4" || ids[3] != s.Session+"-1" {
				t.Errorf("left are %v", ids)
			}
		}
	})

	w.run("the newest of every session stay", func(t *testing.T) {
		same(t, "the rest", sweep(3, 100), int64(3))
		same(t, "one", left(one), []string{"one-4", "one-3", "one-2"})
		same(t, "two", left(two), []string{"two-4", "two-3", "two-2"})
		same(t, "few", left(few), []string{"few-1", "few-0"})
		same(t, "again", sweep(3, 100), int64(0))
		same(t, "those of the user do not count", len(left(mine)), 5)
		same(t, "another tenant's", len(left(there)), 5)
	})

	w.run("none stays where none is kept", func(t *testing.T) {
		same(t, "all but one of each", sweep(1, 100), int64(5))
		same(t, "few", left(few), []string{"few-1"})
		same(t, "all", sweep(-1, 100), int64(4))
		for _, s := range []turn.SessionInfo{one, two, few} {
			same(t, s.Session, left(s), []string(nil))
		}
		same(t, "those of the user", left(mine), []string{"mine-4", "mine-3", "mine-1", "mine-0"})
		same(t, "another tenant's", len(left(there)), 5)
	})
}
