package turnstone

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

// floors lets the exchanges of a session in this process have the floor one after the other, in the order they
// came, and ends all of them when the engine is closed. Other processes are kept out by the lease.
type floors struct {
	running sync.WaitGroup // exchanges that have a floor

	mu     sync.Mutex // guards all below
	closed bool
	taken  map[turn.Key]*floor
	ends   map[*floor]context.CancelCauseFunc // of those who have it
}

// floor is the place where one exchange of a session speaks.
type floor struct {
	next []chan struct{} // who waits, first come first
}

func newFloors() *floors {
	return &floors{taken: make(map[turn.Key]*floor), ends: make(map[*floor]context.CancelCauseFunc)}
}

// take waits until the session's floor is free and takes it. The context ends with ctx, and with ErrClosed when the
// engine is closed. Leave gives the floor to the next, once.
func (f *floors) take(ctx context.Context, key turn.Key) (speaking context.Context, leave func(), err error) {
	if err := f.wait(ctx, key); err != nil {
		return nil, nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.speak(ctx, key)
}

// takeFree is take where the floor is free. Where somebody has it, leave is nil, and nobody is waited for.
func (f *floors) takeFree(ctx context.Context, key turn.Key) (speaking context.Context, leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.taken[key] != nil {
		return ctx, nil, nil
	}
	f.taken[key] = &floor{}
	return f.speak(ctx, key)
}

// speak is what is left to do for who has the floor. Must hold f.mu.
func (f *floors) speak(ctx context.Context, key turn.Key) (speaking context.Context, leave func(), err error) {
	mine := f.taken[key]
	if f.closed {
		f.pass(key, mine)
		return nil, nil, ErrClosed
	}
	speaking, end := context.WithCancelCause(ctx)
	f.ends[mine] = end
	f.running.Add(1)
	return speaking, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		end(nil)
		delete(f.ends, mine)
		f.pass(key, mine)
		f.running.Done()
	}, nil
}

// wait returns when the floor is the caller's.
func (f *floors) wait(ctx context.Context, key turn.Key) error {
	if err := llm.Ended(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	mine, held := f.taken[key]
	if !held {
		f.taken[key] = &floor{}
		f.mu.Unlock()
		return nil
	}
	called := make(chan struct{})
	mine.next = append(mine.next, called)
	f.mu.Unlock()
	select {
	case <-called:
		return nil
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, waiting := range mine.next {
		if waiting == called {
			mine.next = append(mine.next[:i:i], mine.next[i+1:]...)
			return llm.Ended(ctx)
		}
	}
	f.pass(key, mine) // it came in the same moment
	return llm.Ended(ctx)
}

// takeAll is take for several sessions. They are taken in one order, so that no two wait for each other.
func (f *floors) takeAll(ctx context.Context, keys []turn.Key) (speaking context.Context, leave func(), err error) {
	keys = slices.SortedFunc(slices.Values(keys), func(a, b turn.Key) int {
		return cmp.Or(strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Session, b.Session))
	})
	var left []func()
	leave = func() {
		for _, leave := range slices.Backward(left) {
			leave()
		}
	}
	for _, key := range slices.Compact(keys) {
		var one func()
		if ctx, one, err = f.take(ctx, key); err != nil {
			leave()
			return nil, nil, err
		}
		left = append(left, one)
	}
	return ctx, leave, nil
}

// held reports whether somebody has the session's floor.
func (f *floors) held(key turn.Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.taken[key] != nil
}

// pass gives the floor to who waits for it. The caller holds mu.
func (f *floors) pass(key turn.Key, mine *floor) {
	if len(mine.next) == 0 {
		delete(f.taken, key)
		return
	}
	close(mine.next[0])
	mine.next = mine.next[1:]
}

// close ends all exchanges and waits for them. Nobody gets a floor from then on.
func (f *floors) close() {
	f.mu.Lock()
	f.closed = true
	for _, end := range f.ends {
		end(ErrClosed)
	}
	f.mu.Unlock()
	f.running.Wait()
}
