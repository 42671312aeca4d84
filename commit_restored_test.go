package turnstone_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// What a restore left behind is not answered any more: its question would be missing in the history. It is told of in no exchange either.
func TestWhatARestoreLeftBehindOpensNoExchange(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s, err := eng.Create(t.Context(), turn.SessionInfo{Key: turn.Key{Session: "s"}})
		if err != nil {
			t.Fatal(err)
		}
		first := say(t, s, turn.User, "hello").ID
		if _, err := s.Snapshot(t.Context(), "before"); err != nil {
			t.Fatal(err)
		}
		left := say(t, s, turn.User, "Delete it all.").ID
		if _, err := s.Restore(t.Context(), "before", medium); err != nil {
			t.Fatal(err)
		}
		reply := []turn.Draft{{Role: turn.Agent, Content: turn.Text{Text: "Gladly."}}}
		_, err = s.Commit(t.Context(), commit.Exchange{Opened: left, Turns: reply})
		var field *invalid.Field
		if !errors.As(err, &field) || field.Name != "turn_id" || !strings.Contains(err.Error(), left) {
			t.Errorf("what was left behind: %v", err)
		}
		res, err := s.Commit(t.Context(), commit.Exchange{Opened: first, Turns: reply})
		if err != nil {
			t.Fatal(err)
		}
		if e, err := eng.Export(t.Context(), res.ExportID); err != nil || !slices.Equal(e.TurnIDs, []string{first, res.Turns[0].ID}) {
			t.Errorf("it tells of %q, %v", e.TurnIDs, err)
		}
	})
}
