package faulty_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// pass makes every write of a pass, in the order of faulty.PassPoints.
func pass(ctx context.Context, st store.Store) error {
	key, at := turn.Key{Tenant: "default", Session: "s"}, time.UnixMicro(0).UTC()
	return st.Update(ctx, func(tx store.Tx) error {
		segment, err := tx.Log().InsertSession(ctx, turn.SessionInfo{Key: key, Status: turn.Active})
		if err != nil {
			return err
		}
		summary := turn.Turn{ID: "01J00000000000000000000000", Seq: 1, Role: turn.System, Form: turn.FormText, Content: turn.Text{Text: "x"}}
		for _, write := range []func() error{
			func() error {
				return tx.Snapshot().InsertSnapshot(ctx, key.Tenant, segment, snapshot.Row{ID: "x", Doc: `{}`, At: at})
			},
			func() error {
				return tx.Compress().InsertCheckpoint(ctx, key.Tenant, segment, compress.Row{Number: 1, Version: 1, Doc: `{}`, At: at})
			},
			func() error {
				return tx.Prompt().InsertEpoch(ctx, key.Tenant, segment, prompt.EpochRow{Number: 1, Doc: `{}`, At: at})
			},
			func() error { return tx.Compress().PutBreaker(ctx, key.Tenant, segment, `{}`, at) },
			func() error {
				return tx.Log().InsertTurns(ctx, key.Tenant, segment, turn.Row{Turn: summary, Encoded: turn.EncodedAs(`{"text":"x"}`)})
			},
			func() error { return tx.Log().Advance(ctx, key, 1, at) },
			func() error {
				return tx.Outbox().InsertEvent(ctx, event.Event{ID: "x", Tenant: key.Tenant, Session: key.Session, Kind: event.SessionEnded, Data: `{}`, At: at})
			},
		} {
			if err := write(); err != nil {
				return err
			}
		}
		return nil
	})
}

func rows(t *testing.T, st store.Store) (n int) {
	t.Helper()
	err := st.Dump(t.Context(), func(store.Row) error { n++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAPassFailsAtEveryPoint(t *testing.T) {
	whole := faulty.New(mem.New(mem.Config{}))
	var passed []string
	whole.Set(func(point string) error { passed = append(passed, point); return nil })
	if err := pass(t.Context(), whole); err != nil || !slices.Equal(passed, faulty.PassPoints) {
		t.Fatalf("passed %v, %v; want %v", passed, err, faulty.PassPoints)
	}
	written := rows(t, whole)
	boom := errors.New("boom")
	for _, point := range faulty.PassPoints {
		st := faulty.New(mem.New(mem.Config{}))
		st.Set(func(at string) error {
			if at == point {
				return boom
			}
			return nil
		})
		if err := pass(t.Context(), st); !errors.Is(err, boom) {
			t.Errorf("%s: %v, want %v", point, err, boom)
		}
		want := 0
		if point == "durable" {
			want = written
		}
		if n := rows(t, st); n != want {
			t.Errorf("%s: %d rows are there, want %d", point, n, want)
		}
		st.Set(nil)
		if err := pass(t.Context(), st); point != "durable" && (err != nil || rows(t, st) != written) {
			t.Errorf("%s: a pass without faults: %v, %d rows", point, err, rows(t, st))
		}
	}
}
