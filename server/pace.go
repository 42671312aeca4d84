package server

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pace is how long an operation may take to be answered, once the request is here. Its zero value is Limits.Answer.
type pace int

const (
	// slow is ten times that, for what works through a whole session or asks a model.
	slow pace = iota + 1
	// endless is for exchanges and for what is read as it comes: they end with their client, or with the server.
	endless
)

// paced gives an operation its time, after which what it does ends with context.DeadlineExceeded. What answers with a
// stream has that time until it begins, and streams for as long as it takes. Answered must be called with what came of
// the operation, and returns what to tell of it.
func (s *Server) paced(ctx context.Context, p pace, streams bool) (_ context.Context, answered func(error) error) {
	most := s.config.Limits.Answer
	switch p {
	case slow:
		most *= 10
	case endless:
		return ctx, func(err error) error { return err }
	}
	if !streams {
		ctx, cancel := context.WithTimeout(ctx, most)
		return ctx, func(err error) error {
			cancel()
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(most, func() { cancel(context.DeadlineExceeded) })
	return ctx, func(err error) error {
		switch late := !timer.Stop(); {
		case late && err == nil:
			return context.DeadlineExceeded // its stream has ended already
		case late && errors.Is(err, context.Canceled):
			return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
		}
		return err
	}
}
