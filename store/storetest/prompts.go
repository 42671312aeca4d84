package storetest

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// lastCall returns the last call, an empty one where there is none.
func (w *world) lastCall(tenant string, spans []turn.Span, end int64) (c prompt.CallRow) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		c, err = tx.Prompt().LastCall(w.ctx(), tenant, spans, end)
		return none(err)
	})
	return c
}

func (w *world) calls(tenant string, spans []turn.Span, after int64, limit int) (rows []prompt.CallRow) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		rows, err = tx.Prompt().Calls(w.ctx(), tenant, spans, after, limit)
		return err
	})
	return rows
}

func testPrompts(t *testing.T, w *world) {
	s := w.create(w.key("prompts"))
	w.run("there is none before the first", func(t *testing.T) {
		w.view(func(tx store.Tx) error {
			for what, spans := range map[string][]turn.Span{"none": upTo(s.Segment, 9), "no spans": nil} {
				c, err := tx.Prompt().LastCall(w.ctx(), s.Tenant, spans, 9)
				is(t, what, err, prompt.ErrNotFound)
				same(t, what, c, prompt.CallRow{})
			}
			return nil
		})
		same(t, "all", w.calls(s.Tenant, upTo(s.Segment, 9), 0, 9), []prompt.CallRow(nil))
	})

	one, two, three, four := compiled(1, 1, 1), compiled(2, 4, 1), compiled(3, 4, 2), compiled(4, 7, 2)
	w.compile(s, one, two, three, four)

	w.run("the last one ends at the turn or before it, and along the span", func(t *testing.T) {
		for end, want := range map[int64]prompt.CallRow{-1: {}, 0: {}, 1: one, 3: one, 4: three, 6: three, 7: four, 1<<63 - 1: four} {
			same(t, fmt.Sprintf("up to %d", end), w.lastCall(s.Tenant, upTo(s.Segment, 9), end), want)
			same(t, fmt.Sprintf("of a span up to %d", end), w.lastCall(s.Tenant, upTo(s.Segment, end), 9), want)
		}
	})

	w.run("pages go up by number", func(t *testing.T) {
		for _, c := range []struct {
			to, after int64
			limit     int
			want      []prompt.CallRow
		}{
			{9, 0, 9, []prompt.CallRow{one, two, three, four}},
			{9, 0, 2, []prompt.CallRow{one, two}},
			{9, 2, 2, []prompt.CallRow{three, four}},
			{4, 1, 9, []prompt.CallRow{two, three}},
			{9, 4, 9, nil},
			{9, 0, 0, nil},
			{9, 0, -1, nil},
		} {
			same(t, "page", w.calls(s.Tenant, upTo(s.Segment, c.to), c.after, c.limit), c.want)
		}
	})

	w.run("a number that the segment has is stale, and the update may go on", func(t *testing.T) {
		next := compiled(5, 8, 2)
		w.update(func(tx store.Tx) error {
			is(t, "taken", tx.Prompt().InsertCall(w.ctx(), s.Tenant, s.Segment, compiled(3, 9, 2)), prompt.ErrStale)
			return tx.Prompt().InsertCall(w.ctx(), s.Tenant, s.Segment, next)
		})
		same(t, "calls", w.calls(s.Tenant, upTo(s.Segment, 9), 2, 9), []prompt.CallRow{three, four, next})
		same(t, "last", w.lastCall(s.Tenant, upTo(s.Segment, 9), 9), next)
	})

	w.run("an update sees what it wrote, and nobody else does", func(t *testing.T) {
		boom := errors.New("boom")
		err := w.Update(w.ctx(), func(tx store.Tx) error {
			mine := compiled(6, 4, 2)
			if err := tx.Prompt().InsertCall(w.ctx(), s.Tenant, s.Segment, mine); err != nil {
				return err
			}
			got, err := tx.Prompt().LastCall(w.ctx(), s.Tenant, upTo(s.Segment, 9), 9)
			same(t, "inside", got, mine)
			return errors.Join(err, boom)
		})
		is(t, "update", err, boom)
		same(t, "afterwards", w.lastCall(s.Tenant, upTo(s.Segment, 9), 9).Number, int64(5))
		same(t, "afterwards, before its end", w.lastCall(s.Tenant, upTo(s.Segment, 9), 7), four)
	})

	w.run("tenants and segments are apart", func(t *testing.T) {
		aside := w.create(w.key("aside"))
		w.compile(aside, two)
		same(t, "another segment", w.lastCall(s.Tenant, upTo(aside.Segment, 9), 9), two)
		same(t, "another tenant", w.calls("other", upTo(s.Segment, 9), 0, 9), []prompt.CallRow(nil))
		same(t, "another tenant's last", w.lastCall("other", upTo(s.Segment, 9), 9), prompt.CallRow{})
	})

	w.run("forks", func(t *testing.T) { testPromptsOfForks(t, w) })
	w.run("in any order", func(t *testing.T) { testAnyPrompts(t, w) })
}

// testPromptsOfForks reads along the spans of a fork, which sees its parent as of the fork point and goes
// on by itself.
func testPromptsOfForks(t *testing.T, w *world) {
	root, child := w.create(w.key("root")).Key, w.key("child")
	w.append(root, says(4)...)
	w.compile(w.session(root), compiled(1, 1, 1), compiled(2, 3, 1))
	w.fork(root, 3, child)
	w.append(child, says(2)...)
	w.compile(w.session(root), compiled(3, 4, 1), compiled(4, 4, 1))
	info := w.session(child)
	spans := info.Spans(5)
	same(t, "before its first", w.lastCall(root.Tenant, spans, 5), compiled(2, 3, 1))
	w.compile(info, compiled(3, 5, 1))
	same(t, "all", w.calls(root.Tenant, spans, 0, 9), []prompt.CallRow{compiled(1, 1, 1), compiled(2, 3, 1), compiled(3, 5, 1)})
	same(t, "last", w.lastCall(root.Tenant, spans, 5), compiled(3, 5, 1))
	same(t, "last before turn 5", w.lastCall(root.Tenant, spans, 4), compiled(2, 3, 1))
	same(t, "the parent's", w.lastCall(root.Tenant, upTo(w.session(root).Segment, 4), 9), compiled(4, 4, 1))
	whole := []turn.Span{{Segment: w.session(root).Segment, To: 9}, {Segment: info.Segment, To: 9}}
	same(t, "the highest number", w.lastCall(root.Tenant, whole, 9), compiled(4, 4, 1))
	w.compile(info, compiled(4, 5, 1))
	same(t, "the newer span's of the highest", w.lastCall(root.Tenant, whole, 9), compiled(4, 5, 1))
	same(t, "both of a number, the older span's first", w.calls(root.Tenant, whole, 3, 9), []prompt.CallRow{compiled(4, 4, 1), compiled(4, 5, 1)})
}

// testAnyPrompts adds calls and epochs in any order and with any ends: the last one is still that with the
// highest number of those that end early enough.
func testAnyPrompts(t *testing.T, w *world) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		numbers := rapid.Permutation([]int64{1, 2, 3, 4, 5, 6, 7, 8}).Draw(rt, "numbers")
		ends := rapid.SliceOfN(rapid.Int64Range(0, 6), len(numbers), len(numbers)).Draw(rt, "ends")
		var segment int64
		err := w.Update(w.ctx(), func(tx store.Tx) (err error) {
			if segment, err = tx.Log().InsertSession(w.ctx(), blank(w.key(fmt.Sprintf("any-%d", n)), noon)); err != nil {
				return err
			}
			for i, number := range numbers {
				if err := tx.Prompt().InsertCall(w.ctx(), w.tenant, segment, compiled(number, ends[i], 1)); err != nil {
					return err
				}
				if err := tx.Prompt().InsertEpoch(w.ctx(), w.tenant, segment, opened(number, ends[i])); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
		err = w.View(w.ctx(), func(tx store.Tx) error {
			for end := int64(-1); end < 8; end++ {
				call, epoch := prompt.CallRow{}, prompt.EpochRow{}
				for i, number := range numbers {
					if ends[i] <= end && number > call.Number {
						call, epoch = compiled(number, ends[i], 1), opened(number, ends[i])
					}
				}
				gotCall, err := tx.Prompt().LastCall(w.ctx(), w.tenant, upTo(segment, 9), end)
				gotEpoch, err2 := tx.Prompt().LastEpoch(w.ctx(), w.tenant, upTo(segment, end))
				if err := errors.Join(none(err), none(err2)); err != nil {
					return err
				}
				same(rt, fmt.Sprintf("last call up to %d", end), gotCall, call)
				same(rt, fmt.Sprintf("last epoch up to %d", end), gotEpoch, epoch)
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}
