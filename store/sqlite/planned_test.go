package sqlite_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// No query over what commits write walks a whole table, and none sorts but what is few: the parts of
// one turn or session and the exports of one turn.
func TestPlansOfWhatCommitsWrite(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	info := create(t, s, key("s"))
	if err := commitExchange(t.Context(), s, info, newExchanges(info, 1).next(t)); err != nil {
		t.Fatal(err)
	}
	plans, err := s.Plans(t.Context(), func(tx store.Tx) error {
		ctx, spans := t.Context(), []turn.Span{{Segment: 1, From: 1, To: 9}, {Segment: 2, From: 1, To: 9}}
		_, err := tx.Cortex().Newest(ctx, "default", spans, true)
		_, err2 := tx.Cortex().Newest(ctx, "default", spans, false)
		_, err3 := tx.Cortex().Versions(ctx, "default", spans, cortex.KindGoal, "x")
		_, err4 := tx.Scratch().Observations(ctx, "default", 1, noon, true)
		_, err5 := tx.Scratch().Observations(ctx, "default", 1, noon, false)
		errs := []error{err, err2, err3, err4, err5}
		for _, f := range []memory.Filter{
			{}, {After: "x"}, {Segment: 1}, {Terms: []string{"x"}, After: "x"}, {Lowest: true, After: "x"}, {ByImportance: true, User: "x", Archived: true},
		} {
			f.Tenant, f.Limit, f.Now = "default", 10, noon
			_, err := tx.Memory().Items(ctx, f)
			errs = append(errs, err)
		}
		_, err = tx.Memory().LiveItems(ctx, "default", 1, noon)
		_, _, err2 = tx.Memory().Digest(ctx, "default", 1)
		_, err3 = tx.Outbox().ExportsOf(ctx, "default", "x")
		_, err4 = tx.Outbox().Published(ctx, 0, 10)
		_, err5 = tx.Outbox().Deferrals(ctx, "default")
		_, err6 := tx.Outbox().PublishedOf(ctx, "default", 0, 10)
		errs = append(errs, err, err2, err3, err4, err5, err6)
		_, err = tx.Outbox().DueDeferrals(ctx, noon, 10)
		_, err2 = tx.Outbox().Events(ctx, "default", "", 0, 10)
		_, err3 = tx.Outbox().Events(ctx, "default", "s", 0, 10)
		_, err4 = tx.Outbox().Letters(ctx, "default", "", 10)
		_, err5 = tx.Outbox().Letters(ctx, "default", "d", 10)
		errs = append(errs, err, err2, err3, err4, err5)
		_, err = tx.Outbox().LastPlace(ctx, "default")
		_, err2 = tx.Access().Keys(ctx, "default")
		_, err3 = tx.Access().Key(ctx, "x")
		_, err4 = tx.Chains().Links(ctx, "default", chain.Hash{}, 10)
		if !errors.Is(err3, access.ErrUnknownKey) {
			errs = append(errs, err3)
		}
		_, err5 = tx.Chains().Linked(ctx, "default", []chain.Hash{{}})
		_, err6 = tx.Cortex().DueReminders(ctx, noon, 10)
		errs = append(errs, err, err2, err4, err5, err6)
		_, err = tx.Trace().Parts(ctx, "default", "x")
		_, err2 = tx.Trace().PartsOf(ctx, "default", 1)
		_, err3 = tx.Log().TurnsAt(ctx, "default", []turn.Place{{Segment: 1, Seq: 1}, {Segment: 1, Seq: 2}})
		_, err4 = tx.Memory().ItemsByID(ctx, "default", []string{"x", "y"})
		return errors.Join(append(errs, err, err2, err3, err4)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	for sql, plan := range plans {
		for _, line := range plan {
			scan := strings.HasPrefix(line, "SCAN") && !strings.Contains(line, "VIRTUAL TABLE") && !strings.Contains(line, "SCAN relay") &&
				!strings.Contains(sql, "memory_pieces") && !strings.Contains(line, "subquery") && line != "SCAN place"
			sort := strings.Contains(line, "TEMP B-TREE") && !strings.Contains(sql, "trace_parts") && !strings.Contains(sql, "exports_by_turn")
			if scan || sort {
				t.Errorf("%s\n\t%s", sql, line)
			}
		}
	}
	if len(plans) < 25 {
		t.Errorf("%d statements were looked at", len(plans))
	}
}

// Bytes that nothing refers to are looked for in indexes alone: the beginnings of all bytes stand in the table.
func TestPlanOfLooseBlobs(t *testing.T) {
	plans, err := openNew(t, sqlite.Config{}).Plans(t.Context(), func(tx store.Tx) error {
		_, err := tx.Log().LooseBlobs(t.Context(), noon, 10)
		return err
	})
	if err != nil || len(plans) != 1 {
		t.Fatalf("%d statements, %v", len(plans), err)
	}
	for sql, plan := range plans {
		for _, line := range plan {
			if strings.Contains(line, "SCAN") && !strings.Contains(line, "COVERING INDEX") {
				t.Errorf("%s\n\t%s", sql, line)
			}
		}
	}
}

// What is live is found without looking at what is not.
func TestWhatIsLiveIsFoundAmongMuchThatIsNot(t *testing.T) {
	alone(t)
	n := 5000
	s := openNew(t, sqlite.Config{})
	info := create(t, s, key("s"))
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for i := range n {
			id := newID()
			goal := cortex.Row{Kind: cortex.KindGoal, ID: id, Version: 1, AfterSeq: 5, Live: true, Doc: "{}", Change: "{}", At: noon}
			if err := tx.Cortex().InsertVersion(t.Context(), info.Tenant, info.Segment, goal); err != nil {
				return err
			}
			goal.Version, goal.Live = 2, i%1000 == 0
			if err := tx.Cortex().InsertVersion(t.Context(), info.Tenant, info.Segment, goal); err != nil {
				return err
			}
			o := scratch.Row{ID: id, Status: scratch.Archived, Doc: "{}", At: noon, Expires: noon.AddDate(0, 0, 7)}
			if i%1000 == 0 {
				o.Status = scratch.Active
			}
			if err := tx.Scratch().PutObservation(t.Context(), info.Tenant, info.Segment, o); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := &countedContext{Context: t.Context()}
	err = s.View(ctx, func(tx store.Tx) error {
		goals, err := tx.Cortex().Newest(ctx, info.Tenant, []turn.Span{{Segment: info.Segment, From: 1, To: 9}}, true)
		if err != nil {
			return err
		}
		seen, err := tx.Scratch().Observations(ctx, info.Tenant, info.Segment, noon, true)
		if len(goals) != n/1000 || len(seen) != n/1000 {
			t.Errorf("%d goals, %d observations", len(goals), len(seen))
		}
		return err
	})
	if err != nil || ctx.looks.Load() > 15 {
		t.Errorf("%d looks, %v", ctx.looks.Load(), err)
	}
}

// A savepoint whose transaction was lost does not go on as if nothing had happened.
func TestASavepointInALostTransaction(t *testing.T) {
	for name, alone := range map[string]bool{"alone": true, "together": false} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t, sqlite.Config{})
			info := create(t, s, key("s"))
			if err := s.Exec(t.Context(), `PRAGMA max_page_count = 300`); err != nil {
				t.Fatal(err)
			}
			update := func() error {
				return s.Update(t.Context(), func(tx store.Tx) error {
					err := tx.Savepoint(t.Context(), func() error {
						_, err := tx.Memory().InsertItems(t.Context(), manyItems(1, func(_ int, m *memory.Row) { m.Data = strings.Repeat("x", 2<<20) }))
						if !errors.Is(err, store.ErrFull) {
							t.Errorf("insert: %v", err)
						}
						return nil // as if it did not matter
					})
					if !errors.Is(err, store.ErrFull) {
						t.Errorf("savepoint: %v", err)
					}
					if err := tx.Outbox().InsertEvent(t.Context(), event.Event{ID: "astray", Tenant: "default"}); !errors.Is(err, store.ErrFull) {
						t.Errorf("event: %v", err)
					}
					return nil
				})
			}
			fine := func() error { return nil }
			if alone {
				if err := update(); !errors.Is(err, store.ErrFull) {
					t.Errorf("got %v, want ErrFull", err)
				}
			} else {
				errs := holding(t, s, appending(t.Context(), s, info.Key, "first", fine), update, appending(t.Context(), s, info.Key, "last", fine))
				if errs[0] != nil || !errors.Is(errs[1], store.ErrFull) || errs[2] != nil {
					t.Errorf("got %v", errs)
				}
			}
			err := s.View(t.Context(), func(tx store.Tx) error {
				events, err := tx.Outbox().Events(t.Context(), "default", "", 0, 10)
				if len(events) > 0 {
					t.Errorf("events %v", events)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// What is inserted by one statement goes to its table at once, and not to one between first.
func TestRowsAreInsertedWithoutAnotherTable(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	copying, err := s.Copying(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range copying {
		t.Error(sql)
	}
}
