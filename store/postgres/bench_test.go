package postgres_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

// BenchmarkAppend measures durable appends of turns of 2 KB, by one session on one connection and by
// 128 sessions at once.
func BenchmarkAppend(b *testing.B) {
	cluster, err := pgtest.Start(b.Context(), pgtest.Options{Durable: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			b.Error(err)
		}
	})
	for _, c := range []struct{ sessions, conns int }{{1, 1}, {128, 4}, {128, 8}, {128, 16}, {128, 32}, {128, 64}} {
		b.Run(fmt.Sprintf("sessions=%d/conns=%d", c.sessions, c.conns), func(b *testing.B) {
			s := open(b, cluster.URL(), postgres.Config{MaxConns: c.conns})
			keys := make([]turn.Key, c.sessions)
			for i := range keys {
				keys[i] = create(b, s, fmt.Sprintf("%s-%d-%d", strings.ReplaceAll(b.Name(), "/", "_")[:9], b.N, i+1000*c.conns))
			}
			var next atomic.Int64
			var group sync.WaitGroup
			b.ResetTimer()
			for _, k := range keys {
				group.Go(func() {
					for next.Add(1) <= int64(b.N) {
						if _, err := try(b.Context(), s, k, said(strings.Repeat("lorem ip", 256))); err != nil {
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
