package turnstone_test

import (
	"bytes"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// A fork goes on with the goals of the session it comes from: what is forgotten in the fork is out of them before.
func TestForgettingInAForkReachesTheGoalsItGoesOnWith(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := session(t, open(t, st, turnstone.Config{}), "home")
		goal := "Keep " + secret + " safe"
		_, err := s.Commit(t.Context(), commit.Exchange{
			Turns: []turn.Draft{
				{Role: turn.User, Content: turn.Text{Text: "My key is " + secret + "."}},
				{Role: turn.Agent, Content: turn.Text{Text: "Noted."}},
			},
			Intentions: cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Title: &goal}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		compiled(t, s, small)
		say(t, s, turn.User, "What now?")
		fork, err := s.Fork(t.Context(), turnstone.Head, turn.SessionInfo{})
		if err != nil {
			t.Fatal(err)
		}
		say(t, s, turn.User, "Hello again.")
		if _, err := fork.Forget(t.Context(), turnstone.Target{Seqs: []int64{1}}); err != nil {
			t.Fatal(err)
		}
		for _, one := range []*turnstone.Session{fork, s} {
			var bundle bytes.Buffer
			if _, err := one.WriteBundle(t.Context(), &bundle, replay.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			if found := leaks(bundle.Bytes()); len(found) > 0 {
				t.Errorf("%s: %q", one.ID(), found)
			}
		}
	})
}
