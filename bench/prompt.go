package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// benchPrompt: compiling a prompt after one more turn, at a thousand, ten thousand and a million turns of
// history. What is compiled is kept, so that it can be made again.
func benchPrompt(ctx context.Context, b *bench) error {
	path := b.file("prompt.db")
	var names []string
	err := onSQLite(ctx, path, turnstone.Config{}, func(eng *turnstone.Engine, st *sqlite.Store) error {
		for _, n := range []int{1_000, 10_000, 1_000_000} {
			name := fmt.Sprint("history-", n)
			if _, err := seed(ctx, eng, st, name, n, 120); err != nil {
				return err
			}
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	allocs := make([]float64, len(names))
	warm, err := b.compileEach(ctx, path, names, turnstone.Config{}, func(i int, chat *turnstone.Session) (us float64, err error) {
		us, allocs[i], err = compile(ctx, chat)
		return us, err
	})
	if err != nil {
		return err
	}
	// With room for one prompt in memory, every session makes the engine forget the one before.
	cold, err := b.compileEach(ctx, path, names, turnstone.Config{Windows: 1}, func(_ int, chat *turnstone.Session) (float64, error) {
		start := time.Now()
		_, err := chat.Prompt(ctx, promptOptions)
		return microseconds(start), err
	})
	if err != nil {
		return err
	}
	b.atMost(1000, Line{Name: "compile a prompt at 10,000 turns, p50", Ours: warm[1], Unit: "µs", Against: "absolute, kept on disk"})
	b.atMost(1.3, Line{Name: "compile at 10,000 turns", Ours: warm[1], Baseline: warm[0], Unit: "µs", Against: "at 1,000 turns"})
	b.atMost(1.5, Line{Name: "compile at 1,000,000 turns", Ours: warm[2], Baseline: warm[0], Unit: "µs", Against: "at 1,000 turns"})
	b.atMost(1.1, Line{Name: "compile at 1,000,000 turns, allocations", Ours: allocs[2], Baseline: allocs[0], Unit: "allocs", Against: "at 1,000 turns"})
	b.atMost(1.5, Line{Name: "first compile at 1,000,000 turns", Ours: cold[2], Baseline: cold[0], Unit: "µs", Against: "at 1,000 turns"})
	return nil
}

var promptOptions = turnstone.PromptOptions{Model: "llama3.2", Context: 8192}

func onSQLite(ctx context.Context, path string, config turnstone.Config, f func(*turnstone.Engine, *sqlite.Store) error) error {
	st, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		return err
	}
	eng, err := turnstone.Open(ctx, st, config)
	if err != nil {
		return err
	}
	return firstError(f(eng, st), eng.Close())
}

// compileEach measures the sessions in turns and returns the median of each.
func (b *bench) compileEach(
	ctx context.Context, path string, names []string, config turnstone.Config, measure func(int, *turnstone.Session) (float64, error),
) (medians []float64, err error) {
	err = onSQLite(ctx, path, config, func(eng *turnstone.Engine, _ *sqlite.Store) error {
		var variants []func() (float64, error)
		for i, name := range names {
			chat, err := eng.Session(ctx, name)
			if err != nil {
				return err
			}
			// The first prompt opens an epoch.
			if _, err := chat.Prompt(ctx, promptOptions); err != nil {
				return err
			}
			variants = append(variants, func() (float64, error) { return measure(i, chat) })
		}
		medians, err = b.interleave(variants...)
		return err
	})
	return medians, err
}

// compile appends a turn and compiles, sixty times, and returns the median time of a compile and its
// allocations.
func compile(ctx context.Context, chat *turnstone.Session) (us, allocs float64, err error) {
	var took, made []float64
	for range 60 {
		if _, err := chat.Append(ctx, userText("And what follows from that for the second part of the plan?")); err != nil {
			return 0, 0, err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		if _, err := chat.Prompt(ctx, promptOptions); err != nil {
			return 0, 0, err
		}
		took = append(took, microseconds(start))
		runtime.ReadMemStats(&after)
		made = append(made, float64(after.Mallocs-before.Mallocs))
	}
	return median(took), median(made), nil
}

func microseconds(since time.Time) float64 { return float64(time.Since(since).Nanoseconds()) / 1000 }
