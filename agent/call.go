package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

var (
	errTimeout error = timeout{}
	// errAway is of what did not come back when it was told to.
	errAway = errors.New("it did not stop")
	// errExit is of what ended its goroutine.
	errExit = errors.New("its goroutine ended without a result")
)

// timeout is a deadline that passed, in words for the model.
type timeout struct{}

func (timeout) Error() string        { return "timed out" }
func (timeout) Is(target error) bool { return target == context.DeadlineExceeded }

// observed runs a call and tells of it.
func (l *Loop) observed(ctx context.Context, c *ready) finished {
	if l.config.Using == nil {
		return l.call(ctx, c.tool, c.act)
	}
	ctx, over := l.config.Using(ctx, c.call)
	f := l.call(ctx, c.tool, c.act)
	over(f.status, f.err)
	return f
}

// call runs a tool within its time. A tool that does not stop when it is told to runs on as a stray.
func (l *Loop) call(ctx context.Context, t *Tool, act action) finished {
	limited, cancel := context.WithTimeoutCause(ctx, t.Timeout, errTimeout)
	defer cancel()
	begin := time.Now()
	result, err := await(limited, l, act)
	f := finished{result: result, err: err, status: turn.CallOK, took: time.Since(begin)}
	switch {
	case err == nil:
		f.err = checkResult(result, l.config.MaxResult)
	case ctx.Err() != nil:
		f.err, f.status = stopped(errors.New("cancelled while it ran"), err), turn.CallCancelled
		return f
	case context.Cause(limited) == errTimeout:
		f.err = stopped(fmt.Errorf("%w after %s", errTimeout, t.Timeout), err)
	}
	if f.err != nil {
		f.status = turn.CallError
	}
	return f
}

// stopped is why a tool was told to stop, with what it says of it: of a program that was killed it may be that alone.
func stopped(why, err error) error {
	switch {
	case err == errAway:
		return fmt.Errorf("%w; it may still be running", why)
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return why
	}
	return fmt.Errorf("%w: %w", why, err)
}

// await runs fn in a goroutine of its own and waits for it, and for a while longer when ctx has ended. What does not
// come back then runs on as a stray.
func await[T any](ctx context.Context, l *Loop, fn func(context.Context) (T, error)) (T, error) {
	type returned struct {
		value T
		err   error
	}
	back := make(chan returned, 1)
	l.strays.add()
	go func() {
		defer l.strays.done()
		end := returned{err: errExit}
		defer func() { back <- end }()
		end.err = caught(func() (err error) {
			end.value, err = fn(ctx)
			return err
		})
	}()
	select {
	case end := <-back:
		return end.value, end.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(l.config.Grace)
	defer grace.Stop()
	select {
	case end := <-back:
		return end.value, end.err
	case <-grace.C:
		var none T
		return none, errAway
	}
}
