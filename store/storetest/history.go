package storetest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testHistory(t *testing.T, w *world) {

	w.run("the last utterances, ascending, with system turns only when asked", func(t *testing.T) {
		k := w.create(w.key("plain")).Key
		w.append(k, said(turn.User, "1"), said(turn.Agent, "2"), said(turn.System, "3"), said(turn.User, "4"),
			turn.Draft{Role: turn.User, Content: turn.Action{Name: "click"}}, said(turn.Agent, "6"))
		for _, c := range []struct {
			o    turn.HistoryOptions
			want []int64
		}{
			{turn.HistoryOptions{Turns: 0}, []int64{}},
			{turn.HistoryOptions{Turns: 1}, []int64{6}},
			{turn.HistoryOptions{Turns: 3}, []int64{2, 4, 6}},
			{turn.HistoryOptions{Turns: 99}, []int64{1, 2, 4, 6}},
			{turn.HistoryOptions{Turns: 3, KeepSystem: true}, []int64{4, 5, 6}},
			{turn.HistoryOptions{Turns: 4, KeepSystem: true}, []int64{3, 4, 5, 6}},
			{turn.HistoryOptions{Turns: 2, UpTo: 3}, []int64{1, 2}},
			{turn.HistoryOptions{Turns: 2, UpTo: 3, KeepSystem: true}, []int64{2, 3}},
			{turn.HistoryOptions{Turns: 2, UpTo: 1000}, []int64{4, 6}},
		} {
			same(t, fmt.Sprintf("%+v", c.o), seqs(w.history(k, c.o)), c.want)
		}
	})

	w.run("a call comes with its results and an open one not at all", func(t *testing.T) {
		k := w.create(w.key("units")).Key
		w.append(k, said(turn.User, "1"), called("a", "b"), returned("b"), said(turn.User, "4"), returned("a"),
			called("c"), said(turn.User, "7"))
		same(t, "two", seqs(w.history(k, turn.HistoryOptions{Turns: 2})), []int64{4, 7})
		same(t, "three", seqs(w.history(k, turn.HistoryOptions{Turns: 3})), []int64{2, 3, 4, 5, 7})
		same(t, "before the last result", seqs(w.history(k, turn.HistoryOptions{Turns: 9, UpTo: 4})), []int64{1, 4})
		same(t, "with system turns", seqs(w.history(k, turn.HistoryOptions{Turns: 2, KeepSystem: true})), []int64{2, 3, 5, 7})
	})

	w.run("more turns than any page", func(t *testing.T) {
		k := w.create(w.key("long")).Key
		w.append(k, says(1500)...)
		got := w.history(k, turn.HistoryOptions{Turns: 1400})
		if len(got) != 1400 || got[0].Seq != 101 || got[1399].Seq != 1500 {
			t.Errorf("%d turns from %d to %d", len(got), got[0].Seq, got[len(got)-1].Seq)
		}
	})

	w.run("history, window and single turns agree with a model of any log", func(t *testing.T) {
		n := 0
		rapid.Check(t, func(rt *rapid.T) {
			n++
			h := &historian{world: w, name: fmt.Sprintf("model-%d", n)}
			h.check(rt)
		})
	})
}

// historian writes a made-up log, forks it on the way, and compares what is read with the model.
type historian struct {
	*world
	name string
	info turn.SessionInfo
	log  []turn.Turn // all turns along the session's path
}

func (h *historian) check(rt *rapid.T) {
	drafts := turngen.Log(24).Draw(rt, "log")
	k := h.key(h.name)
	window := turn.NewWindow(nil)
	err := h.Update(h.ctx(), func(tx store.Tx) error {
		h.log = nil
		if _, err := tx.Log().InsertSession(h.ctx(), blank(k, tx.Now())); err != nil {
			return err
		}
		for i, d := range drafts {
			if rapid.IntRange(0, 5).Draw(rt, "fork") == 0 && h.settled() {
				child := h.key(fmt.Sprintf("%s-%d", h.name, i))
				if _, err := turn.Fork(h.ctx(), tx.Log(), k, int64(i), turn.SessionInfo{Key: child}, tx.Now()); err != nil {
					return err
				}
				k = child
			}
			sealed, err := h.seal(d)
			if err != nil {
				return err
			}
			turns, err := turn.Append(h.ctx(), tx.Log(), k, tx.Now(), sealed...)
			if err != nil {
				return fmt.Errorf("turn %d: %w", i+1, err)
			}
			h.log = append(h.log, turns...)
			window.Push(turns[0])
		}
		var err error
		h.info, err = tx.Log().Session(h.ctx(), k)
		return err
	})
	if err != nil {
		rt.Fatal(err)
	}
	for i := range h.log {
		h.log[i].Session = k.Session
	}
	err = h.View(h.ctx(), func(tx store.Tx) error {
		for range 6 {
			o := turn.HistoryOptions{
				Turns:      rapid.IntRange(0, 26).Draw(rt, "n"),
				KeepSystem: rapid.Bool().Draw(rt, "keep_system"),
				UpTo:       rapid.Int64Range(0, 25).Draw(rt, "up_to"),
			}
			got, err := turn.History(h.ctx(), tx.Log(), h.info, o)
			if err != nil {
				return err
			}
			same(rt, fmt.Sprintf("history %+v", o), got, model(h.log, o))
		}
		recent, err := turn.History(h.ctx(), tx.Log(), h.info, turn.HistoryOptions{Turns: turn.WindowSize})
		if err != nil {
			return err
		}
		last := window.Last(turn.WindowSize)
		for i := range last {
			last[i].Session = k.Session
		}
		same(rt, "window", last, recent)
		return nil
	})
	if err != nil {
		rt.Fatal(err)
	}
}

// settled reports whether no call is open, so that the log may be forked here.
func (h *historian) settled() bool {
	for _, t := range h.log {
		if len(t.Calls()) > 0 && !finished(h.log, t.Seq) {
			return false
		}
	}
	return true
}

// model is history as one would write it without a thought of cost.
func model(log []turn.Turn, o turn.HistoryOptions) []turn.Turn {
	if o.UpTo == 0 {
		o.UpTo = math.MaxInt64
	}
	var then []turn.Turn
	for _, t := range log {
		if t.Seq <= o.UpTo {
			then = append(then, t)
		}
	}
	shown := make(map[int64]bool)
	for _, t := range slices.Backward(then) {
		if o.Turns <= 0 {
			break
		}
		if shown[t.Seq] || !o.KeepSystem && !t.Utterance() || t.Unit != 0 && !finished(then, t.Unit) {
			continue
		}
		if t.Unit == 0 {
			shown[t.Seq] = true
			o.Turns--
			continue
		}
		members := 0
		for _, m := range then {
			if m.Unit == t.Unit {
				shown[m.Seq] = true
				members++
			}
		}
		if !o.KeepSystem {
			members = 1
		}
		o.Turns -= members
	}
	var out []turn.Turn
	for _, t := range then {
		if shown[t.Seq] {
			out = append(out, t)
		}
	}
	return out
}

// finished reports whether every call of a unit has its result in the log.
func finished(log []turn.Turn, unit int64) bool {
	open := make(map[string]bool)
	for _, t := range log {
		if t.Unit != unit {
			continue
		}
		for _, c := range t.Calls() {
			open[c.ID] = true
		}
		if r, ok := t.Content.(turn.Result); ok {
			delete(open, r.CallID)
		}
	}
	return len(open) == 0
}
