package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testDialogue(t *testing.T, w *world) {
	tenant := w.tenant
	insert := func(segment int64, rows ...dialogue.RevisionRow) error {
		return w.Update(w.ctx(), func(tx store.Tx) error {
			for _, row := range rows {
				if err := tx.Dialogue().InsertRevision(w.ctx(), tenant, segment, row); err != nil {
					return err
				}
			}
			return nil
		})
	}
	rev := func(number, after int64, state string) dialogue.RevisionRow {
		return dialogue.RevisionRow{Number: number, AfterSeq: after, State: state, At: noon.Add(time.Duration(number) * time.Microsecond)}
	}
	at := func(spans []turn.Span, seq int64) (row dialogue.RevisionRow, err error) {
		err = w.View(w.ctx(), func(tx store.Tx) (err error) {
			row, err = tx.Dialogue().RevisionAt(w.ctx(), tenant, spans, seq)
			return err
		})
		return row, err
	}
	all := func(spans []turn.Span) (states []string) {
		w.view(func(tx store.Tx) error {
			for row, err := range tx.Dialogue().Revisions(w.ctx(), tenant, spans) {
				if err != nil {
					return err
				}
				states = append(states, row.State)
			}
			return nil
		})
		return states
	}

	root, child := w.create(w.key("root")).Segment, w.create(w.key("child")).Segment
	// The child was forked after turn 4; the root went on.
	if err := insert(root, rev(0, 0, "r0"), rev(1, 2, "r1"), rev(2, 4, "r2"), rev(3, 4, "r3"), rev(4, 6, "r4")); err != nil {
		t.Fatal(err)
	}
	if err := insert(child, rev(3, 4, "c3"), rev(4, 5, "c4"), rev(5, 8, "{\"odd\":\n 1e400}")); err != nil {
		t.Fatal(err)
	}
	nothing := turn.Span{Segment: w.create(w.key("nothing")).Segment, From: 1, To: 9}
	own := []turn.Span{{Segment: root, From: 1, To: 6}}
	forked := []turn.Span{{Segment: root, From: 1, To: 4}, {Segment: child, From: 5, To: 9}}

	w.run("the newest revision at a turn, along the path", func(t *testing.T) {
		for _, c := range []struct {
			spans []turn.Span
			seq   int64
			want  string
		}{
			{own, 0, "r0"}, {own, 1, "r0"}, {own, 2, "r1"}, {own, 3, "r1"}, {own, 4, "r3"}, {own, 6, "r4"}, {own, 99, "r4"},
			{forked, 1, "r0"}, {forked, 3, "r1"}, {forked, 4, "c3"}, {forked, 5, "c4"}, {forked, 7, "c4"}, {forked, 99, "{\"odd\":\n 1e400}"},
			{forked[:1], 99, "r3"},
			{[]turn.Span{own[0], nothing}, 2, "r1"},
			// A fork without turns of its own has a state of its own.
			{[]turn.Span{{Segment: root, From: 1, To: 4}, {Segment: child, From: 5, To: 4}}, 99, "c3"},
			{[]turn.Span{{Segment: root, From: 1, To: 0}}, 5, "r0"},
		} {
			row, err := at(c.spans, c.seq)
			if err != nil || row.State != c.want {
				t.Errorf("state at %d along %v: %q, %v; want %q", c.seq, c.spans, row.State, err, c.want)
			}
		}
		row, err := at(forked, 5)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "row", row, rev(4, 5, "c4"))
	})

	w.run("no revision is ErrNotFound", func(t *testing.T) {
		_, err := at(nil, 9)
		is(t, "no spans", err, dialogue.ErrNotFound)
		_, err = at([]turn.Span{{Segment: child, From: 5, To: 9}}, 3)
		is(t, "none so old", err, dialogue.ErrNotFound)
	})

	w.run("all revisions, span by span, by number", func(t *testing.T) {
		same(t, "root", all(own), []string{"r0", "r1", "r2", "r3", "r4"})
		same(t, "child", all(forked), []string{"r0", "r1", "r2", "r3", "c3", "c4", "{\"odd\":\n 1e400}"})
		same(t, "none", all(nil), []string(nil))
		same(t, "a segment that holds nothing", all([]turn.Span{nothing}), []string(nil))
	})

	w.run("a reader may stop early", func(t *testing.T) {
		w.view(func(tx store.Tx) error {
			for _, err := range tx.Dialogue().Revisions(w.ctx(), tenant, own) {
				if err != nil {
					return err
				}
				break
			}
			_, err := tx.Dialogue().RevisionAt(w.ctx(), tenant, own, 1)
			return err
		})
	})

	w.run("a number is taken once per segment, also by writers at once", func(t *testing.T) {
		is(t, "again", insert(root, rev(4, 9, "other")), dialogue.ErrConflict)
		segment := w.create(w.key("versions")).Segment
		var all sync.WaitGroup
		results := make(chan error, 16)
		for i := range cap(results) {
			all.Go(func() { results <- insert(segment, rev(1, 1, fmt.Sprint("writer ", i))) })
		}
		all.Wait()
		won := 0
		for range cap(results) {
			if err := <-results; err == nil {
				won++
			} else {
				is(t, "loser", err, dialogue.ErrConflict)
			}
		}
		if won != 1 {
			t.Errorf("%d writers won, want 1", won)
		}
	})

	w.run("flows point at turns", func(t *testing.T) { testFlowTurns(t, w) })
	w.run("a state is kept and rebuilt along forks", func(t *testing.T) { testStates(t, w) })
}

func testFlowTurns(t *testing.T, w *world) {
	tenant := w.tenant
	a, b := w.create(w.key("flow-a")).Segment, w.create(w.key("flow-b")).Segment
	for _, p := range []struct {
		segment, seq int64
		flow, turn   string
	}{
		{a, 2, "f", "t2"}, {a, 2, "g", "t2"}, {a, 2, "f", "t1"}, {a, 4, "f", "t4"}, {a, 4, "f", "t2"}, {a, 6, "f", "t6"},
		{b, 4, "f", "t3"}, {b, 5, "f", "t5"}, {b, 5, "f", "t2"},
	} {
		w.update(func(tx store.Tx) error {
			return tx.Dialogue().InsertFlowTurns(w.ctx(), tenant, p.segment, p.seq, []dialogue.Pointer{{FlowID: p.flow, TurnID: p.turn}})
		})
	}
	w.update(func(tx store.Tx) error {
		return tx.Dialogue().InsertFlowTurns(w.ctx(), tenant, a, 7, []dialogue.Pointer{{FlowID: "h", TurnID: "z"}, {FlowID: "h", TurnID: "a"}, {FlowID: "h", TurnID: "z"}})
	})
	whole := []turn.Span{{Segment: a, From: 1, To: 9}}
	forked := []turn.Span{{Segment: a, From: 1, To: 4}, {Segment: b, From: 5, To: 9}}
	nothing := turn.Span{Segment: w.create(w.key("flow-nothing")).Segment, From: 1, To: 9}
	for _, c := range []struct {
		rule  string
		spans []turn.Span
		flow  string
		upTo  int64
		want  []string
	}{
		{"by seq, then by id, each once", whole, "f", 99, []string{"t1", "t2", "t4", "t6"}},
		{"up to a turn", whole, "f", 4, []string{"t1", "t2", "t4"}},
		{"another flow", whole, "g", 99, []string{"t2"}},
		{"along a fork", forked, "f", 99, []string{"t1", "t2", "t3", "t4", "t5"}},
		{"at the fork point, from both sides", forked, "f", 4, []string{"t1", "t2", "t3", "t4"}},
		{"of one update", whole, "h", 99, []string{"a", "z"}},
		{"an unknown flow", whole, "x", 99, nil},
		{"nowhere", nil, "f", 99, nil},
		{"in a segment that holds nothing", []turn.Span{nothing}, "f", 99, nil},
	} {
		w.view(func(tx store.Tx) error {
			got, err := tx.Dialogue().FlowTurns(w.ctx(), tenant, c.spans, c.flow, c.upTo)
			same(t, c.rule, got, c.want)
			return err
		})
		w.view(func(tx store.Tx) error {
			got, err := tx.Dialogue().FlowTurns(w.ctx(), "other", c.spans, c.flow, c.upTo)
			same(t, "another tenant", got, []string(nil))
			return err
		})
	}
	row := func(seq int64, flow, turn string) dialogue.PointerRow {
		return dialogue.PointerRow{Pointer: dialogue.Pointer{FlowID: flow, TurnID: turn}, Seq: seq}
	}
	testPointers(t, w, tenant, whole, []dialogue.PointerRow{
		row(2, "f", "t1"), row(2, "f", "t2"), row(2, "g", "t2"), row(4, "f", "t4"), row(6, "f", "t6"), row(7, "h", "a"), row(7, "h", "z"),
	})
	testPointers(t, w, tenant, forked, []dialogue.PointerRow{
		row(2, "f", "t1"), row(2, "f", "t2"), row(2, "g", "t2"), row(4, "f", "t3"), row(4, "f", "t4"), row(5, "f", "t5"),
	})
	kept := 0
	for _, r := range w.rows("flow_turns") {
		if r.Values[1] == a || r.Values[1] == b {
			kept++
		}
	}
	same(t, "a pointer is kept once in its segment", kept, 10)
	testPointers(t, w, "other", whole, nil)
	testPointers(t, w, tenant, nil, nil)
	testPointers(t, w, tenant, []turn.Span{nothing}, nil)
}

func testPointers(t *testing.T, w *world, tenant string, spans []turn.Span, want []dialogue.PointerRow) {
	t.Helper()
	w.view(func(tx store.Tx) error {
		var got []dialogue.PointerRow
		for row, err := range tx.Dialogue().Pointers(w.ctx(), tenant, spans) {
			if err != nil {
				return err
			}
			got = append(got, row)
		}
		if len(got)+len(want) > 0 {
			same(t, "pointers", got, want)
		}
		return nil
	})
}

// testStates goes the way an exchange goes: load, change, save, with a fork in between.
func testStates(t *testing.T, w *world) {
	k, forked := w.key("stateful"), w.key("stateful-fork")
	w.update(func(tx store.Tx) error {
		segment, err := tx.Log().InsertSession(w.ctx(), blank(k, tx.Now()))
		if err != nil {
			return err
		}
		_, err = dialogue.Start(w.ctx(), tx.Dialogue(), k.Tenant, segment, tx.Now())
		return err
	})
	exchange := func(k turn.Key, change func(*dialogue.State, string) error) {
		t.Helper()
		id := w.append(k, said(turn.User, "next"))[0].ID
		w.update(func(tx store.Tx) error {
			info, err := tx.Log().LockSession(w.ctx(), k)
			if err != nil {
				return err
			}
			prev, err := dialogue.Load(w.ctx(), tx.Dialogue(), k.Tenant, info.Lineage(info.Head), info.Head)
			if err != nil {
				return err
			}
			next := prev.State
			if err := change(&next, id); err != nil {
				return err
			}
			_, err = dialogue.Save(w.ctx(), tx.Dialogue(), k.Tenant, info.Segment, prev, &next, info.Head, tx.Now())
			return err
		})
	}
	order := func(s *dialogue.State, id string) error {
		if _, _, err := s.StackOn("f1", "order", dialogue.Options{}); err != nil {
			return err
		}
		return s.Attach(id)
	}
	fill := func(value dialogue.Value) func(s *dialogue.State, id string) error {
		return func(s *dialogue.State, id string) error {
			if err := s.SetSlot("size", value, id); err != nil {
				return err
			}
			return s.Attach(id)
		}
	}
	exchange(k, order)
	exchange(k, fill(`"small"`))
	w.update(func(tx store.Tx) error {
		parent, err := tx.Log().Session(w.ctx(), k)
		if err != nil {
			return err
		}
		child, err := turn.Fork(w.ctx(), tx.Log(), k, 2, turn.SessionInfo{Key: forked}, tx.Now())
		if err != nil {
			return err
		}
		_, err = dialogue.Fork(w.ctx(), tx.Dialogue(), k.Tenant, parent.Lineage(2), child.Segment, 2, tx.Now())
		return err
	})
	exchange(k, fill(`"large"`))
	exchange(forked, fill(`"medium"`))

	look := func(k turn.Key, seq int64) (size dialogue.Value, turns int) {
		w.view(func(tx store.Tx) error {
			info, err := tx.Log().Session(w.ctx(), k)
			if err != nil {
				return err
			}
			rev, err := dialogue.At(w.ctx(), tx.Dialogue(), k.Tenant, info.Lineage(seq), seq)
			if err != nil {
				return err
			}
			if f, ok := rev.State.Active(); ok {
				slot, _ := f.Slot("size")
				size, turns = slot.Value, len(f.TurnIDs)
			}
			return nil
		})
		return size, turns
	}
	for _, c := range []struct {
		key   turn.Key
		seq   int64
		size  dialogue.Value
		turns int
	}{
		{k, 0, "", 0}, {k, 1, "", 1}, {k, 2, `"small"`, 2}, {k, 3, `"large"`, 3},
		{forked, 0, "", 0}, {forked, 1, "", 1}, {forked, 2, `"small"`, 2}, {forked, 3, `"medium"`, 3},
	} {
		if size, turns := look(c.key, c.seq); size != c.size || turns != c.turns {
			t.Errorf("%s after turn %d: size %s over %d turns, want %s over %d", c.key.Session, c.seq, size, turns, c.size, c.turns)
		}
	}
}
