package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
)

// piece is what a model yields.
type piece struct {
	chunk llm.Chunk
	err   error
}

// stream has a model answer in a goroutine of its own and hands what it yields to take, which runs in the caller's,
// until take wants no more or returns an error. That the stream ends before is told to take as an error, and so is that
// the model does not stop although ctx has ended. It runs on as a stray then, as does one that does not come back after
// its last piece.
func (l *Loop) stream(ctx context.Context, m llm.Model, request llm.Request, take func(llm.Chunk, error) (more bool, _ error)) (err error) {
	// The model goes on when a piece was taken and not before: its memory may be the model's.
	pieces, taken := make(chan piece), make(chan struct{})
	over, left := make(chan error, 1), make(chan struct{})
	l.strays.add()
	go func() {
		defer l.strays.done()
		end := errExit
		defer func() { over <- end }()
		end = caught(func() error {
			for chunk, err := range m.Stream(ctx, request) {
				select {
				case pieces <- piece{chunk, sound(err)}:
				case <-left:
					return nil
				}
				select {
				case <-taken:
				case <-left:
					return nil
				}
			}
			return nil
		})
	}()
	awaited := false
	defer func() {
		close(left)
		if awaited {
			return
		}
		grace := time.NewTimer(l.config.Grace)
		defer grace.Stop()
		select {
		case end := <-over:
			if err == nil && end != nil {
				err = fmt.Errorf("model: %w", end)
			}
		case <-grace.C:
		}
	}()
	told := ctx.Done()
	var grace <-chan time.Time
	for {
		select {
		case p := <-pieces:
			if more, err := take(p.chunk, p.err); err != nil || !more {
				return err
			}
			taken <- struct{}{}
		case end := <-over:
			awaited = true
			if end != nil {
				return fmt.Errorf("model: %w", end)
			}
			_, err := take(llm.Chunk{}, &llm.Error{Kind: llm.ErrInterrupted, Problem: "the stream ended before the answer did", Fix: "ask again"})
			return err
		case <-told:
			timer := time.NewTimer(l.config.Grace)
			defer timer.Stop()
			told, grace = nil, timer.C
		case <-grace:
			awaited = true
			_, err := take(llm.Chunk{}, errAway)
			return err
		}
	}
}
