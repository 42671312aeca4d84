package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// record is a turn of 2 KB.
var record = strings.Repeat("the quick brown fox jumps over the lazy dog; ", 44)[:1900]

func p50(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1e3, "p99-µs")
}

func BenchmarkAppendOne(b *testing.B) {
	b.Run("file", func(b *testing.B) {
		file, err := os.Create(filepath.Join(b.TempDir(), "log"))
		if err != nil {
			b.Fatal(err)
		}
		defer file.Close()
		data := []byte(record)
		var times []time.Duration
		for b.Loop() {
			start := time.Now()
			if _, err := file.Write(data); err != nil {
				b.Fatal(err)
			}
			if err := file.Sync(); err != nil {
				b.Fatal(err)
			}
			times = append(times, time.Since(start))
		}
		p50(b, times)
	})
	b.Run("sqlite", func(b *testing.B) {
		s := openNew(b, sqlite.Config{})
		k := create(b, s, key("one")).Key
		var times []time.Duration
		b.ReportAllocs()
		for b.Loop() {
			start := time.Now()
			if _, err := say(b.Context(), s, k, record); err != nil {
				b.Fatal(err)
			}
			times = append(times, time.Since(start))
		}
		p50(b, times)
	})
}

const crowd = 128

func BenchmarkAppendMany(b *testing.B) {
	b.Run("file", func(b *testing.B) {
		l, err := newGroupLog(filepath.Join(b.TempDir(), "log"))
		if err != nil {
			b.Fatal(err)
		}
		data := []byte(record)
		many(b, func(int) error { return l.append(data) })
	})
	for name, config := range map[string]sqlite.Config{"sqlite": {}, "sqlite-alone": {GroupCommit: 1}} {
		b.Run(name, func(b *testing.B) {
			s := openNew(b, config)
			keys := make([]turn.Key, crowd)
			for i := range keys {
				keys[i] = create(b, s, key(fmt.Sprintf("session-%d", i))).Key
			}
			b.ReportAllocs()
			many(b, func(i int) error {
				_, err := say(b.Context(), s, keys[i], record)
				return err
			})
		})
	}
}

func many(b *testing.B, do func(i int) error) {
	var all sync.WaitGroup
	n := b.N/crowd + 1
	b.ResetTimer()
	for i := range crowd {
		all.Go(func() {
			for range n {
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(n*crowd)/b.Elapsed().Seconds(), "appends/s")
}

// groupLog is a bare file that many append to, with one fsync for all that wait.
type groupLog struct {
	file      *os.File
	mu        sync.Mutex
	change    *sync.Cond
	buffer    []byte
	put, done int
	syncing   bool
	err       error
}

func newGroupLog(path string) (*groupLog, error) {
	file, err := os.Create(path)
	l := &groupLog{file: file}
	l.change = sync.NewCond(&l.mu)
	return l, err
}

func (l *groupLog) append(record []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buffer = append(l.buffer, record...)
	l.put++
	mine := l.put
	for l.done < mine && l.err == nil {
		if l.syncing {
			l.change.Wait()
			continue
		}
		l.syncing = true
		data, upTo := l.buffer, l.put
		l.buffer = nil
		l.mu.Unlock()
		_, err := l.file.Write(data)
		if err == nil {
			err = l.file.Sync()
		}
		l.mu.Lock()
		l.syncing, l.done, l.err = false, upTo, err
		l.change.Broadcast()
	}
	return l.err
}
