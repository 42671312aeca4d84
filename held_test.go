package turnstone_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// A lease is waited for as long as nobody gives a sign of life.
func TestALeaseThatNobodyRenewsIsWaitedFor(t *testing.T) {
	for _, test := range []struct {
		name  string
		lives func(ctx context.Context, tx store.Tx, key turn.Key) error // after 3 s
		limit time.Duration                                              // of the context
		want  error
		after time.Duration // from the beginning, to the next look
	}{
		{name: "its holder died", after: turn.LeaseTime},
		{name: "the context ends before", limit: 5 * time.Second, want: context.DeadlineExceeded, after: 5 * time.Second},
		{
			name: "it is renewed",
			lives: func(ctx context.Context, tx store.Tx, key turn.Key) error {
				_, err := turn.Renew(ctx, tx.Log(), key, "other", tx.Now())
				return err
			},
			want: turnstone.ErrBusy, after: 3 * time.Second,
		},
		{
			name: "its holder flushes",
			lives: func(ctx context.Context, tx store.Tx, key turn.Key) error {
				e, _, err := tx.Log().Exchange(ctx, key)
				if err != nil {
					return err
				}
				e.Changed = tx.Now()
				return tx.Log().PutExchange(ctx, key, e)
			},
			want: turnstone.ErrBusy, after: 3 * time.Second,
		},
		{
			name: "it is given back",
			lives: func(ctx context.Context, tx store.Tx, key turn.Key) error {
				return turn.Release(ctx, tx.Log(), key, "other")
			},
			after: 3 * time.Second,
		},
		{
			name: "another takes it",
			lives: func(ctx context.Context, tx store.Tx, key turn.Key) error {
				return tx.Log().SetLease(ctx, key, turn.Lease{Token: "third", Until: tx.Now().Add(turn.LeaseTime)})
			},
			want: turnstone.ErrBusy, after: 3 * time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			slowly(t, turnstone.Config{Model: llmtest.NewScript("Yes.")}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
				begun(t, st, chat, `{"text":"One "}`)
				key := turn.Key{Tenant: turn.DefaultTenant, Session: chat.ID()}
				err := st.Update(t.Context(), func(tx store.Tx) error {
					_, err := turn.Acquire(t.Context(), tx.Log(), key, "other", tx.Now())
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if test.limit > 0 {
					ctx, cancel = context.WithTimeout(ctx, test.limit)
				}
				defer cancel()
				start := time.Now()
				said := make(chan error)
				go func() {
					_, err := chat.Say(ctx, "And now?")
					said <- err
				}()
				if test.lives != nil {
					time.Sleep(3*time.Second - time.Millisecond)
					synctest.Wait()
					if err := st.Update(t.Context(), func(tx store.Tx) error { return test.lives(t.Context(), tx, key) }); err != nil {
						t.Fatal(err)
					}
				}
				if err := <-said; !errors.Is(err, test.want) {
					t.Errorf("%v, want %v", err, test.want)
				}
				same(t, "waited", time.Since(start), test.after)
				want := []string{"user: Count."}
				if test.want == nil {
					want = append(want, "agent: One  [interrupted]", "user: And now?", "agent: Yes.")
				}
				same(t, "log", turnsOf(t, chat), want)
			})
		})
	}
}

// A store whose clock stands still keeps nobody waiting for ever.
func TestALeaseIsNotWaitedForLongerThanItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{Clock: func() time.Time { return now }}), turnstone.Config{Model: llmtest.NewScript("Yes."), ModelName: "llama3.2"})
		if err != nil {
			t.Fatal(err)
		}
		chat := session(t, eng, "talk")
		if _, err := chat.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := chat.Say(t.Context(), "Hello?"); !errors.Is(err, turnstone.ErrBusy) {
			t.Error(err)
		}
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
}
