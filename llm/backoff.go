package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pause"
)

// Backoff says how often a request is sent again when nothing of an answer has come yet, and how long to wait
// before. Its zero value is useful.
type Backoff struct {
	// Attempts is how often a request is sent at most; 1 is never again. Defaults to 4.
	Attempts int
	// First is the wait before the second attempt. Every further one is twice as long, and each is shortened
	// by up to a half at random, so that many clients do not come back at once. Defaults to 250 ms.
	First time.Duration
	// Most is the longest wait. A server that wants a longer one gets no second attempt. Defaults to 10 s.
	Most time.Duration
}

const (
	defaultAttempts = 4
	defaultFirst    = 250 * time.Millisecond
	defaultMost     = 10 * time.Second
)

// Stream yields what attempt yields, and makes another attempt while the error is an *[Error] that is temporary,
// nothing else has been yielded, and the context's deadline leaves time for it. After the first chunk there is no second
// attempt: it would say things twice.
func (b Backoff) Stream(ctx context.Context, attempt iter.Seq2[Chunk, error]) iter.Seq2[Chunk, error] {
	b = b.withDefaults()
	return func(yield func(Chunk, error) bool) {
		for wait, left := b.First, b.Attempts-1; ; wait, left = min(2*wait, b.Most), left-1 {
			failure, begun := error(nil), false
			for chunk, err := range attempt {
				if err != nil {
					failure = err
					break
				}
				begun = true
				if !yield(chunk, nil) {
					return
				}
			}
			if failure == nil {
				return
			}
			var e *Error
			if begun || left <= 0 || !errors.As(failure, &e) || !e.Temporary || e.RetryAfter > b.Most {
				yield(Chunk{}, failure)
				return
			}
			pauseFor := max(wait-rand.N(wait/2+1), e.RetryAfter)
			// Nobody would be there for another answer, and this one says more than that the time was up.
			if end, ends := ctx.Deadline(); ends && time.Until(end) <= pauseFor {
				yield(Chunk{}, fmt.Errorf("%w (no time is left to try again: %w)", failure, context.DeadlineExceeded))
				return
			}
			if !pause.For(ctx, pauseFor) {
				yield(Chunk{}, Ended(ctx))
				return
			}
		}
	}
}

// Do is [Backoff.Stream] for what comes as a whole: it makes another attempt while the error is an *[Error] that is
// temporary and there is time.
func (b Backoff) Do(ctx context.Context, attempt func() error) error {
	for _, err := range b.Stream(ctx, func(yield func(Chunk, error) bool) {
		if err := attempt(); err != nil {
			yield(Chunk{}, err)
		}
	}) {
		return err
	}
	return nil
}

func (b Backoff) withDefaults() Backoff {
	if b.Attempts <= 0 {
		b.Attempts = defaultAttempts
	}
	if b.First <= 0 {
		b.First = defaultFirst
	}
	if b.Most <= 0 {
		b.Most = defaultMost
	}
	b.First = min(b.First, b.Most)
	return b
}
