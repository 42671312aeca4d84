package main

import (
	"bufio"
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestMessageWaitsForSomebodyElse has another worker at the session for a while, for too long, and until the user has
// enough of it.
func TestMessageWaitsForSomebodyElse(t *testing.T) {
	type test struct {
		works, enough time.Duration
		code          int
		said          string
	}
	tests := map[string]test{
		"a while":  {works: 40 * time.Second, enough: time.Hour, code: exitOK, said: "Hello.\n"},
		"too long": {works: time.Hour, enough: time.Hour, code: exitInUse},
	}
	// Between two tries, and in the middle of one.
	for after := 20 * time.Second; after < 22*time.Second; after += 130 * time.Millisecond {
		tests["interrupted after "+after.String()] = test{works: time.Hour, enough: after, code: exitInterrupted}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := talk(t, llmtest.Replies(llmtest.Reply{Text: "Hello."}), chatOptions{session: "work", context: 8192})
				var out, errs bytes.Buffer
				k.app.stderr, k.app.out = &errs, bufio.NewWriter(&out)
				leave := atWork(t, k.session, tt.works)
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				time.AfterFunc(tt.enough, interrupt)
				began := time.Now()
				if code := k.app.conclude(ctx, k.app.chatOnce(ctx, k, "Hi")); code != tt.code {
					t.Errorf("exit code %d, want %d", code, tt.code)
				}
				if waited := time.Since(began); waited > otherWait+turn.LeaseTime {
					t.Errorf("it waited for %s", waited)
				}
				if out.String() != tt.said {
					t.Errorf("it said %q", out.String())
				}
				if n := strings.Count(errs.String(), "session work is in use by somebody else; waiting for up to 60 s\n"); n != 1 {
					t.Errorf("told %d times: %s", n, errs.String())
				}
				if strings.Contains(errs.String(), "is kept") {
					t.Errorf("nothing is: %s", errs.String())
				}
				leave()
			})
		})
	}
}

// atWork is somebody who holds a session for a time, and says something in it. Leave ends that, and waits for it.
func atWork(t *testing.T, s *turnstone.Session, works time.Duration) (leave func()) {
	t.Helper()
	lease, err := s.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), works)
	over := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if _, err := lease.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Mine."}}); err != nil {
				over <- err
				return
			}
			if err := lease.Renew(t.Context()); err != nil {
				over <- err
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(turn.LeaseTime / 3):
			}
		}
		over <- lease.Release(t.Context())
	}()
	return func() {
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	}
}
