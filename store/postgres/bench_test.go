package postgres_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

// BenchmarkAppend measures durable appends of turns of 2 KB: one after another on one connection,
// and by 128 sessions at once.
func BenchmarkAppend(b *testing.B) {
	cluster := startCluster(b, pgtest.Options{Durable: true})
	text := strings.Repeat("lorem ip", 256)
	for _, bench := range []struct {
		name            string
		sessions, conns int
	}{
		{"one connection", 1, 1},
		{"128 sessions", 128, 0},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s := open(b, cluster.URL(), postgres.Config{MaxConns: bench.conns})
			keys := make([]turn.Key, bench.sessions)
			for i := range keys {
				keys[i] = create(b, s, newIDs.Next(time.Now()))
			}
			var begun atomic.Int64
			var group sync.WaitGroup
			b.ResetTimer()
			for _, k := range keys {
				group.Go(func() {
					for begun.Add(1) <= int64(b.N) {
						if _, err := try(b.Context(), s, k, said(text)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
		})
	}
}
