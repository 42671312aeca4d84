package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// checkpoint returns one version, an empty one where there is none.
func (w *world) checkpoint(tenant string, spans []turn.Span, number, version int64) (row compress.Row) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		row, err = tx.Compress().Checkpoint(w.ctx(), tenant, spans, number, version)
		if errors.Is(err, compress.ErrNotFound) {
			return nil
		}
		return err
	})
	return row
}

func (w *world) checkpoints(tenant string, spans []turn.Span, after int64, limit int) (rows []compress.Row) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		rows, err = tx.Compress().Checkpoints(w.ctx(), tenant, spans, after, limit)
		return err
	})
	return rows
}

func (w *world) lastNumber(tenant string, spans []turn.Span) (number int64) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		number, err = tx.Compress().LastNumber(w.ctx(), tenant, spans)
		return err
	})
	return number
}

func testCheckpoints(t *testing.T, w *world) {
	s := w.create(w.key("checkpoints"))
	w.run("there is none before the first", func(t *testing.T) {
		w.view(func(tx store.Tx) error {
			for what, spans := range map[string][]turn.Span{"none": upTo(s.Segment, 9), "no spans": nil} {
				row, err := tx.Compress().Checkpoint(w.ctx(), s.Tenant, spans, 1, 1)
				is(t, what, err, compress.ErrNotFound)
				same(t, what, row, compress.Row{})
			}
			return nil
		})
		same(t, "all", w.checkpoints(s.Tenant, upTo(s.Segment, 9), 0, 9), []compress.Row(nil))
		same(t, "last", w.lastNumber(s.Tenant, upTo(s.Segment, 9)), int64(0))
		same(t, "last of no spans", w.lastNumber(s.Tenant, nil), int64(0))
	})

	// The first was aged when the second and the third were made, the second with the third.
	one, older, oldest := compressed(1, 1, 2), compressed(1, 2, 4), compressed(1, 3, 7)
	two, aged, three := compressed(2, 1, 4), compressed(2, 2, 7), compressed(3, 1, 7)
	w.compress(s, three, oldest, one, two, aged, older)

	w.run("each version is found by its number, if it is along the span", func(t *testing.T) {
		for _, c := range []struct {
			to, number, version int64
			want                compress.Row
		}{
			{9, 1, 1, one}, {9, 1, 2, older}, {9, 1, 3, oldest}, {9, 2, 2, aged}, {7, 3, 1, three},
			{9, 1, 4, compress.Row{}}, {9, 4, 1, compress.Row{}}, {9, 1, 0, compress.Row{}},
			{6, 1, 3, compress.Row{}}, {6, 1, 2, older}, {3, 1, 2, compress.Row{}}, {2, 1, 1, one}, {1, 1, 1, compress.Row{}},
		} {
			same(t, fmt.Sprintf("version %d of %d up to turn %d", c.version, c.number, c.to),
				w.checkpoint(s.Tenant, upTo(s.Segment, c.to), c.number, c.version), c.want)
		}
	})

	w.run("pages go up by number and version and part no number", func(t *testing.T) {
		for _, c := range []struct {
			to, after int64
			limit     int
			want      []compress.Row
		}{
			{9, 0, 9, []compress.Row{one, older, oldest, two, aged, three}},
			{9, 0, 1, []compress.Row{one, older, oldest}},
			{9, 0, 2, []compress.Row{one, older, oldest, two, aged}},
			{9, 0, 3, []compress.Row{one, older, oldest, two, aged, three}},
			{9, 1, 1, []compress.Row{two, aged}},
			{9, 2, 9, []compress.Row{three}},
			{6, 0, 9, []compress.Row{one, older, two}},
			{4, 1, 9, []compress.Row{two}},
			{1, 0, 9, nil},
			{9, 3, 9, nil},
			{9, 0, 0, nil},
			{9, 0, -1, nil},
		} {
			same(t, fmt.Sprintf("%d after %d up to turn %d", c.limit, c.after, c.to), w.checkpoints(s.Tenant, upTo(s.Segment, c.to), c.after, c.limit), c.want)
		}
	})

	w.run("the last number is the highest along the span", func(t *testing.T) {
		for to, want := range map[int64]int64{-1: 0, 1: 0, 2: 1, 3: 1, 4: 2, 6: 2, 7: 3, 1<<63 - 1: 3} {
			same(t, fmt.Sprintf("up to turn %d", to), w.lastNumber(s.Tenant, upTo(s.Segment, to)), want)
		}
	})

	w.run("a version that the segment has is stale, and the update may go on", func(t *testing.T) {
		next := compressed(3, 2, 7)
		w.update(func(tx store.Tx) error {
			is(t, "taken", tx.Compress().InsertCheckpoint(w.ctx(), s.Tenant, s.Segment, compressed(3, 1, 8)), compress.ErrStale)
			return tx.Compress().InsertCheckpoint(w.ctx(), s.Tenant, s.Segment, next)
		})
		same(t, "checkpoints", w.checkpoints(s.Tenant, upTo(s.Segment, 9), 2, 9), []compress.Row{three, next})
	})

	w.run("an update sees what it wrote, and nobody else does", func(t *testing.T) {
		boom := errors.New("boom")
		err := w.Update(w.ctx(), func(tx store.Tx) error {
			mine := compressed(4, 1, 9)
			if err := tx.Compress().InsertCheckpoint(w.ctx(), s.Tenant, s.Segment, mine); err != nil {
				return err
			}
			got, err := tx.Compress().Checkpoint(w.ctx(), s.Tenant, upTo(s.Segment, 9), 4, 1)
			same(t, "inside", got, mine)
			last, err2 := tx.Compress().LastNumber(w.ctx(), s.Tenant, upTo(s.Segment, 9))
			same(t, "last inside", last, int64(4))
			return errors.Join(err, err2, boom)
		})
		is(t, "update", err, boom)
		same(t, "afterwards", w.checkpoint(s.Tenant, upTo(s.Segment, 9), 4, 1), compress.Row{})
		same(t, "last afterwards", w.lastNumber(s.Tenant, upTo(s.Segment, 9)), int64(3))
	})

	w.run("tenants and segments are apart", func(t *testing.T) {
		aside := w.create(w.key("aside"))
		w.compress(aside, one)
		same(t, "another segment", w.checkpoints(s.Tenant, upTo(aside.Segment, 9), 0, 9), []compress.Row{one})
		same(t, "another segment's last", w.lastNumber(s.Tenant, upTo(aside.Segment, 9)), int64(1))
		same(t, "another tenant", w.checkpoints("other", upTo(s.Segment, 9), 0, 9), []compress.Row(nil))
		same(t, "another tenant's", w.checkpoint("other", upTo(s.Segment, 9), 1, 1), compress.Row{})
		same(t, "another tenant's last", w.lastNumber("other", upTo(s.Segment, 9)), int64(0))
	})

	w.run("forks", func(t *testing.T) { testCheckpointsOfForks(t, w) })
	w.run("in any order", func(t *testing.T) { testAnyCheckpoints(t, w) })
}

// testCheckpointsOfForks reads along the spans of a fork, which sees its parent as of the fork point and
// ages by itself what it inherits.
func testCheckpointsOfForks(t *testing.T, w *world) {
	root, child := w.create(w.key("root")).Key, w.key("child")
	w.append(root, says(4)...)
	w.compress(w.session(root), compressed(1, 1, 2), compressed(2, 1, 3))
	w.fork(root, 3, child)
	w.append(child, says(2)...)
	w.compress(w.session(root), compressed(3, 1, 4), compressed(1, 2, 4), compressed(4, 1, 4))
	info := w.session(child)
	spans := info.Spans(5)
	same(t, "last before its first", w.lastNumber(root.Tenant, spans), int64(2))
	aged, third := compressed(1, 2, 5), compressed(3, 1, 5)
	w.compress(info, aged, third)
	same(t, "all", w.checkpoints(root.Tenant, spans, 0, 9), []compress.Row{compressed(1, 1, 2), aged, compressed(2, 1, 3), third})
	same(t, "a page over both", w.checkpoints(root.Tenant, spans, 0, 1), []compress.Row{compressed(1, 1, 2), aged})
	same(t, "its own", w.checkpoint(root.Tenant, spans, 1, 2), aged)
	same(t, "inherited", w.checkpoint(root.Tenant, spans, 2, 1), compressed(2, 1, 3))
	same(t, "the parent's alone", w.checkpoint(root.Tenant, spans, 4, 1), compress.Row{})
	same(t, "last", w.lastNumber(root.Tenant, spans), int64(3))
	same(t, "last at turn 4", w.lastNumber(root.Tenant, info.Spans(4)), int64(2))

	// Segments that a span does not part may have the same version, and the older one a higher number.
	whole := []turn.Span{{Segment: w.session(root).Segment, To: 9}, {Segment: info.Segment, To: 9}}
	same(t, "the newer span's comes first", w.checkpoint(root.Tenant, whole, 1, 2), aged)
	same(t, "the highest number", w.lastNumber(root.Tenant, whole), int64(4))
	same(t, "both, the older span's first", w.checkpoints(root.Tenant, whole, 0, 1), []compress.Row{compressed(1, 1, 2), compressed(1, 2, 4), aged})
}

// testAnyCheckpoints adds versions in any order and after any turns: the last number is still the highest
// of those made early enough, and a page has all of the first numbers.
func testAnyCheckpoints(t *testing.T, w *world) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		var rows []compress.Row
		for number := range int64(4) {
			for version := range rapid.Int64Range(0, 3).Draw(rt, "versions") {
				rows = append(rows, compressed(number+1, version+1, rapid.Int64Range(0, 6).Draw(rt, "after")))
			}
		}
		var segment int64
		err := w.Update(w.ctx(), func(tx store.Tx) (err error) {
			if segment, err = tx.Log().InsertSession(w.ctx(), blank(w.key(fmt.Sprintf("any-%d", n)), noon)); err != nil {
				return err
			}
			for _, row := range shuffled(rt, rows) {
				if err := tx.Compress().InsertCheckpoint(w.ctx(), w.tenant, segment, row); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
		after, limit := rapid.Int64Range(0, 3).Draw(rt, "page after"), rapid.IntRange(0, 4).Draw(rt, "limit")
		err = w.View(w.ctx(), func(tx store.Tx) error {
			for to := int64(-1); to < 8; to++ {
				highest, numbers := int64(0), make(map[int64]bool)
				var page []compress.Row
				for _, row := range rows {
					if row.AfterSeq > to {
						continue
					}
					highest = max(highest, row.Number)
					if row.Number > after && (numbers[row.Number] || len(numbers) < limit) {
						numbers[row.Number] = true
						page = append(page, row)
					}
				}
				last, err := tx.Compress().LastNumber(w.ctx(), w.tenant, upTo(segment, to))
				got, err2 := tx.Compress().Checkpoints(w.ctx(), w.tenant, upTo(segment, to), after, limit)
				if err := errors.Join(err, err2); err != nil {
					return err
				}
				same(rt, fmt.Sprintf("last number up to %d", to), last, highest)
				same(rt, fmt.Sprintf("page up to %d", to), got, page)
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// shuffled is rows in any order.
func shuffled(rt *rapid.T, rows []compress.Row) []compress.Row {
	if len(rows) == 0 {
		return nil
	}
	return rapid.Permutation(rows).Draw(rt, "order")
}

func testBreakers(t *testing.T, w *world) {
	s, aside := w.create(w.key("breakers")), w.create(w.key("aside"))
	read := func(tenant string, segment int64) (doc string, ok bool) {
		for _, begin := range []func(func(store.Tx) error){w.view, w.update} {
			begin(func(tx store.Tx) (err error) {
				doc, ok, err = tx.Compress().Breaker(w.ctx(), tenant, segment)
				return err
			})
		}
		return doc, ok
	}
	if doc, ok := read(s.Tenant, s.Segment); ok || doc != "" {
		t.Errorf("before it is written: %q, %v", doc, ok)
	}
	for i, doc := range []string{`{"failures":1}`, `{}`} {
		at := noon.Add(time.Duration(i) * time.Microsecond)
		w.update(func(tx store.Tx) error { return tx.Compress().PutBreaker(w.ctx(), s.Tenant, s.Segment, doc, at) })
		if got, ok := read(s.Tenant, s.Segment); !ok || got != doc {
			t.Errorf("got %q, %v; want %q", got, ok, doc)
		}
	}
	for what, k := range map[string]turn.SessionInfo{"another segment": aside, "another tenant": {Key: turn.Key{Tenant: "other"}, Segment: s.Segment}} {
		if doc, ok := read(k.Tenant, k.Segment); ok {
			t.Errorf("%s has %q", what, doc)
		}
	}
}
