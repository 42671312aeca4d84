package turn_test

import (
	"fmt"
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

func TestHistoryAlongAPath(t *testing.T) {
	b := newBook(t)
	b.append(t, said(turn.User, "1"), turn.Draft{Role: turn.Agent, Content: call("a", "f", "{}")}, said(turn.User, "3"))
	b.append(t, turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: "a", Status: turn.CallOK}}, said(turn.Agent, "5"), said(turn.User, "6"))
	for _, test := range []struct {
		path []turn.Range
		o    turn.HistoryOptions
		want []int64
	}{
		{nil, turn.HistoryOptions{Turns: 9}, []int64{1, 2, 3, 4, 5, 6}},
		{[]turn.Range{{From: 1}}, turn.HistoryOptions{Turns: 3}, []int64{3, 5, 6}},
		{[]turn.Range{{From: 1, To: 2}, {From: 4}}, turn.HistoryOptions{Turns: 3}, []int64{2, 4, 5, 6}},
		{[]turn.Range{{From: 1, To: 3}, {From: 6}}, turn.HistoryOptions{Turns: 9}, []int64{1, 3, 6}},
		{[]turn.Range{{From: 3}}, turn.HistoryOptions{Turns: 9, KeepSystem: true}, []int64{3, 5, 6}},
		{[]turn.Range{{From: 2, To: 5}}, turn.HistoryOptions{Turns: 9, UpTo: 4}, []int64{2, 3, 4}},
		{[]turn.Range{{From: 7}}, turn.HistoryOptions{Turns: 9}, []int64{}},
	} {
		test.o.Path = test.path
		same(t, fmt.Sprint(test.path), seqs(b.history(t, test.o)), test.want)
	}
}
