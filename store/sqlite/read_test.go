package sqlite_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// countedContext counts how often it is looked at: a reader does so between statements and, inside
// one, every thousand steps of SQLite's machine. It ends after so many looks, never for 0.
type countedContext struct {
	context.Context
	looks    atomic.Int64
	endAfter int64
}

func (c *countedContext) Err() error {
	if n := c.looks.Add(1); c.endAfter > 0 && n > c.endAfter {
		return context.Canceled
	}
	return nil
}

func TestALongReadEndsWithItsContext(t *testing.T) {
	alone(t)
	const n = 20_000
	s, _, _ := openSeeded(t, n)
	rows := 0
	for name, read := range map[string]func(ctx context.Context) error{
		"check": func(ctx context.Context) error {
			_, err := s.Check(ctx)
			return err
		},
		"scan": func(ctx context.Context) error {
			return s.View(ctx, func(tx store.Tx) error {
				_, err := tx.Log().Scan(ctx, "default", turn.Span{Segment: 1, From: 1, To: int64(n)}, turn.RowFilter{Role: turn.System}, 10)
				return err
			})
		},
		"dump": func(ctx context.Context) error {
			return s.Dump(ctx, func(store.Row) error { rows++; return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := &countedContext{Context: t.Context()}
			if err := read(all); err != nil {
				t.Fatal(err)
			}
			cut := &countedContext{Context: t.Context(), endAfter: all.looks.Load() / 2}
			if err := read(cut); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled", err)
			}
			if err := read(t.Context()); err != nil {
				t.Errorf("after that: %v", err)
			}
		})
	}
}

// However many other turns lie between them, the last utterances are found without reading those.
func TestUtterancesAreReadWithoutScanning(t *testing.T) {
	alone(t)
	const others = 50_000
	s := openNew(t, sqlite.Config{})
	k := create(t, s, key("s")).Key
	mustSay(t, s, k, "first")
	for range others / 1000 {
		err := s.Update(t.Context(), func(tx store.Tx) error {
			for range 1000 {
				sealed, err := seal(turn.System, turn.Action{Name: "tick"})
				if err != nil {
					return err
				}
				if _, err := turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	mustSay(t, s, k, "last")
	read := func(o turn.HistoryOptions) ([]string, int64) {
		ctx := &countedContext{Context: t.Context()}
		var turns []turn.Turn
		err := s.View(ctx, func(tx store.Tx) error {
			info, err := tx.Log().Session(ctx, k)
			if err != nil {
				return err
			}
			turns, err = turn.History(ctx, tx.Log(), info, o)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return texts(turns), ctx.looks.Load()
	}
	got, looks := read(turn.HistoryOptions{Turns: 50})
	if diff := cmp.Diff([]string{"first", "last"}, got); diff != "" {
		t.Error(diff)
	}
	if looks > 20 {
		t.Errorf("the context was looked at %d times: the turns between were read", looks)
	}
	// From the middle of the others, too.
	if got, looks = read(turn.HistoryOptions{Turns: 1, UpTo: int64(others / 2)}); len(got) != 1 || got[0] != "first" || looks > 20 {
		t.Errorf("got %v after %d looks", got, looks)
	}
}

// Turns that are written out of order, as a repair might do, are found as well.
func TestUtterancesWrittenOutOfOrder(t *testing.T) {
	alone(t)
	s := openNew(t, sqlite.Config{})
	segment := create(t, s, key("s")).Segment
	content := func(said bool) (turn.Role, turn.Form, turn.Content) {
		if said {
			return turn.User, turn.FormText, turn.Text{Text: "said"}
		}
		return turn.System, turn.FormAction, turn.Action{Name: "tick"}
	}
	said := map[int64]bool{1: true, 40: true, 41: true, 80: true}
	var order []int64
	for seq := int64(100); seq >= 1; seq -= 2 {
		order = append(order, seq)
	}
	for seq := int64(1); seq < 100; seq += 2 {
		order = append(order, seq)
	}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		rows := make([]turn.Row, len(order))
		for i, seq := range order {
			x := turn.Turn{ID: newID(), Seq: seq, Kind: turn.KindTurn, CreatedAt: tx.Now()}
			x.Role, x.Form, x.Content = content(said[seq])
			rows[i] = turn.Row{Turn: x, Encoded: turn.EncodedAs(string(turn.AppendContent(nil, x.Content)))}
		}
		return tx.Log().InsertTurns(t.Context(), "default", segment, rows...)
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Number(t, `SELECT count(*) FROM turns WHERE quiet_since >= seq`); n != 0 {
		t.Errorf("for %d turns the silence began after them", n)
	}
	var found []int64
	err = s.View(t.Context(), func(tx store.Tx) error {
		turns, err := tx.Log().Scan(t.Context(), "default", turn.Span{Segment: segment, From: -1, To: 100},
			turn.RowFilter{Utterances: true, Newest: true}, 10)
		for _, x := range turns {
			found = append(found, x.Seq)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{80, 41, 40, 1}, found); diff != "" {
		t.Error(diff)
	}
}

// No query that the log is read with sorts or walks a whole table.
func TestPlans(t *testing.T) {
	alone(t)
	s, _, _ := openSeeded(t, 300)
	plans, err := s.Plans(t.Context(), func(tx store.Tx) error {
		ctx, span := t.Context(), turn.Span{Segment: 1, From: 1, To: 300}
		log, k := tx.Log(), key("long")
		for _, f := range []turn.RowFilter{{}, {Newest: true}, {Newest: true, Utterances: true}, {Role: turn.User, Newest: true}} {
			if _, err := log.Scan(ctx, "default", span, f, 10); err != nil {
				return err
			}
		}
		_, err := log.Session(ctx, k)
		_, err2 := log.TurnsByID(ctx, "default", "x")
		_, _, err3 := log.TurnByKey(ctx, "default", 1, "x")
		_, err4 := log.Straddling(ctx, "default", 1, 5)
		_, err5 := log.Sessions(ctx, turn.SessionFilter{Tenant: "default", Limit: 5})
		_, err6 := log.Sessions(ctx, turn.SessionFilter{Tenant: "default", User: "ana", Before: 9, Limit: 5})
		_, err7 := log.OpenCalls(ctx, "default", 1)
		_, err8 := tx.Dialogue().RevisionAt(ctx, "default", []turn.Span{span}, 5)
		if errors.Is(err8, context.Canceled) {
			return err8
		}
		return errors.Join(err, err2, err3, err4, err5, err6, err7)
	})
	if err != nil {
		t.Fatal(err)
	}
	for sql, plan := range plans {
		for _, line := range plan {
			if badPlan(sql, line) {
				t.Errorf("%s\n\t%s", sql, line)
			}
		}
	}
	if len(plans) < 10 {
		t.Errorf("%d statements were looked at", len(plans))
	}
}

// badPlan knows three exceptions: open calls and flows are few and sorted by the order they came in, and places are not a
// table but what was found of one.
func badPlan(sql, line string) bool {
	if strings.Contains(line, "TEMP B-TREE") {
		return !strings.Contains(sql, "open_calls")
	}
	return strings.HasPrefix(line, "SCAN") && line != "SCAN place"
}
