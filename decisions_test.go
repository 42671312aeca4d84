package turnstone_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// A fork, whose log of decisions is made of the summaries it inherits, cites the same turns, and forgetting one of an
// exchange takes what was decided in it, whoever said it.
func TestDecisionsOfForksAndOfForgottenExchanges(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "home")
		say(t, s, turn.User, "Hello.")
		title := "Trip"
		res, err := s.Commit(t.Context(), commit.Exchange{
			Turns: []turn.Draft{
				{Role: turn.User, Content: turn.Text{Text: "We decided to take the night train."}},
				{Role: turn.Agent, Content: turn.Text{Text: "Then let's go with a window seat."}},
			},
			Intentions: cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Title: &title, AddDecisions: []cortex.Decision{{Description: "No flights"}}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []memory.Decision{
			{Seq: 2, TurnID: res.Turns[0].ID, Text: "No flights"},
			{Seq: 2, TurnID: res.Turns[0].ID, Text: "We decided to take the night train."},
			{Seq: 3, TurnID: res.Turns[1].ID, Text: "Then let's go with a window seat."},
		}
		fork, err := s.Fork(t.Context(), 4, turn.SessionInfo{Key: turn.Key{Session: "fork"}})
		if err != nil {
			t.Fatal(err)
		}
		check := func(of *turnstone.Session, want []memory.Decision) {
			t.Helper()
			digest, err := of.Digest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, digest.Decisions); diff != "" {
				t.Error(diff)
			}
		}
		check(s, want)
		check(fork, want)
		if _, err := s.Forget(t.Context(), turnstone.Target{Seqs: []int64{3}}); err != nil {
			t.Fatal(err)
		}
		check(s, nil)
	})
}
