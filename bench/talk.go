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

// speaker is a model that reads for a while, says as many words as it was told to, one every now and then, and notes when
// it did what. It is for one reply at a time.
type speaker struct {
	reading time.Duration
	words   int
	every   time.Duration

	asked, said, ended time.Time // when it was asked, said its first word and had said everything
}

// Stream implements [llm.Model].
func (s *speaker) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		s.asked = time.Now()
		for i := range s.words {
			wait := s.every
			if i == 0 {
				wait = s.reading
			}
			if wait > 0 && !pause.For(ctx, wait) {
				yield(llm.Chunk{}, llm.Ended(ctx))
				return
			}
			if i == 0 {
				s.said = time.Now()
			}
			if !yield(llm.Chunk{Text: "Something follows. "}, nil) {
				return
			}
		}
		s.ended = time.Now()
		yield(llm.Chunk{Stop: llm.StopEnd}, nil)
	}
}

// overhead has one exchange and returns what of it was not the model's: before the first token, and after the last one
// until the exchange is on disk.
func overhead(ctx context.Context, chat *turnstone.Session, model speaker, text string) (before, after time.Duration, err error) {
	start := time.Now()
	for piece, err := range chat.Stream(ctx, text, turnstone.WithModel("llama3.2", &model, 0)) {
		if err != nil {
			return 0, 0, err
		}
		if before == 0 && piece.Text != "" {
			before = model.asked.Sub(start) + time.Since(model.said)
		}
	}
	return before, time.Since(model.ended), nil
}

// benchFirstToken: what the engine adds before the first token of a reply, in a session of 10,000 turns that goes on:
// the input is on disk, the prompt compiled and kept. The model takes as long to read as a fast one does; the engine
// writes meanwhile. Against it stands a model that answers at once, so that all of the writing is in its time. Turns leave
// the prompt on the way, in the background: the user reads for a moment before the next question.
func benchFirstToken(ctx context.Context, b *bench) error {
	const exchanges, reading = 200, 20 * time.Millisecond
	fast, atOnce := speaker{reading: 30 * time.Millisecond, words: 24}, speaker{words: 24}
	config := turnstone.Config{ModelName: "llama3.2", Context: 8192, Prompt: *promptOptions.Settings}
	return onSQLite(ctx, b.file("talk.db"), config, func(eng *turnstone.Engine, st *sqlite.Store) error {
		if _, err := seed(ctx, eng, st, "talk", 10_000, 120); err != nil {
			return err
		}
		chat, err := eng.Session(ctx, "talk")
		if err != nil {
			return err
		}
		if _, _, err := overhead(ctx, chat, atOnce, "The first prompt opens an epoch."); err != nil {
			return err
		}
		var middle, late, unread []float64
		for range b.rounds {
			var took []float64
			for i := range 2 * exchanges {
				// In turns, so that both meet the same machine.
				model := fast
				if i%2 == 1 {
					model = atOnce
				}
				if !pause.For(ctx, reading) {
					return ctx.Err()
				}
				before, _, err := overhead(ctx, chat, model, fmt.Sprintf("And what follows from part %d of the plan for the next one?", i))
				if err != nil {
					return err
				}
				if us := float64(before.Nanoseconds()) / 1e3; i%2 == 1 {
					unread = append(unread, us)
				} else {
					took = append(took, us)
				}
			}
			middle, late = append(middle, percentile(took, 0.50)), append(late, percentile(took, 0.99))
		}
		b.atMost(1000, Line{Name: "engine before the first token at 10,000 turns, p50", Ours: slices.Min(middle), Unit: "µs", Against: "absolute, best of rounds"})
		b.atMost(2000, Line{Name: "engine before the first token at 10,000 turns, p99", Ours: slices.Min(late), Unit: "µs", Against: "absolute, best of rounds"})
		b.show(Line{Name: "engine before the first token at 10,000 turns, p50", Ours: median(middle), Baseline: median(unread), Unit: "µs", Against: "a model that answers at once"})
		return nil
	})
}
