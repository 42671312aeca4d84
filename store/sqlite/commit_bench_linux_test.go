package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// usage is the processor time that this process used and the bytes that it wrote.
func usage(b *testing.B) (cpu time.Duration, written int64) {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	io, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(io)) {
		if _, err := fmt.Sscanf(line, "wchar: %d", &written); err == nil {
			break
		}
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), written
}

// BenchmarkCommit commits exchanges of about 25 KB. The bare file is written to in turns with the store,
// so that both meet the same disk.
func BenchmarkCommit(b *testing.B) {
	for _, items := range []int{0, 100_000} {
		b.Run(fmt.Sprintf("one/items=%d", items), func(b *testing.B) { benchCommitOne(b, items) })
	}
	for _, config := range []sqlite.Config{{}, {GroupCommit: 1}} {
		b.Run(fmt.Sprintf("many/group=%d", config.GroupCommit), func(b *testing.B) { benchCommitMany(b, config) })
	}
}

func benchCommitOne(b *testing.B, items int) {
	s := openNew(b, sqlite.Config{})
	info := create(b, s, key("one"))
	x := newExchanges(info, 1)
	fillMemory(b, s, info, items)
	file, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	var ours, bare []time.Duration
	for b.Loop() {
		e := x.next(b)
		start := time.Now()
		if err := commitExchange(b.Context(), s, info, e); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start))
		data := make([]byte, e.size)
		start = time.Now()
		if _, err := file.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := file.Sync(); err != nil {
			b.Fatal(err)
		}
		bare = append(bare, time.Since(start))
	}
	slices.Sort(ours)
	slices.Sort(bare)
	median := func(d []time.Duration) float64 { return float64(d[len(d)/2].Nanoseconds()) / 1e3 }
	b.ReportMetric(median(ours), "p50-µs")
	b.ReportMetric(median(bare), "bare-p50-µs")
	b.ReportMetric(median(ours)/median(bare), "x-bare")
	b.ReportMetric(float64(ours[len(ours)*99/100].Nanoseconds())/1e3, "p99-µs")
}

func fillMemory(b *testing.B, s *sqlite.Store, info turn.SessionInfo, items int) {
	b.Helper()
	x := newExchanges(info, 2)
	for n := 0; n < items; {
		err := s.Update(b.Context(), func(tx store.Tx) error {
			for range 200 {
				e := x.next(b)
				added, err := tx.Memory().InsertItems(b.Context(), e.items)
				if err != nil {
					return err
				}
				n += added
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := s.IndexText(b.Context()); err != nil {
		b.Fatal(err)
	}
}

const committers = 64

func benchCommitMany(b *testing.B, config sqlite.Config) {
	s := openNew(b, config)
	n := b.N/committers + 1
	work := make([][]exchange, committers)
	infos := make([]turn.SessionInfo, committers)
	sources := make([]*exchanges, committers)
	for i := range sources {
		infos[i] = create(b, s, key(fmt.Sprintf("session-%d", i)))
		sources[i] = newExchanges(infos[i], uint64(i))
	}
	size := 0
	// Made in the order in which they will be committed, as their ids would be.
	for range n {
		for i, x := range sources {
			work[i] = append(work[i], x.next(b))
			size += work[i][len(work[i])-1].size
		}
	}
	cpu, written := usage(b)
	b.ResetTimer()
	var all sync.WaitGroup
	for i := range work {
		all.Go(func() {
			for _, e := range work[i] {
				if err := commitExchange(b.Context(), s, infos[i], e); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	count := float64(n * committers)
	cpuAfter, writtenAfter := usage(b)
	b.ReportMetric(b.Elapsed().Seconds()*1e6/count, "µs/commit")
	b.ReportMetric(float64((cpuAfter-cpu).Microseconds())/count, "cpu-µs/commit")
	b.ReportMetric(float64(writtenAfter-written)/float64(size), "written/B")
	if err := s.IndexText(b.Context()); err != nil {
		b.Fatal(err)
	}
	s.EmptyLog(b)
	cpuAfter, writtenAfter = usage(b)
	b.ReportMetric(float64((cpuAfter-cpu).Microseconds())/count, "indexed-cpu-µs/commit")
	b.ReportMetric(float64(writtenAfter-written)/float64(size), "indexed-written/B")
}
