package turnstone_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// interposed is a store in which something happens right before the next update.
type interposed struct {
	store.Store
	by atomic.Pointer[func()]
}

func (o *interposed) Update(ctx context.Context, fn func(store.Tx) error) error {
	if by := o.by.Swap(nil); by != nil {
		(*by)()
	}
	return o.Store.Update(ctx, fn)
}

// TestForgettingOvertakesTheFirstPrompt: it was compiled of what is forgotten by the time that it is to be kept, and no
// epoch was there that could have become a stale one.
func TestForgettingOvertakesTheFirstPrompt(t *testing.T) {
	st := &interposed{Store: mem.New(mem.Config{})}
	eng := open(t, st, turnstone.Config{})
	s := session(t, eng, "s")
	secret := say(t, s, turn.Agent, "We decided that the word is zanzibar-4711. It is zanzibar-4711.")
	converseTo(t, s, 0, 30)
	forget := func() {
		if _, err := s.Forget(t.Context(), turnstone.Target{Seqs: []int64{secret.Seq}}); err != nil {
			t.Error(err)
		}
	}
	st.by.Store(&forget)
	p := compiled(t, s, small)
	checkpoints, err := s.Checkpoints(t.Context())
	if err != nil || p.Passes != 1 || len(checkpoints) != 1 || st.by.Load() != nil {
		t.Fatalf("%d passes, %d checkpoints, %v", p.Passes, len(checkpoints), err)
	}
	for _, text := range []string{textOf(p), string(checkpoints[0].AppendJSON(nil))} {
		if strings.Contains(text, "zanzibar") {
			t.Errorf("%.300s", text)
		}
	}
	healthy(t, st.Store)
}

// TestASessionThatWasForgottenBeforeItsFirstPrompt begins anew behind the tombstones like any other.
func TestASessionThatWasForgottenBeforeItsFirstPrompt(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		// Whoever forgets need not be who talks with the model.
		eng := open(t, st, turnstone.Config{Prompt: prompt.Settings{System: "You forget."}})
		u := &undoing{T: t, Session: session(t, eng, "s")}
		empty, err := u.Snapshot(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		converseTo(t, u.Session, 0, 3)
		for range 2 {
			if _, err := eng.Forget(t.Context(), turnstone.Target{Session: "s", All: true}); err != nil {
				t.Fatal(err)
			}
		}
		if e := u.epoch(); e.Number != 1 || e.Reason != prompt.ReasonForgot || e.From != 7 {
			t.Errorf("%+v", e)
		}
		u.Session = session(t, open(t, st, turnstone.Config{Prompt: prompt.Settings{System: "Be brief."}}), "s")
		say(t, u.Session, turn.User, "Hello again.")
		for range 2 {
			if text := textOf(compiled(t, u.Session, medium)); text != "Be brief.\nHello again.\n" {
				t.Error(text)
			}
			if _, err := u.Undo(t.Context(), 0, medium); !errors.Is(err, turnstone.ErrNothingToUndo) || !strings.Contains(err.Error(), "was forgotten") {
				t.Errorf("undo: %v", err)
			}
			if _, err := u.Restore(t.Context(), empty.ID, medium); err == nil || !strings.Contains(err.Error(), "was forgotten") {
				t.Errorf("restore: %v", err)
			}
		}
		u.passes(1, medium)
		if done := u.undo(0, medium); done.Pass != 1 {
			t.Errorf("%+v", done)
		}
		healthy(t, st)
	})
}
