package storetest

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// lastEpoch returns the last epoch, an empty one where there is none.
func (w *world) lastEpoch(tenant string, spans []turn.Span) (e prompt.EpochRow) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		e, err = tx.Prompt().LastEpoch(w.ctx(), tenant, spans)
		return none(err)
	})
	return e
}

func (w *world) epoch(tenant string, spans []turn.Span, number int64) (e prompt.EpochRow) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		e, err = tx.Prompt().Epoch(w.ctx(), tenant, spans, number)
		return none(err)
	})
	return e
}

func (w *world) epochs(tenant string, spans []turn.Span, after int64, limit int) (rows []prompt.EpochRow) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		rows, err = tx.Prompt().Epochs(w.ctx(), tenant, spans, after, limit)
		return err
	})
	return rows
}

// none forgives that something is not there.
func none(err error) error {
	if errors.Is(err, prompt.ErrNotFound) {
		return nil
	}
	return err
}

// upTo is one segment up to a turn. Where a span begins does not matter.
func upTo(segment, to int64) []turn.Span { return []turn.Span{{Segment: segment, From: 99, To: to}} }

func testEpochs(t *testing.T, w *world) {
	s := w.create(w.key("epochs"))
	w.run("there is none before the first", func(t *testing.T) {
		w.view(func(tx store.Tx) error {
			for what, read := range map[string]func() (prompt.EpochRow, error){
				"last":     func() (prompt.EpochRow, error) { return tx.Prompt().LastEpoch(w.ctx(), s.Tenant, upTo(s.Segment, 9)) },
				"first":    func() (prompt.EpochRow, error) { return tx.Prompt().Epoch(w.ctx(), s.Tenant, upTo(s.Segment, 9), 1) },
				"no spans": func() (prompt.EpochRow, error) { return tx.Prompt().LastEpoch(w.ctx(), s.Tenant, nil) },
			} {
				e, err := read()
				is(t, what, err, prompt.ErrNotFound)
				same(t, what, e, prompt.EpochRow{})
			}
			return nil
		})
		same(t, "all", w.epochs(s.Tenant, upTo(s.Segment, 9), 0, 9), []prompt.EpochRow{})
	})

	one, two, three, ten := opened(1, 0), opened(2, 4), opened(3, 4), opened(10, 8)
	w.openEpochs(s, ten, one, three, two)

	w.run("the last has the highest number along the span", func(t *testing.T) {
		for to, want := range map[int64]prompt.EpochRow{-1: {}, 0: one, 3: one, 4: three, 7: three, 8: ten, 1<<63 - 1: ten} {
			same(t, "last", w.lastEpoch(s.Tenant, upTo(s.Segment, to)), want)
		}
	})

	w.run("each is found by its number, if it is along the span", func(t *testing.T) {
		for number, want := range map[int64]prompt.EpochRow{0: {}, 1: one, 2: two, 3: three, 4: {}, 10: {}} {
			same(t, "epoch", w.epoch(s.Tenant, upTo(s.Segment, 7), number), want)
		}
	})

	w.run("pages go up by number", func(t *testing.T) {
		for _, c := range []struct {
			to, after int64
			limit     int
			want      []prompt.EpochRow
		}{
			{9, 0, 9, []prompt.EpochRow{one, two, three, ten}},
			{9, 0, 3, []prompt.EpochRow{one, two, three}},
			{9, 3, 3, []prompt.EpochRow{ten}},
			{4, 1, 9, []prompt.EpochRow{two, three}},
			{9, 10, 9, nil},
			{9, 0, 0, nil},
			{9, 0, -1, nil},
		} {
			same(t, "page", w.epochs(s.Tenant, upTo(s.Segment, c.to), c.after, c.limit), c.want)
		}
	})

	w.run("a number that the segment has is stale, and the update may go on", func(t *testing.T) {
		next := opened(11, 8)
		w.update(func(tx store.Tx) error {
			is(t, "taken", tx.Prompt().InsertEpoch(w.ctx(), s.Tenant, s.Segment, opened(3, 5)), prompt.ErrStale)
			return tx.Prompt().InsertEpoch(w.ctx(), s.Tenant, s.Segment, next)
		})
		same(t, "epochs", w.epochs(s.Tenant, upTo(s.Segment, 9), 2, 9), []prompt.EpochRow{three, ten, next})
	})

	w.run("an update sees what it wrote, and nobody else does", func(t *testing.T) {
		boom := errors.New("boom")
		err := w.Update(w.ctx(), func(tx store.Tx) error {
			mine := opened(12, 9)
			if err := tx.Prompt().InsertEpoch(w.ctx(), s.Tenant, s.Segment, mine); err != nil {
				return err
			}
			got, err := tx.Prompt().LastEpoch(w.ctx(), s.Tenant, upTo(s.Segment, 9))
			same(t, "inside", got, mine)
			return errors.Join(err, boom)
		})
		is(t, "update", err, boom)
		same(t, "afterwards", w.lastEpoch(s.Tenant, upTo(s.Segment, 9)).Number, int64(11))
	})

	w.run("tenants and segments are apart", func(t *testing.T) {
		aside := w.create(w.key("aside"))
		w.openEpochs(aside, two)
		same(t, "another segment", w.epochs(s.Tenant, upTo(aside.Segment, 9), 0, 9), []prompt.EpochRow{two})
		same(t, "another tenant", w.epochs("other", upTo(s.Segment, 9), 0, 9), []prompt.EpochRow(nil))
		same(t, "another tenant's last", w.lastEpoch("other", upTo(s.Segment, 9)), prompt.EpochRow{})
	})

	w.run("forks", func(t *testing.T) { testEpochsOfForks(t, w) })
}

// testEpochsOfForks reads along the spans of a fork, which sees its parent as of the fork point and goes
// on by itself.
func testEpochsOfForks(t *testing.T, w *world) {
	root, child := w.create(w.key("root")).Key, w.key("child")
	w.append(root, says(4)...)
	w.openEpochs(w.session(root), opened(1, 0), opened(2, 3))
	w.fork(root, 3, child)
	w.append(child, says(2)...)
	w.openEpochs(w.session(root), opened(3, 4), opened(4, 4))
	w.openEpochs(w.session(child), opened(3, 5))
	info := w.session(child)
	spans := info.Spans(5)
	same(t, "all", w.epochs(root.Tenant, spans, 0, 9), []prompt.EpochRow{opened(1, 0), opened(2, 3), opened(3, 5)})
	same(t, "a page over both", w.epochs(root.Tenant, spans, 1, 1), []prompt.EpochRow{opened(2, 3)})
	same(t, "last", w.lastEpoch(root.Tenant, spans), opened(3, 5))
	same(t, "its own", w.epoch(root.Tenant, spans, 3), opened(3, 5))
	same(t, "inherited", w.epoch(root.Tenant, spans, 2), opened(2, 3))
	same(t, "the parent's alone", w.epoch(root.Tenant, spans, 4), prompt.EpochRow{})
	same(t, "as it was at turn 4", w.lastEpoch(root.Tenant, info.Spans(4)), opened(2, 3))

	// Segments that a span does not part may have the same number, and the older one a higher one.
	whole := []turn.Span{{Segment: w.session(root).Segment, To: 9}, {Segment: info.Segment, To: 9}}
	same(t, "the newer span's comes first", w.epoch(root.Tenant, whole, 3), opened(3, 5))
	same(t, "the highest number", w.lastEpoch(root.Tenant, whole), opened(4, 4))
	same(t, "both, the older span's first", w.epochs(root.Tenant, whole, 2, 2), []prompt.EpochRow{opened(3, 4), opened(3, 5)})
	w.openEpochs(info, opened(4, 5))
	same(t, "the newer span's of the highest", w.lastEpoch(root.Tenant, whole), opened(4, 5))
}
