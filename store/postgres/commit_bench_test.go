package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// BenchmarkCommit is a turn commit as the pipeline writes it, of 16 sessions at once.
func BenchmarkCommit(b *testing.B) {
	s := open(b, startCluster(b, pgtest.Options{Durable: true}).URL(), postgres.Config{})
	var next atomic.Int64
	text := strings.Repeat("a few words of what was said ", 50)
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		segment := next.Add(1)
		k := create(b, s, fmt.Sprint("s", segment))
		for n := int64(1); pb.Next(); n++ {
			sealed, err := seal(said(text), said(text))
			if err != nil {
				b.Error(err)
				return
			}
			if err := s.Update(b.Context(), func(tx store.Tx) error { return commitLike(b.Context(), tx, k, segment, n, text, sealed) }); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// commitLike writes what a commit writes, each target under a savepoint.
func commitLike(ctx context.Context, tx store.Tx, k turn.Key, segment, n int64, text string, sealed []turn.Sealed) error {
	now := tx.Now()
	turns, err := turn.Append(ctx, tx.Log(), k, now, sealed...)
	if err != nil {
		return err
	}
	for _, target := range []func() error{
		func() error {
			var rows []memory.Row
			for range 5 {
				rows = append(rows, memory.Row{Tenant: k.Tenant, ID: newIDs.Next(now), Segment: segment, Session: k.Session, User: "u",
					Type: memory.UserData, Importance: n, Created: now, Text: text, About: `{"tags":["bench"]}`})
			}
			_, err := tx.Memory().InsertItems(ctx, rows)
			return err
		},
		func() error {
			g := goal("g", n)
			g.Doc, g.At = text, now
			return tx.Cortex().InsertVersion(ctx, k.Tenant, segment, g)
		},
		func() error {
			for i := range 2 {
				err := tx.Scratch().PutObservation(ctx, k.Tenant, segment,
					scratch.Row{ID: fmt.Sprint(i), Status: scratch.Active, Doc: text, At: now, Expires: now.Add(time.Hour)})
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		if err := tx.Savepoint(ctx, target); err != nil {
			return err
		}
	}
	id := newIDs.Next(now)
	if err := tx.Trace().InsertParts(ctx, k.Tenant, trace.Part{TurnID: turns[0].ID, Segment: segment, ID: id, At: now, Body: text}); err != nil {
		return err
	}
	return tx.Savepoint(ctx, func() error {
		return tx.Outbox().InsertExport(ctx, event.Export{Tenant: k.Tenant, Session: k.Session, Segment: segment, ID: id,
			TurnID: turns[0].ID, First: turns[0].Seq, Last: turns[1].Seq, Body: text, At: now})
	})
}

// BenchmarkPublish publishes what 200 sessions left, 500 exports a round.
func BenchmarkPublish(b *testing.B) {
	address := startCluster(b, pgtest.Options{Durable: true}).URL()
	s := open(b, address, postgres.Config{})
	execute(b, connect(b, address), `INSERT INTO exports SELECT 'default', 'e' || n, 's' || n % 200, n % 200, '', n, n, '', repeat('x', 1000), 0, NULL
		FROM generate_series(1, $1) n`, b.N)
	b.ResetTimer()
	for left := b.N; left > 0; {
		n := len(round(b, s, 500))
		if n == 0 {
			b.Fatalf("%d exports are left", left)
		}
		left -= n
	}
}
