package turn_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/turn"
)

// whole fails where a view shows a call without all its results or a result without its call.
func whole(t tester, what string, view []turn.Turn) {
	t.Helper()
	open := make(map[int64]map[string]bool)
	var before int64
	for _, u := range view {
		if u.Seq <= before {
			t.Fatalf("%s: turn %d after %d", what, u.Seq, before)
		}
		before = u.Seq
		for _, c := range u.Calls() {
			if open[u.Seq] == nil {
				open[u.Seq] = make(map[string]bool)
			}
			open[u.Seq][c.ID] = true
		}
		if r, ok := u.Content.(turn.Result); ok {
			if !open[u.Unit][r.CallID] {
				t.Fatalf("%s: turn %d shows a result without its call", what, u.Seq)
			}
			delete(open[u.Unit], r.CallID)
		}
	}
	for unit, calls := range open {
		if len(calls) > 0 {
			t.Fatalf("%s: turn %d shows calls without their results: %v", what, unit, calls)
		}
	}
}

func TestNoViewShowsACallWithoutItsResults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBook(rt)
		window := turn.NewWindow(nil)
		for _, d := range turngen.Log(14).Draw(rt, "log") {
			appended := b.append(rt, d)[0]
			if !window.Push(appended) {
				rt.Fatalf("the window has not seen the call of turn %d", appended.Seq)
			}
			for n := range turn.WindowSize + 1 {
				whole(rt, "window", window.Last(n))
			}
		}
		b.read(rt, func(rows turn.Rows, info turn.SessionInfo) error {
			for upTo := range info.Head + 1 {
				for n := range int(info.Head) + 2 {
					for _, keep := range []bool{false, true} {
						o := turn.HistoryOptions{Turns: n, KeepSystem: keep, UpTo: upTo}
						turns, err := turn.History(rt.Context(), rows, info, o)
						if err != nil {
							return err
						}
						whole(rt, "history", turns)
					}
				}
			}
			return nil
		})
		// A query returns rows: each says to which unit it belongs.
		calls := make(map[string]int64)
		for _, u := range b.query(rt, turn.Query{Limit: 1000}).Turns {
			for _, c := range u.Calls() {
				calls[c.ID] = u.Seq
			}
			want := int64(0)
			if r, ok := u.Content.(turn.Result); ok {
				want = calls[r.CallID]
			} else if len(u.Calls()) > 0 {
				want = u.Seq
			}
			if u.Unit != want {
				rt.Errorf("turn %d says unit %d, want %d", u.Seq, u.Unit, want)
			}
		}
	})
}
