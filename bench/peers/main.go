// Command peers runs Turnstone and other Go libraries that keep conversations on the same work:
// 2,000 events appended to one session, one after the other, then the last 50 read. Each writes to
// SQLite as it does by itself, every append on disk before the next; the others are also run with a
// write-ahead log, which their users can turn on by hand, and marked as tuned.
//
// It prints a JSON line per system, ours first; the numbers are medians of interleaved rounds.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
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

var systems = []struct {
	name  string
	open  func(ctx context.Context, path string) (system, error)
	tuned bool
}{
	{"turnstone, SQLite", openTurnstone, false},
	{"adk/v2 session/database, SQLite", openADK, false},
	{"langchaingo sqlite3 history", openLangchain, false},
	{"adk/v2, with a write-ahead log", withLog(openADK), true},
	{"langchaingo, with a write-ahead log", withLog(openLangchain), true},
}

// withLog asks the driver for a write-ahead log that is synced at every commit.
func withLog(open func(context.Context, string) (system, error)) func(context.Context, string) (system, error) {
	return func(ctx context.Context, path string) (system, error) {
		return open(ctx, path+"?_journal_mode=WAL&_synchronous=FULL")
	}
}

type result struct {
	System string  `json:"system"`
	Tuned  bool    `json:"tuned"`
	Append float64 `json:"append_ms"`
	Read   float64 `json:"read_us"`
}

func main() {
	rounds := flag.Int("rounds", 5, "rounds per system")
	flag.Parse()
	if err := run(context.Background(), *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int) error {
	dir, err := os.MkdirTemp("", "turnstone-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	appends, reads := make([][]float64, len(systems)), make([][]float64, len(systems))
	for round := range rounds {
		for i, s := range systems {
			a, r, err := measure(ctx, s.open, filepath.Join(dir, fmt.Sprintf("%d-%d.db", round, i)))
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			appends[i], reads[i] = append(appends[i], a), append(reads[i], r)
		}
	}
	out := json.NewEncoder(os.Stdout)
	for i, s := range systems {
		if err := out.Encode(result{s.name, s.tuned, median(appends[i]), median(reads[i])}); err != nil {
			return err
		}
	}
	return nil
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
