package main

import (
	"context"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// benchWindow: the recent window of seven utterances, from memory.
func benchWindow(ctx context.Context, b *bench) (err error) {
	eng, st, err := openSQLite(ctx, b.file("window.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, eng.Close()) }()
	if _, err := seed(ctx, eng, st, "w", 48, 400); err != nil {
		return err
	}
	chat, err := eng.Session(ctx, "w")
	if err != nil {
		return err
	}
	var allocs float64
	ns, err := b.best(func() (float64, error) {
		var failed error
		r := testing.Benchmark(func(tb *testing.B) {
			tb.ReportAllocs()
			for range tb.N {
				if _, err := chat.Window(ctx); err != nil {
					failed = err
				}
			}
		})
		allocs = max(allocs, float64(r.AllocsPerOp()))
		return float64(r.NsPerOp()), failed
	})
	if err != nil {
		return err
	}
	b.atMost(1000, Line{Name: "recent window read", Ours: ns, Unit: "ns", Against: "absolute, best of rounds"})
	b.atMost(1, Line{Name: "recent window read, allocations", Ours: allocs, Unit: "allocs", Against: "the returned slice"})
	return nil
}

// benchHistory: the last 50 turns of a session of a million, against one of a thousand, and
// opening the store that holds them.
func benchHistory(ctx context.Context, b *bench) (err error) {
	const small, large = 1_000, 1_000_000
	path := b.file("history.db")
	eng, st, err := openSQLite(ctx, path, sqlite.Config{})
	if err != nil {
		return err
	}
	closed := false
	defer func() {
		if !closed {
			err = firstError(err, eng.Close())
		}
	}()
	for name, n := range map[string]int{"small": small, "large": large} {
		if _, err := seed(ctx, eng, st, name, n, 120); err != nil {
			return err
		}
	}
	sessions := make([]*turnstone.Session, 2)
	for i, name := range []string{"large", "small"} {
		if sessions[i], err = eng.Session(ctx, name); err != nil {
			return err
		}
	}
	for _, o := range []struct {
		name string
		turn.HistoryOptions
	}{
		{"compile_history(50)", turn.HistoryOptions{Turns: 50}},
		{"last 50 turns", turn.HistoryOptions{Turns: 50, KeepSystem: true}},
	} {
		read := func(s *turnstone.Session) func() (float64, error) {
			return func() (float64, error) {
				return p50(400, func() error {
					_, err := s.History(ctx, o.HistoryOptions)
					return err
				})
			}
		}
		m, err := b.interleave(read(sessions[0]), read(sessions[1]))
		if err != nil {
			return err
		}
		b.atMost(1.3, Line{Name: o.name + " of 1,000,000", Ours: m[0], Baseline: m[1], Unit: "µs", Against: "the same of 1,000 turns"})
	}
	closed = true
	if err := eng.Close(); err != nil {
		return err
	}
	ms, err := b.best(func() (float64, error) { return openAndRead(ctx, path) })
	if err != nil {
		return err
	}
	b.atMost(50, Line{Name: "open 1,000,000 turns, read the last 50", Ours: ms, Unit: "ms", Against: "absolute, best of rounds"})
	return nil
}

func openAndRead(ctx context.Context, path string) (ms float64, err error) {
	start := time.Now()
	eng, _, err := openSQLite(ctx, path, sqlite.Config{})
	if err != nil {
		return 0, err
	}
	chat, err := eng.Find(ctx, "large")
	if err == nil {
		_, err = chat.History(ctx, turn.HistoryOptions{Turns: 50})
	}
	ms = float64(time.Since(start).Microseconds()) / 1e3
	return ms, firstError(err, eng.Close())
}
