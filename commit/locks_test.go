package commit

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/turnstone-dev/turnstone/turn"
)

// One at a time commits to a session. Who waits may give up, and nothing is kept of sessions that nobody commits to.
func TestSessionsAreLockedOneByOne(t *testing.T) { synctest.Test(t, lockedOneByOne) }

func lockedOneByOne(t *testing.T) {
	var l sessionLocks
	lock := func(session string) func() {
		t.Helper()
		unlock, err := l.lock(t.Context(), turn.Key{Session: session})
		if err != nil {
			t.Fatal(err)
		}
		return unlock
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	first, other := lock("a"), lock("b")
	if _, err := l.lock(gone, turn.Key{Session: "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("two are in: %v", err)
	}
	in := make(chan func())
	go func() {
		unlock, _ := l.lock(t.Context(), turn.Key{Session: "a"})
		in <- unlock
	}()
	synctest.Wait()
	first()
	second := <-in
	if _, err := l.lock(gone, turn.Key{Session: "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("the next is not alone: %v", err)
	}
	second()
	other()
	if len(l.held) != 0 {
		t.Errorf("%d are held", len(l.held))
	}
}
