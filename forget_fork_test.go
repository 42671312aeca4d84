package turnstone_test

import (
	"bytes"
	"errors"
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

// What the parent said after the fork is not the fork's to forget.
func TestAForkForgetsNothingThatItDoesNotHave(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := session(t, open(t, st, turnstone.Config{}), "home")
		say(t, s, turn.User, "Hello.")
		fork, err := s.Fork(t.Context(), turnstone.Head, turn.SessionInfo{})
		if err != nil {
			t.Fatal(err)
		}
		later := say(t, s, turn.User, "Hello again.")
		say(t, fork, turn.User, "Hello to you.")
		if _, err := fork.Forget(t.Context(), turnstone.Target{TurnIDs: []string{later.ID}}); !errors.Is(err, turn.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		if _, err := s.Forget(t.Context(), turnstone.Target{TurnIDs: []string{later.ID}}); err != nil {
			t.Error(err)
		}
		// Lists call only a session forgotten of which nothing is left.
		if info, err := s.Info(t.Context()); err != nil || info.Title != "" {
			t.Errorf("it is called %q, %v", info.Title, err)
		}
	})
}

// Another's fork loses what the user said, and stays the other's.
func TestForgettingAUserLeavesAnothersForkToThem(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s, err := eng.Create(t.Context(), turn.SessionInfo{User: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		say(t, s, turn.User, "My key is "+secret+".")
		fork, err := s.Fork(t.Context(), turnstone.Head, turn.SessionInfo{User: "bob"})
		if err != nil {
			t.Fatal(err)
		}
		say(t, fork, turn.User, "Go on.")
		if _, err := eng.Forget(t.Context(), turnstone.Target{User: "ann"}); err != nil {
			t.Fatal(err)
		}
		if info, err := fork.Info(t.Context()); err != nil || info.User != "bob" {
			t.Errorf("it is %q's, %v", info.User, err)
		}
		found, err := fork.Query(t.Context(), turn.Query{})
		if err != nil || len(found.Turns) != 2 || leaks([]byte(found.Turns[0].Content.Searchable())) != nil || found.Turns[1].Content.Searchable() != "Go on." {
			t.Errorf("%+v, %v", found, err)
		}
	})
}
