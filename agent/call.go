package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

var (
	errTimeout = errors.New("timed out")
	// errAway is of a tool that did not come back when it was told to.
	errAway = errors.New("the tool did not stop")
	// errExit is of a tool that ended its goroutine.
	errExit = errors.New("the tool ended without a result")
)

// call runs a tool within its time. A tool that does not stop when it is told to runs on as a stray.
func (l *Loop) call(ctx context.Context, t *Tool, act action) finished {
	limited, cancel := context.WithTimeoutCause(ctx, t.Timeout, errTimeout)
	defer cancel()
	begin := time.Now()
	result, err := l.await(limited, act)
	f := finished{result: result, err: err, status: turn.CallOK, took: time.Since(begin)}
	stopped := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || err == errAway
	switch {
	case err == nil:
		f.err = checkResult(result, l.config.MaxResult)
	case stopped && ctx.Err() != nil:
		f.err, f.status = fmt.Errorf("cancelled while it ran%s", away(err)), turn.CallCancelled
		return f
	case stopped && context.Cause(limited) == errTimeout:
		f.err = fmt.Errorf("%w after %s%s", errTimeout, t.Timeout, away(err))
	}
	if f.err != nil {
		f.status = turn.CallError
	}
	return f
}

func away(err error) string {
	if err == errAway {
		return "; it may still be running"
	}
	return ""
}

// await runs the tool in a goroutine of its own and waits for it, and for a while longer when ctx has ended.
func (l *Loop) await(ctx context.Context, act action) (string, error) {
	type returned struct {
		result string
		err    error
	}
	back := make(chan returned, 1)
	l.strays.add()
	go func() {
		defer l.strays.done()
		end := returned{err: errExit}
		defer func() { back <- end }()
		end.err = guard(func() (err error) {
			end.result, err = act(ctx)
			return err
		})
	}()
	select {
	case end := <-back:
		return end.result, end.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(l.config.Grace)
	defer grace.Stop()
	select {
	case end := <-back:
		return end.result, end.err
	case <-grace.C:
		return "", errAway
	}
}
