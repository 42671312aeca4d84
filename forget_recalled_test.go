package turnstone_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestForgettingReachesWhatOthersRecalled shows what is forgotten in the prompts of a session that has nothing to do with
// it but that it was recalled there.
func TestForgettingReachesWhatOthersRecalled(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		a, b := session(t, eng, "a"), session(t, eng, "b")
		prompt := func(text, late string) int64 {
			t.Helper()
			say(t, b, turn.User, text)
			p := compiled(t, b, turnstone.PromptOptions{Model: "gpt-4o", Context: 8192, Late: []string{late}})
			say(t, b, turn.Agent, "well")
			return p.End
		}
		before := prompt("one", "A walrus of long ago")
		say(t, a, turn.User, "my walrus is called Xyzzyplugh")
		other := prompt("two", "Recalled: it rains")
		told := prompt("three", "Recalled from a: my walrus is called Xyzzyplugh")

		preview, err := a.Forget(t.Context(), turnstone.Target{Seqs: []int64{1}, Preview: true})
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Forget(t.Context(), turnstone.Target{Seqs: []int64{1}})
		if err != nil || len(r.Sessions) != 1 || !countsPrompts(r, 1) || !countsPrompts(preview, 1) {
			t.Errorf("%+v, preview %+v, %v", r, preview, err)
		}
		if left := contents(t, st); strings.Contains(left, "Xyzzyplugh") || !strings.Contains(left, "A walrus of long ago") || !strings.Contains(left, "it rains") {
			t.Errorf("what is left: %s", left)
		}
		for _, end := range []int64{before, other} {
			if _, recorded, err := b.PromptAt(t.Context(), end, turnstone.PromptOptions{}); err != nil || !recorded {
				t.Errorf("the prompt after turn %d: %v, %v", end, recorded, err)
			}
		}
		if _, _, err := b.PromptAt(t.Context(), told, turnstone.PromptOptions{}); !errors.Is(err, turn.ErrForgotten) || !strings.Contains(err.Error(), "of what its late block showed") {
			t.Errorf("the prompt that showed it: %v", err)
		}
		if _, err := b.Prompt(t.Context(), turnstone.PromptOptions{Model: "gpt-4o", Context: 8192}); err != nil {
			t.Errorf("the next prompt: %v", err)
		}
		if again, err := a.Forget(t.Context(), turnstone.Target{Seqs: []int64{1}}); err != nil || len(again.Removed) != 0 {
			t.Errorf("again: %+v, %v", again, err)
		}
		healthy(t, st)
	})
}

func countsPrompts(r turnstone.Receipt, n int) bool {
	for _, c := range r.Removed {
		if c.Where == "prompts" {
			return c.Count == n
		}
	}
	return n == 0
}
