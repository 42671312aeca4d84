package commit

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// One at a time commits to a session. Who waits may give up, and nothing is kept of sessions that nobody commits to.
func TestSessionsAreLockedOneByOne(t *testing.T) { synctest.Test(t, lockedOneByOne) }

func lockedOneByOne(t *testing.T) {
	var l sessionLocks
	a, b := turn.Key{Session: "a"}, turn.Key{Session: "b"}
	lock := func(key turn.Key) {
		t.Helper()
		if err := l.lock(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
	impatient := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return l.lock(ctx, a)
	}
	lock(a)
	lock(b)
	if err := impatient(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("two are in: %v", err)
	}
	in := make(chan struct{})
	for range 3 {
		go func() {
			lock(a)
			in <- struct{}{}
		}()
	}
	synctest.Wait()
	for range 3 {
		l.unlock(a)
		<-in
		if err := impatient(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the next is not alone: %v", err)
		}
	}
	l.unlock(a)
	l.unlock(b)
	if len(l.held) != 0 {
		t.Errorf("%d are held", len(l.held))
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.lock(gone, a); !errors.Is(err, context.Canceled) || len(l.held) != 0 {
		t.Errorf("who has gone is in: %v", err)
	}
}
