package turnstone_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestForgettingLeavesCheckpointsThatDoNotTellOfIt: a number that was said may be how many tokens a checkpoint has, and a
// word who made it, which tells nothing of the turn.
func TestForgettingLeavesCheckpointsThatDoNotTellOfIt(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		u := &undoing{T: t, Session: session(t, eng, "s")}
		converseTo(t, u.Session, 0, 10)
		before := say(t, u.Session, turn.User, "Is it extractive?")
		if _, err := u.Compress(t.Context(), small); err != nil {
			t.Fatal(err)
		}
		compiled(t, u.Session, small)
		was, err := u.Checkpoints(t.Context())
		if err != nil || len(was) != 1 || was[0].Range.To >= before.Seq || was[0].Receipt.By != compress.ByExtract {
			t.Fatalf("%+v, %v", was, err)
		}
		calls, err := u.Prompts(t.Context(), 0, 10)
		if err != nil || len(calls) != 1 {
			t.Fatalf("%d prompts, %v", len(calls), err)
		}
		// The summary has the year, and had it before anybody said so.
		after := say(t, u.Session, turn.User, fmt.Sprintf("Mind %d, in %d.", was[0].OriginalTokens, was[0].CreatedAt.Year()))
		forget := func(said turn.Turn) {
			t.Helper()
			if _, err := eng.Forget(t.Context(), turnstone.Target{Session: "s", Seqs: []int64{said.Seq}}); err != nil {
				t.Fatal(err)
			}
			is, err := u.Checkpoints(t.Context())
			if diff := cmp.Diff(was, is); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		}
		forget(after)
		if _, err := u.Again(t.Context(), calls[0]); err != nil {
			t.Error(err)
		}
		forget(before)
		if calls, err = u.Prompts(t.Context(), 0, 10); err != nil {
			t.Fatal(err)
		}
		if _, err := u.Again(t.Context(), calls[0]); !errors.Is(err, turn.ErrForgotten) {
			t.Error(err)
		}
		healthy(t, st)
	})
}

// TestAnEmptiedCheckpointSaysSo: it is not damaged, and not unknown either.
func TestAnEmptiedCheckpointSaysSo(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "s")
		converseTo(t, s, 0, 10)
		if _, err := s.Compress(t.Context(), small); err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Forget(t.Context(), turnstone.Target{Session: "s", Seqs: []int64{1}}); err != nil {
			t.Fatal(err)
		}
		if list, err := s.CheckpointVersions(t.Context(), 1); !errors.Is(err, compress.ErrEmptied) || !errors.Is(err, turn.ErrForgotten) {
			t.Errorf("%+v, %v", list, err)
		}
		if _, err := s.CheckpointVersions(t.Context(), 99); !errors.Is(err, compress.ErrNotFound) {
			t.Error(err)
		}
	})
}
