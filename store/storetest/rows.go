package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// testRows holds the store to the primitives' own contracts, where the functions of package turn do
// not show them.
func testRows(t *testing.T, w *world) {
	k := w.create(w.key("rows")).Key
	segment := w.session(k).Segment
	said := func(seq int64, id string) turn.Row {
		return turn.Row{Encoded: turn.EncodedAs(`{"text":"x"}`), Turn: turn.Turn{
			ID: id, Seq: seq, Role: turn.User, Form: turn.FormText, Kind: turn.KindTurn, Content: turn.Text{Text: "x"}, CreatedAt: noon,
		}}
	}
	insert := func(segment, seq int64, id string) error {
		return w.Update(w.ctx(), func(tx store.Tx) error {
			return tx.Log().InsertTurns(w.ctx(), k.Tenant, segment, said(seq, id))
		})
	}
	id := w.append(k, says(3)...)[0].ID

	w.run("a seq or an id that the segment has is ErrConflict", func(t *testing.T) {
		is(t, "taken seq", insert(segment, 3, w.newID()), turn.ErrConflict)
		is(t, "taken id", insert(segment, 4, id), turn.ErrConflict)
		if n := len(w.log(k)); n != 3 {
			t.Errorf("%d turns, want 3", n)
		}
	})

	w.run("of several turns those before one that conflicts are stored", func(t *testing.T) {
		many := w.create(w.key("many")).Key
		segment, taken := w.session(many).Segment, ""
		for _, c := range []struct {
			seqs    []int64
			taken   int // which of them has an id that is taken
			refused string
			want    []int64
		}{
			{[]int64{1, 2, 3, 4, 5, 6}, -1, "", []int64{1, 2, 3, 4, 5, 6}},
			{[]int64{7, 8, 9, 10}, 2, "turn 9", []int64{1, 2, 3, 4, 5, 6, 7, 8}},
			{[]int64{9, 10, 11, 4}, -1, "turn 4", []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
			{[]int64{11, 12}, -1, "turn 11", []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
			{[]int64{12, 20, 14, 13}, -1, "", []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 20}},
		} {
			rows := make([]turn.Row, len(c.seqs))
			for i, seq := range c.seqs {
				rows[i] = said(seq, w.newID())
			}
			if c.taken >= 0 {
				rows[c.taken].ID = taken
			}
			if c.seqs[0] == 1 {
				taken = rows[3].ID
			}
			w.update(func(tx store.Tx) error {
				err := tx.Log().InsertTurns(w.ctx(), many.Tenant, segment, rows...)
				if c.refused == "" {
					return err
				}
				is(t, c.refused, err, turn.ErrConflict)
				if !strings.Contains(fmt.Sprint(err), c.refused+":") {
					t.Errorf("%v does not name %s", err, c.refused)
				}
				return nil
			})
			w.view(func(tx store.Tx) error {
				found, err := tx.Log().Scan(w.ctx(), many.Tenant, turn.Span{Segment: segment, From: 1, To: 99}, turn.RowFilter{}, 99)
				seqs := make([]int64, len(found))
				for i := range found {
					seqs[i] = found[i].Seq
				}
				same(t, fmt.Sprint("after ", c.seqs), seqs, c.want)
				return err
			})
		}
	})

	w.run("in a locked session a turn that conflicts fails the update", func(t *testing.T) {
		before := w.log(k)
		err := w.Update(w.ctx(), func(tx store.Tx) error {
			if _, err := tx.Log().LockSession(w.ctx(), k); err != nil {
				return err
			}
			return tx.Log().InsertTurns(w.ctx(), k.Tenant, segment, said(4, w.newID()), said(5, id), said(6, w.newID()))
		})
		is(t, "update", err, turn.ErrConflict)
		if !strings.Contains(fmt.Sprint(err), "append turn 5:") {
			t.Errorf("%v does not name turn 5", err)
		}
		same(t, "turns", w.log(k), before)
	})

	w.run("a turn id may be in several segments, found in all of them", func(t *testing.T) {
		copied := w.create(w.key("copy")).Segment
		if err := insert(copied, 1, id); err != nil {
			t.Fatal(err)
		}
		w.view(func(tx store.Tx) error {
			found, err := tx.Log().TurnsByID(w.ctx(), k.Tenant, id)
			where := make(map[int64]int64)
			for _, f := range found {
				where[f.Segment] = f.Seq
			}
			same(t, "segments", where, map[int64]int64{segment: 1, copied: 1})
			return err
		})
	})

	w.run("an unknown id finds nothing and is no error", func(t *testing.T) {
		w.view(func(tx store.Tx) error {
			found, err := tx.Log().TurnsByID(w.ctx(), k.Tenant, w.newID())
			if len(found) > 0 {
				t.Errorf("found %v", found)
			}
			return err
		})
	})

	w.run("scan", func(t *testing.T) { testScan(t, w) })
	w.run("units and straddling", func(t *testing.T) { testUnitRows(t, w) })

	w.run("a call id is open once in a segment, and closed once", func(t *testing.T) {
		one, two := w.create(w.key("calls-1")).Segment, w.create(w.key("calls-2")).Segment
		c := turn.OpenCall{ID: "c", Name: "search", Unit: 1}
		open := func(segment int64) error {
			return w.Update(w.ctx(), func(tx store.Tx) error { return tx.Log().InsertOpenCall(w.ctx(), k.Tenant, segment, c) })
		}
		if err := errors.Join(open(one), open(two)); err != nil {
			t.Fatal(err)
		}
		is(t, "open twice", open(one), turn.ErrConflict)
		var closed turn.OpenCall
		shut := func() error {
			return w.Update(w.ctx(), func(tx store.Tx) (err error) {
				closed, err = tx.Log().DeleteOpenCall(w.ctx(), k.Tenant, one, "c")
				return err
			})
		}
		if err := shut(); err != nil {
			t.Fatal(err)
		}
		same(t, "closed", closed, c)
		is(t, "closed twice", shut(), turn.ErrNotFound)
		w.view(func(tx store.Tx) error {
			left, err := tx.Log().OpenCalls(w.ctx(), k.Tenant, two)
			same(t, "open in the other segment", left, []turn.OpenCall{c})
			return err
		})
	})

	w.run("completed flows are noted once and listed as they came", func(t *testing.T) {
		s := w.create(w.key("flows")).Segment
		done := func(id string, after int64) turn.CompletedFlow { return turn.CompletedFlow{ID: id, AfterSeq: after} }
		list := func(tenant string, to int64) (flows []turn.CompletedFlow) {
			w.view(func(tx store.Tx) (err error) {
				flows, err = tx.Log().CompletedFlows(w.ctx(), tenant, turn.Span{Segment: s, From: 1, To: to})
				return err
			})
			return flows
		}
		for _, f := range []turn.CompletedFlow{
			done("zeta", 0), done("alpha", 2), done("mid", 2), done("zeta", 2), done("last", 5), done("alpha", 6),
		} {
			w.update(func(tx store.Tx) error { return tx.Log().InsertCompletedFlow(w.ctx(), k.Tenant, s, f.ID, f.AfterSeq) })
		}
		all := []turn.CompletedFlow{done("zeta", 0), done("alpha", 2), done("mid", 2), done("last", 5)}
		same(t, "all", list(k.Tenant, 9), all)
		same(t, "up to turn 4", list(k.Tenant, 4), all[:3])
		same(t, "before the first turn", list(k.Tenant, 0), all[:1])
		if got := list("other", 9); len(got) > 0 {
			t.Errorf("another tenant sees %v", got)
		}
	})
}

func testScan(t *testing.T, w *world) {
	k := w.create(w.key("scan")).Key
	for i, d := range []turn.Draft{
		said(turn.User, "one"), said(turn.Agent, "two"), said(turn.System, "three"),
		{Role: turn.User, Content: turn.Speech{Transcript: "four"}},
		{Role: turn.User, Content: turn.Action{Name: "five"}},
		{Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: "six"}, Covers: turn.Range{From: 1, To: 2}},
		said(turn.User, "seven"),
	} {
		sealed, err := w.seal(d)
		if err != nil {
			t.Fatal(err)
		}
		w.update(func(tx store.Tx) error {
			_, err := turn.Append(w.ctx(), tx.Log(), k, noon.Add(time.Duration(i)*time.Second), sealed...)
			return err
		})
	}
	segment := w.session(k).Segment
	for _, c := range []struct {
		rule     string
		from, to int64
		filter   turn.RowFilter
		limit    int
		want     []int64
	}{
		{"the whole span", 1, 7, turn.RowFilter{}, 100, []int64{1, 2, 3, 4, 5, 6, 7}},
		{"both ends included", 2, 4, turn.RowFilter{}, 100, []int64{2, 3, 4}},
		{"one turn", 4, 4, turn.RowFilter{}, 100, []int64{4}},
		{"an empty span", 4, 3, turn.RowFilter{}, 100, []int64{}},
		{"past the end", 6, 1 << 50, turn.RowFilter{}, 100, []int64{6, 7}},
		{"the first ones", 1, 7, turn.RowFilter{}, 3, []int64{1, 2, 3}},
		{"the last ones, newest first", 1, 6, turn.RowFilter{Newest: true}, 3, []int64{6, 5, 4}},
		{"of a role", 1, 7, turn.RowFilter{Role: turn.User}, 100, []int64{1, 4, 5, 7}},
		{"of a form", 1, 7, turn.RowFilter{Form: turn.FormSpeech}, 100, []int64{4}},
		{"summaries", 1, 7, turn.RowFilter{Kind: turn.KindSummary}, 100, []int64{6}},
		{"ordinary turns", 1, 7, turn.RowFilter{Kind: turn.KindTurn}, 100, []int64{1, 2, 3, 4, 5, 7}},
		{"since, inclusive", 1, 7, turn.RowFilter{Since: noon.Add(4 * time.Second)}, 100, []int64{5, 6, 7}},
		{"until, exclusive", 1, 7, turn.RowFilter{Until: noon.Add(2 * time.Second)}, 100, []int64{1, 2}},
		{"to the microsecond", 1, 7, turn.RowFilter{Since: noon.Add(time.Microsecond), Until: noon.Add(time.Second + time.Microsecond)}, 100, []int64{2}},
		{"utterances", 1, 7, turn.RowFilter{Utterances: true}, 100, []int64{1, 2, 4, 7}},
		{"the newest utterances", 1, 7, turn.RowFilter{Utterances: true, Newest: true}, 2, []int64{7, 4}},
		{"all of it together", 1, 6, turn.RowFilter{Role: turn.User, Form: turn.FormText, Kind: turn.KindTurn, Utterances: true, Newest: true}, 9, []int64{1}},
	} {
		w.view(func(tx store.Tx) error {
			turns, err := tx.Log().Scan(w.ctx(), k.Tenant, turn.Span{Segment: segment, From: c.from, To: c.to}, c.filter, c.limit)
			same(t, c.rule, seqs(turns), c.want)
			return err
		})
	}
}

func testUnitRows(t *testing.T, w *world) {
	k := w.create(w.key("unit-rows")).Key
	// Units: 2 with 3 and 6, 4 with 5 and 8, 9 open.
	w.append(k, said(turn.User, "go"), called("a", "b"), returned("a"), called("c", "d"), returned("d"), returned("b"),
		said(turn.User, "well?"), returned("c"), called("e"))
	segment := w.session(k).Segment
	w.view(func(tx store.Tx) error {
		for _, c := range []struct {
			first, last int64
			want        []int64
		}{
			{1, 9, []int64{2, 3, 4, 5, 6, 8, 9}}, {2, 2, []int64{2, 3, 6}}, {4, 4, []int64{4, 5, 8}}, {3, 3, []int64{}},
			{4, 9, []int64{4, 5, 8, 9}}, {1, 1, []int64{}},
		} {
			turns, err := tx.Log().Units(w.ctx(), k.Tenant, segment, c.first, c.last)
			if err != nil {
				return err
			}
			same(t, "units", seqs(turns), c.want)
		}
		for seq, want := range []int64{0, 0, 2, 2, 2, 2, 4, 4, 0, 0} {
			unit, err := tx.Log().Straddling(w.ctx(), k.Tenant, segment, int64(seq))
			if err != nil {
				return err
			}
			if unit != want {
				t.Errorf("unit that straddles %d: %d, want %d", seq, unit, want)
			}
		}
		return nil
	})
}
