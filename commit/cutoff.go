package commit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// errCutOff says that a judge took longer than it may.
var errCutOff = errors.New("cut off")

// cutOff runs f and waits for it no longer than the deadline. What f does after that is ignored, but
// the group waits for it. A panic of f is an error.
//
// f runs in a goroutine of its own, since one that does not look at its context cannot be stopped.
func cutOff[T any](ctx context.Context, group *sync.WaitGroup, deadline time.Duration, f func(context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	// Here and not when f ends: an answer that is there must not lie beside an end of its own making.
	defer cancel()
	answered := make(chan answer, 1)
	group.Go(func() {
		var a answer
		// Sent by a deferred call, so that even runtime.Goexit in f is an answer.
		defer func() {
			if p := recover(); p != nil {
				a.err = fmt.Errorf("panic: %v", p)
			}
			answered <- a
		}()
		a.err = errors.New("it ended its goroutine")
		a.value, a.err = f(ctx)
	})
	select {
	case a := <-answered:
		if ctx.Err() != nil && errors.Is(a.err, context.DeadlineExceeded) {
			a.err = fmt.Errorf("%w after %s", errCutOff, deadline)
		}
		return a.value, a.err
	case <-ctx.Done():
		var zero T
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return zero, fmt.Errorf("%w after %s", errCutOff, deadline)
		}
		return zero, ctx.Err()
	}
}
