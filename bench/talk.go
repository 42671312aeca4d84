package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// speaker is a model that says as many words as it was told to, one every now and then. The first comes at once:
// everything before it is the engine's.
type speaker struct {
	words int
	every time.Duration
}

// Stream implements [llm.Model].
func (s speaker) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for i := range s.words {
			if i > 0 && s.every > 0 && !pause.For(ctx, s.every) {
				yield(llm.Chunk{}, llm.Ended(ctx))
				return
			}
			if !yield(llm.Chunk{Text: "Something follows. "}, nil) {
				return
			}
		}
		yield(llm.Chunk{Stop: llm.StopEnd}, nil)
	}
}

// firstToken says something and returns how long the first piece of the reply took. The model takes no time for it.
func firstToken(ctx context.Context, chat *turnstone.Session, text string) (us float64, err error) {
	start := time.Now()
	for piece, err := range chat.Stream(ctx, text) {
		if err != nil {
			return 0, err
		}
		if us == 0 && piece.Text != "" {
			us = micros(start)
		}
	}
	return us, nil
}

// benchFirstToken: what the engine adds before the first token of a reply, in a session of 10,000 turns that goes on:
// the input is on disk, the prompt compiled and kept. Turns leave the prompt on the way, in the background: the user
// reads for a moment before the next question.
func benchFirstToken(ctx context.Context, b *bench) error {
	const exchanges, reading = 200, 20 * time.Millisecond
	config := turnstone.Config{Model: speaker{words: 24}, ModelName: "llama3.2", Context: 8192, Prompt: *promptOptions.Settings}
	return onSQLite(ctx, b.file("talk.db"), config, func(eng *turnstone.Engine, st *sqlite.Store) error {
		if _, err := seed(ctx, eng, st, "talk", 10_000, 120); err != nil {
			return err
		}
		chat, err := eng.Session(ctx, "talk")
		if err != nil {
			return err
		}
		if _, err := firstToken(ctx, chat, "The first prompt opens an epoch."); err != nil {
			return err
		}
		aside, err := eng.Session(ctx, "aside")
		if err != nil {
			return err
		}
		var middle, late, alone []float64
		for range b.rounds {
			took := make([]float64, exchanges)
			for i := range took {
				// One append beside each, so that both meet the same machine.
				start := time.Now()
				if _, err := aside.Append(ctx, userText("And what follows from that for the next one?")); err != nil {
					return err
				}
				alone = append(alone, micros(start))
				if !pause.For(ctx, reading) {
					return ctx.Err()
				}
				if took[i], err = firstToken(ctx, chat, fmt.Sprintf("And what follows from part %d of the plan for the next one?", i)); err != nil {
					return err
				}
			}
			middle, late = append(middle, percentile(took, 0.50)), append(late, percentile(took, 0.99))
		}
		b.atMost(1000, Line{Name: "engine before the first token at 10,000 turns, p50", Ours: slices.Min(middle), Unit: "µs", Against: "absolute, best of rounds"})
		b.atMost(2000, Line{Name: "engine before the first token at 10,000 turns, p99", Ours: slices.Min(late), Unit: "µs", Against: "absolute, best of rounds"})
		b.show(Line{Name: "engine before the first token at 10,000 turns, p50", Ours: median(middle), Baseline: median(alone), Unit: "µs", Against: "appending the input alone"})
		return nil
	})
}
