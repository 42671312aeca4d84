package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	events = 2_000
	last   = 50
)

var text = strings.Repeat("four hundred bytes of a turn, or nearly so; ", 9)[:390]

// system is one library with one session in one file.
type system interface {
	append(ctx context.Context, role, text string) error
	// readLast returns how many events came back and the text of the newest.
	readLast(ctx context.Context) (n int, newest string, err error)
	close() error
}

// logSystem is a library set up to keep events.
type logSystem struct {
	name  string
	open  func(ctx context.Context, path string) (system, error)
	tuned bool
}

// writeAhead asks a driver for a write-ahead log that is synced at every commit.
const writeAhead = "?_journal_mode=WAL&_synchronous=FULL"

func withLog(open func(context.Context, string) (system, error)) func(context.Context, string) (system, error) {
	return func(ctx context.Context, path string) (system, error) {
		return open(ctx, path+writeAhead)
	}
}

type logResult struct {
	System string  `json:"system"`
	Tuned  bool    `json:"tuned"`
	Append float64 `json:"append_ms"`
	Read   float64 `json:"read_us"`
}

func logAll(ctx context.Context, folder string, systems []logSystem, rounds int) ([]logResult, error) {
	appends, reads := make([][]float64, len(systems)), make([][]float64, len(systems))
	for round := range rounds {
		for i, s := range systems {
			a, r, err := measure(ctx, s.open, filepath.Join(folder, fmt.Sprintf("%d-%d.db", round, i)))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			appends[i], reads[i] = append(appends[i], a), append(reads[i], r)
		}
	}
	results := make([]logResult, len(systems))
	for i, s := range systems {
		results[i] = logResult{s.name, s.tuned, median(appends[i]), median(reads[i])}
	}
	return results, nil
}

func measure(ctx context.Context, open func(context.Context, string) (system, error), path string) (appendMS, readUS float64, err error) {
	s, err := open(ctx, path)
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		if cerr := s.close(); err == nil {
			err = cerr
		}
	}()
	start := time.Now()
	for i := range events {
		role := "user"
		if i%2 == 1 {
			role = "agent"
		}
		if err := s.append(ctx, role, fmt.Sprintf("%d %s", i, text)); err != nil {
			return 0, 0, err
		}
	}
	appendMS = float64(time.Since(start).Microseconds()) / 1e3
	var times []float64
	for range 40 {
		start := time.Now()
		n, newest, err := s.readLast(ctx)
		if err != nil {
			return 0, 0, err
		}
		if want := fmt.Sprintf("%d %s", events-1, text); n != last || newest != want {
			return 0, 0, fmt.Errorf("read %d events, the newest %.20q; want %d and %.20q", n, newest, last, want)
		}
		times = append(times, float64(time.Since(start).Nanoseconds())/1e3)
	}
	return appendMS, median(times), nil
}

func median(xs []float64) float64 {
	xs = slices.Clone(xs)
	slices.Sort(xs)
	return xs[len(xs)/2]
}
