package inproc_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/inproc"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// whole gives each export the same body.
type whole []byte

func (w whole) Messages(_ context.Context, exports []event.Export) ([]event.Message, error) {
	messages := make([]event.Message, len(exports))
	for i, e := range exports {
		messages[i] = event.Message{Tenant: e.Tenant, Session: e.Session, ID: e.ID, TurnID: e.TurnID, Body: w}
	}
	return messages, nil
}

// fill adds n exports of 64 sessions.
func fill(b *testing.B, st store.Store, n int, body string) {
	source := ids.New(nil)
	for done := 0; done < n; {
		some := min(1000, n-done)
		err := st.Update(b.Context(), func(tx store.Tx) error {
			for i := done; i < done+some; i++ {
				err := tx.Outbox().InsertExport(b.Context(), event.Export{
					Tenant: "tenant", Session: fmt.Sprint("s", i%64), Segment: int64(i%64 + 1),
					ID: source.Next(tx.Now()), TurnID: source.Next(tx.Now()),
					First: int64(i), Last: int64(i), Status: "complete", Body: body, At: tx.Now(),
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		done += some
	}
}

// BenchmarkRelayInproc takes exports from the outbox through the relay to the handler of one daemon
// and its mark. The store's body is what an export keeps besides the log.
func BenchmarkRelayInproc(b *testing.B) {
	stores := map[string]func() store.Store{
		"mem": func() store.Store { return mem.New(mem.Config{}) },
		"sqlite": func() store.Store {
			st, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "bench.db"), sqlite.Config{})
			if err != nil {
				b.Fatal(err)
			}
			return st
		},
	}
	for name, open := range stores {
		for _, size := range []int{200, 25 << 10} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				st := open()
				relayAll(b, st, size)
				if err := st.Close(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

func relayAll(b *testing.B, st store.Store, size int) {
	fill(b, st, b.N, strings.Repeat("x", min(size, 4<<10)))
	queue := inproc.New(st, whole(strings.Repeat("x", size)), nil, inproc.Config{})
	relay := bus.NewRelay(st, queue, bus.RelayConfig{})
	var handled sync.WaitGroup
	handled.Add(b.N)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.ResetTimer()
	begin := time.Now()
	_, err := queue.Subscribe(ctx, "indexer", func(context.Context, event.Message) (int, error) {
		handled.Done()
		return 1, nil
	}, bus.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { relay.Run(ctx) })
	handled.Wait()
	if err := queue.Close(); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "exports/s")
	cancel()
	running.Wait()
}
