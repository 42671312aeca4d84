package turnstone

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/turnstone-dev/turnstone/turn"
)

// A pass is made by one at a time, others of its session wait for it, and those of other sessions do not.
func TestOnePassOfASessionIsUnderway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u underway
		one, other := turn.Key{Tenant: "t", Session: "one"}, turn.Key{Tenant: "t", Session: "other"}
		done, ok := u.begin(one)
		if !ok {
			t.Fatal("nobody makes a pass, and yet none may begin")
		}
		if _, ok := u.begin(one); ok {
			t.Error("a second pass of the session began")
		}
		u.wait(t.Context(), other)
		waited := make(chan struct{})
		go func() {
			u.wait(t.Context(), one)
			close(waited)
		}()
		synctest.Wait()
		select {
		case <-waited:
			t.Error("did not wait for the pass")
		default:
		}
		ended, end := context.WithCancel(t.Context())
		end()
		u.wait(ended, one) // returns
		done()
		<-waited
		if _, ok := u.begin(one); !ok {
			t.Error("the next pass may not begin")
		}
	})
}
