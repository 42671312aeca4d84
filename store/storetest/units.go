package storetest

import (
	"testing"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testUnits(t *testing.T, w *world) {

	openCalls := func(k turn.Key) (ids []string) {
		segment := w.session(k).Segment
		w.view(func(tx store.Tx) error {
			calls, err := tx.Log().OpenCalls(w.ctx(), k.Tenant, segment)
			for _, c := range calls {
				ids = append(ids, c.ID)
			}
			return err
		})
		return ids
	}

	w.run("a call opens a unit and its results join it", func(t *testing.T) {
		k := w.create(w.key("unit")).Key
		turns := w.append(k, said(turn.User, "find it"), called("z", "a"), said(turn.User, "hurry"), returned("a"))
		same(t, "open", openCalls(k), []string{"z"})
		turns = append(turns, w.append(k, returned("z"), said(turn.Agent, "found"))...)
		var units []int64
		for _, u := range turns {
			units = append(units, u.Unit)
		}
		same(t, "units", units, []int64{0, 2, 0, 2, 2, 0})
		same(t, "open", openCalls(k), []string(nil))
		same(t, "read", w.log(k), turns)
	})

	w.run("open calls are listed in the order they were made", func(t *testing.T) {
		k := w.create(w.key("order")).Key
		w.append(k, called("z", "m", "a"), called("y", "b"))
		same(t, "open", openCalls(k), []string{"z", "m", "a", "y", "b"})
		w.append(k, returned("m"))
		w.append(k, called("c"))
		same(t, "open", openCalls(k), []string{"z", "a", "y", "b", "c"})
	})

	w.run("a result needs an open call of its id and name", func(t *testing.T) {
		k := w.create(w.key("strays")).Key
		_, err := w.try(k, returned("nothing"))
		refused(t, "no call", err, "content.call_id")
		w.append(k, called("a"))
		wrong := returned("a")
		wrong.Content = turn.Result{Name: "other", CallID: "a", Status: turn.CallOK}
		_, err = w.try(k, wrong)
		refused(t, "another tool", err, "content.name")
		same(t, "open", openCalls(k), []string{"a"})
		w.append(k, returned("a"))
		_, err = w.try(k, returned("a"))
		refused(t, "closed call", err, "content.call_id")
		same(t, "log", seqs(w.log(k)), []int64{1, 2})
	})

	w.run("an open id cannot be called again, a closed one can", func(t *testing.T) {
		k := w.create(w.key("reuse")).Key
		w.append(k, called("a"))
		_, err := w.try(k, said(turn.User, "x"), called("b", "a"))
		refused(t, "open id", err, "content.tool_calls[1].id")
		same(t, "open", openCalls(k), []string{"a"})
		turns := w.append(k, returned("a"), called("a"), returned("a"))
		same(t, "unit", turns[2].Unit, turns[1].Seq)
	})

	w.run("calls of another session are not this one's", func(t *testing.T) {
		one, two := w.create(w.key("here")).Key, w.create(w.key("there")).Key
		w.append(one, called("a"))
		w.append(two, called("a"))
		w.append(two, returned("a"))
		same(t, "open", openCalls(one), []string{"a"})
	})

	w.run("open calls are closed by synthetic results, once", func(t *testing.T) {
		k := w.create(w.key("cut-off")).Key
		w.append(k, called("z", "a"), returned("a"), called("b"))
		shut := func() (turns []turn.Turn) {
			w.update(func(tx store.Tx) (err error) {
				turns, err = turn.CloseOpenCalls(w.ctx(), tx.Log(), k, noon, w.newID)
				return err
			})
			return turns
		}
		closed := shut()
		if len(closed) != 2 {
			t.Fatalf("%d results, want 2", len(closed))
		}
		for i, want := range []struct {
			id        string
			seq, unit int64
		}{{"z", 4, 1}, {"b", 5, 3}} {
			got := closed[i]
			same(t, "result", got.Content, turn.Content(turn.Result{Name: "search", CallID: want.id, Status: turn.CallCancelled, Synthetic: true}))
			if got.Seq != want.seq || got.Unit != want.unit || got.Role != turn.System {
				t.Errorf("result of %s: seq %d, unit %d, role %s", want.id, got.Seq, got.Unit, got.Role)
			}
		}
		same(t, "read", w.log(k)[3:], closed)
		same(t, "again", shut(), []turn.Turn(nil))
	})
}
