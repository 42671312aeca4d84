package bus

import (
	"context"
	"errors"
	"sync"
)

// Subscription is a daemon that is being served. It is safe for concurrent use.
type Subscription struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error // written before done is closed
}

// Start runs a subscription: run in a goroutine of its own, until it returns. Its context ends with ctx
// and when the subscription is closed. It is for those who implement a [Bus].
func Start(ctx context.Context, run func(context.Context) error) *Subscription {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &Subscription{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer cancel(nil)
		s.err = run(ctx)
	}()
	return s
}

// Close ends the subscription: nothing more is taken, the contexts of running handlers end, and Close
// waits for them. What they were not done with comes again with the next subscription under that name.
// It returns what kept the last ones that are done from being noted; they come again too.
func (s *Subscription) Close() error {
	s.cancel(ErrClosed)
	<-s.done
	return s.err
}

// Done is closed when the subscription is over.
func (s *Subscription) Done() <-chan struct{} { return s.done }

// closeAll closes subscriptions side by side, so that one with a slow handler does not keep the others
// at work, and returns their errors.
func closeAll(subscriptions []*Subscription) error {
	errs := make([]error, len(subscriptions))
	var wait sync.WaitGroup
	for i, s := range subscriptions {
		wait.Go(func() { errs[i] = s.Close() })
	}
	wait.Wait()
	return errors.Join(errs...)
}
