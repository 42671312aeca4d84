package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// exchange is what one turn commit writes.
type exchange struct {
	turns        []turn.Sealed
	items        []memory.Row
	goal         cortex.Row
	observations []scratch.Row
	digest       memory.DigestRow
	export       event.Export
	part         trace.Part
	size         int // bytes of user data
}

// exchanges makes what a session commits, one exchange after the other.
type exchanges struct {
	info    turn.SessionInfo
	random  *rand.Rand
	version int64
}

func newExchanges(info turn.SessionInfo, seed uint64) *exchanges {
	return &exchanges{info: info, random: rand.New(rand.NewPCG(seed, 7))}
}

func (x *exchanges) json(size int) string { return `{"text":"` + prose(x.random, size) + `"}` }

func (x *exchanges) next(tb testing.TB) exchange {
	now := time.Now().UTC().Truncate(time.Microsecond)
	x.version++
	var e exchange
	for i, size := range []int{600, 3000, 1800} {
		role := []turn.Role{turn.User, turn.System, turn.Agent}[i]
		sealed, err := seal(role, turn.Text{Text: prose(x.random, size)})
		if err != nil {
			tb.Fatal(err)
		}
		e.turns = append(e.turns, sealed)
		e.size += size
	}
	days := []time.Duration{1, 7, 30}
	types := []memory.Type{memory.ToolResult, memory.Observation, memory.Error}
	for i := range 5 {
		e.items = append(e.items, memory.Row{
			Tenant: x.info.Tenant, ID: newID(), Segment: x.info.Segment, Session: x.info.Session, User: "ana",
			Type: types[i%3], Importance: x.random.Int64N(1_000_000), Created: now, Expires: now.Add(days[i%3] * 24 * time.Hour),
			Text: prose(x.random, 250), Data: x.json(2500), About: `{"tags":["trip","city"],"turns":["` + newID() + `"]}`,
		})
		e.size += 250 + 2500 + 60
	}
	e.goal = cortex.Row{Kind: cortex.KindGoal, ID: x.info.Session + "-goal", Version: x.version, Live: true, Doc: x.json(700), Change: x.json(150), At: now}
	for range 2 {
		e.observations = append(e.observations, scratch.Row{
			ID: newID(), Type: "note", Status: scratch.Active, Doc: x.json(350), At: now, Expires: now.Add(24 * time.Hour),
		})
	}
	e.digest = memory.DigestRow{Doc: x.json(1200), At: now}
	e.export = event.Export{
		Tenant: x.info.Tenant, Session: x.info.Session, Segment: x.info.Segment, ID: newID(), TurnID: newID(),
		Status: "complete", Body: x.json(2000), At: now,
	}
	e.part = trace.Part{TurnID: e.export.TurnID, Segment: x.info.Segment, ID: newID(), At: now, Body: x.json(1200)}
	e.size += 700 + 150 + 2*350 + 1200 + 2000 + 1200
	return e
}

// commitExchange writes an exchange as the pipeline does: a savepoint for each target.
func commitExchange(ctx context.Context, s store.Store, info turn.SessionInfo, e exchange) error {
	return s.Update(ctx, func(tx store.Tx) error {
		err := tx.Savepoint(ctx, func() error {
			if _, err := turn.Append(ctx, tx.Log(), info.Key, tx.Now(), e.turns...); err != nil {
				return err
			}
			return tx.Memory().PutDigest(ctx, info.Tenant, info.Segment, e.digest)
		})
		if err != nil {
			return err
		}
		err = tx.Savepoint(ctx, func() error {
			_, err := tx.Memory().InsertItems(ctx, e.items)
			return err
		})
		if err != nil {
			return err
		}
		err = tx.Savepoint(ctx, func() error { return tx.Cortex().InsertVersion(ctx, info.Tenant, info.Segment, e.goal) })
		if err != nil {
			return err
		}
		err = tx.Savepoint(ctx, func() error {
			for _, o := range e.observations {
				if err := tx.Scratch().PutObservation(ctx, info.Tenant, info.Segment, o); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := tx.Outbox().InsertExport(ctx, e.export); err != nil {
			return err
		}
		return tx.Trace().InsertPart(ctx, info.Tenant, e.part)
	})
}

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
