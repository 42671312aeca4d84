package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// intend makes a version of a goal; its documents name it and its change.
func intend(id string, version, afterSeq int64, live bool) cortex.Row {
	return cortex.Row{
		Kind: cortex.KindGoal, ID: id, Version: version, AfterSeq: afterSeq, Live: live,
		Doc: fmt.Sprintf(`{"id":%q,"version":%d}`, id, version), Change: `{"by":"agent"}`, At: noon.Add(time.Duration(version) * time.Microsecond),
	}
}

func (w *world) intend(tenant string, segment int64, rows ...cortex.Row) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for _, r := range rows {
			if err := tx.Cortex().InsertVersion(w.ctx(), tenant, segment, r); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) newest(tenant string, spans []turn.Span, live bool) (rows []cortex.Row) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		rows, err = tx.Cortex().Newest(w.ctx(), tenant, spans, live)
		return err
	})
	return rows
}

func (w *world) versions(tenant string, spans []turn.Span, kind cortex.Kind, id string) (rows []cortex.Row) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		rows, err = tx.Cortex().Versions(w.ctx(), tenant, spans, kind, id)
		return err
	})
	return rows
}

func testIntentions(t *testing.T, w *world) {
	k := w.create(w.key("intentions")).Key
	segment := w.session(k).Segment
	whole := []turn.Span{{Segment: segment, From: 1, To: 9}}
	action := intend("b", 1, 3, true)
	action.Kind = cortex.KindAction
	b1, b2, a1, done1, done2 := intend("b", 1, 0, true), intend("b", 2, 2, true), intend("a", 1, 2, true), intend("done", 1, 1, true), intend("done", 2, 5, false)
	w.intend(k.Tenant, segment, b1, b2, action, done1, done2, a1)

	w.run("newest is the highest version of each, by kind and id", func(t *testing.T) {
		same(t, "all", w.newest(k.Tenant, whole, false), []cortex.Row{action, a1, b2, done2})
		same(t, "live", w.newest(k.Tenant, whole, true), []cortex.Row{action, a1, b2})
	})

	w.run("versions are all of one, lowest first", func(t *testing.T) {
		same(t, "goal", w.versions(k.Tenant, whole, cortex.KindGoal, "b"), []cortex.Row{b1, b2})
		same(t, "action of the same id", w.versions(k.Tenant, whole, cortex.KindAction, "b"), []cortex.Row{action})
		same(t, "unknown", w.versions(k.Tenant, whole, cortex.KindGoal, "c"), []cortex.Row(nil))
	})

	w.run("a span ends what is seen, wherever it begins", func(t *testing.T) {
		upTo := func(to int64) []turn.Span { return []turn.Span{{Segment: segment, From: 4, To: to}} }
		same(t, "up to 2", w.newest(k.Tenant, upTo(2), false), []cortex.Row{a1, b2, done1})
		same(t, "live up to 4", w.newest(k.Tenant, upTo(4), true), []cortex.Row{action, a1, b2, done1})
		same(t, "live up to 5", w.newest(k.Tenant, upTo(5), true), []cortex.Row{action, a1, b2})
		same(t, "before the first turn", w.newest(k.Tenant, upTo(0), true), []cortex.Row{b1})
		same(t, "versions up to 1", w.versions(k.Tenant, upTo(1), cortex.KindGoal, "b"), []cortex.Row{b1})
		same(t, "no spans", w.newest(k.Tenant, nil, false), []cortex.Row(nil))
		same(t, "no spans", w.versions(k.Tenant, nil, cortex.KindGoal, "b"), []cortex.Row(nil))
	})

	w.run("a version that the segment has is stale, and the update may go on", func(t *testing.T) {
		other, next := intend("b", 2, 4, false), intend("b", 3, 4, true)
		w.update(func(tx store.Tx) error {
			is(t, "taken version", tx.Cortex().InsertVersion(w.ctx(), k.Tenant, segment, other), cortex.ErrStale)
			return tx.Cortex().InsertVersion(w.ctx(), k.Tenant, segment, next)
		})
		same(t, "versions", w.versions(k.Tenant, whole, cortex.KindGoal, "b"), []cortex.Row{b1, b2, next})
		same(t, "live", w.newest(k.Tenant, whole, true), []cortex.Row{action, a1, next})
	})

	w.run("what was given up may be taken up again", func(t *testing.T) {
		again := intend("done", 3, 6, true)
		w.intend(k.Tenant, segment, again)
		same(t, "live", len(w.newest(k.Tenant, whole, true)), 4)
		w.intend(k.Tenant, segment, intend("done", 4, 6, false))
		same(t, "live", len(w.newest(k.Tenant, whole, true)), 3)
		same(t, "live up to 5", len(w.newest(k.Tenant, []turn.Span{{Segment: segment, From: 1, To: 5}}, true)), 3)
	})

	w.run("an update sees what it wrote, and nobody else does", func(t *testing.T) {
		boom := errors.New("boom")
		err := w.Update(w.ctx(), func(tx store.Tx) error {
			if err := tx.Cortex().InsertVersion(w.ctx(), k.Tenant, segment, intend("mine", 1, 1, true)); err != nil {
				return err
			}
			rows, err := tx.Cortex().Newest(w.ctx(), k.Tenant, whole, true)
			if err != nil {
				return err
			}
			same(t, "inside", len(rows), 4)
			return boom
		})
		is(t, "update", err, boom)
		same(t, "afterwards", len(w.newest(k.Tenant, whole, true)), 3)
	})

	w.run("tenants and segments are apart", func(t *testing.T) {
		same(t, "another tenant", w.newest("other", whole, false), []cortex.Row(nil))
		same(t, "another tenant", w.versions("other", whole, cortex.KindGoal, "b"), []cortex.Row(nil))
		aside := w.create(w.key("aside")).Segment
		w.intend(k.Tenant, aside, a1)
		same(t, "another segment", w.newest(k.Tenant, []turn.Span{{Segment: aside, From: 1, To: 9}}, false), []cortex.Row{a1})
	})

	w.run("forks", func(t *testing.T) { testIntentionsOfForks(t, w) })
}

// testIntentionsOfForks reads along the spans of a fork and of a fork of the fork: each sees its
// ancestors as of the fork points and goes on by itself.
func testIntentionsOfForks(t *testing.T, w *world) {
	root, child, grand := w.create(w.key("root")).Key, w.key("child"), w.key("grand")
	tenant := root.Tenant
	w.append(root, says(4)...)
	rootSegment := w.session(root).Segment
	w.intend(tenant, rootSegment, intend("shared", 1, 1, true), intend("ended", 1, 2, true), intend("shared", 2, 3, true))
	childSegment := w.fork(root, 3, child).Segment
	w.intend(tenant, rootSegment, intend("shared", 3, 4, false), intend("late", 1, 4, true))
	w.append(child, says(3)...)
	w.intend(tenant, childSegment, intend("shared", 3, 4, true), intend("own", 1, 4, true), intend("ended", 2, 5, false), intend("shared", 4, 6, true))
	grandSegment := w.fork(child, 5, grand).Segment
	w.append(grand, says(1)...)
	w.intend(tenant, grandSegment, intend("shared", 4, 6, false), intend("mine", 1, 6, true))

	spans := func(k turn.Key) []turn.Span {
		info := w.session(k)
		return info.Spans(info.Head)
	}
	for _, c := range []struct {
		who       turn.Key
		all, live []cortex.Row
		shared    []cortex.Row
	}{
		{root,
			[]cortex.Row{intend("ended", 1, 2, true), intend("late", 1, 4, true), intend("shared", 3, 4, false)},
			[]cortex.Row{intend("ended", 1, 2, true), intend("late", 1, 4, true)},
			[]cortex.Row{intend("shared", 1, 1, true), intend("shared", 2, 3, true), intend("shared", 3, 4, false)}},
		{child,
			[]cortex.Row{intend("ended", 2, 5, false), intend("own", 1, 4, true), intend("shared", 4, 6, true)},
			[]cortex.Row{intend("own", 1, 4, true), intend("shared", 4, 6, true)},
			[]cortex.Row{intend("shared", 1, 1, true), intend("shared", 2, 3, true), intend("shared", 3, 4, true), intend("shared", 4, 6, true)}},
		{grand,
			[]cortex.Row{intend("ended", 2, 5, false), intend("mine", 1, 6, true), intend("own", 1, 4, true), intend("shared", 4, 6, false)},
			[]cortex.Row{intend("mine", 1, 6, true), intend("own", 1, 4, true)},
			[]cortex.Row{intend("shared", 1, 1, true), intend("shared", 2, 3, true), intend("shared", 3, 4, true), intend("shared", 4, 6, false)}},
	} {
		same(t, c.who.Session+": all", w.newest(tenant, spans(c.who), false), c.all)
		same(t, c.who.Session+": live", w.newest(tenant, spans(c.who), true), c.live)
		same(t, c.who.Session+": versions", w.versions(tenant, spans(c.who), cortex.KindGoal, "shared"), c.shared)
	}
	info := w.session(grand)
	same(t, "grand as it was at turn 2", w.newest(tenant, info.Spans(2), true), []cortex.Row{intend("ended", 1, 2, true), intend("shared", 1, 1, true)})
}
