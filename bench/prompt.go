package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
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
	allocs, means := make([]float64, len(names)), make([][]float64, len(names))
	warm, err := b.compileEach(ctx, path, names, turnstone.Config{}, func(i int, chat *turnstone.Session) (us float64, err error) {
		var mean float64
		us, mean, allocs[i], err = compile(ctx, chat)
		means[i] = append(means[i], mean)
		return us, err
	})
	if err != nil {
		return err
	}
	// With room for one prompt in memory, every session makes the engine forget the one before.
	cold, err := b.compileEach(ctx, path, names, turnstone.Config{Windows: 1}, func(_ int, chat *turnstone.Session) (float64, error) {
		start := time.Now()
		_, err := chat.Prompt(ctx, promptOptions)
		return micros(start), err
	})
	if err != nil {
		return err
	}
	b.atMost(1000, Line{Name: "compile a prompt at 10,000 turns, p50", Ours: warm[1], Unit: "µs", Against: "absolute, kept on disk"})
	b.atMost(1.5, Line{Name: "compile at 1,000,000 turns, mean with the epochs it opens", Ours: median(means[2]), Baseline: median(means[0]), Unit: "µs", Against: "at 1,000 turns"})
	b.atMost(1.3, Line{Name: "compile at 10,000 turns", Ours: warm[1], Baseline: warm[0], Unit: "µs", Against: "at 1,000 turns"})
	b.atMost(1.5, Line{Name: "compile at 1,000,000 turns", Ours: warm[2], Baseline: warm[0], Unit: "µs", Against: "at 1,000 turns"})
	b.atMost(1.1, Line{Name: "compile at 1,000,000 turns, allocations", Ours: allocs[2], Baseline: allocs[0], Unit: "allocs", Against: "at 1,000 turns"})
	b.atMost(1.5, Line{Name: "first compile at 1,000,000 turns", Ours: cold[2], Baseline: cold[0], Unit: "µs", Against: "at 1,000 turns"})
	return nil
}

var promptOptions = turnstone.PromptOptions{Model: "llama3.2", Context: 8192, Settings: &prompt.Settings{
	System: "You help to plan releases. Answer in one paragraph.", Mandates: []string{"Never promise a date."},
	Tools: []prompt.Definition{{Name: "search", Description: "Searches the log.", Schema: `{"type":"object","properties":{"q":{"type":"string"}}}`}},
}}

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
			if err := intendAndPin(ctx, chat); err != nil {
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

// intendAndPin gives a session a goal, and pins two of its turns.
func intendAndPin(ctx context.Context, chat *turnstone.Session) error {
	title := "Ship the next release"
	changes := cortex.Changes{Goals: []cortex.GoalChange{{ID: "release", Title: &title, By: cortex.ActorUser}}}
	if _, err := chat.Intend(ctx, changes); err != nil {
		return err
	}
	return firstError(chat.Pin(ctx, 1), chat.Pin(ctx, 3))
}

// compile appends a turn and compiles, 120 times, so that epochs are opened on the way, and returns the median
// and the mean time of a compile and its allocations.
func compile(ctx context.Context, chat *turnstone.Session) (us, mean, allocs float64, err error) {
	var took, made []float64
	for i := range 120 {
		d := userText("And what follows from that for the second part of the plan?")
		if i%2 == 1 {
			d = turn.Draft{Role: turn.Agent, Content: turn.Text{Text: strings.Repeat("It follows that the first part comes before it. ", 8)}}
		}
		if _, err := chat.Append(ctx, d); err != nil {
			return 0, 0, 0, err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		if _, err := chat.Prompt(ctx, promptOptions); err != nil {
			return 0, 0, 0, err
		}
		took = append(took, micros(start))
		mean += took[i] / 120
		runtime.ReadMemStats(&after)
		made = append(made, float64(after.Mallocs-before.Mallocs))
	}
	return median(took), mean, median(made), nil
}
