package commit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/turn"
)

// Whose id is taken is told which turn has it and what to do, whatever a store says.
func TestAnIDThatIsTakenIsNamed(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		w.commit(talk("p", "q"))
		taken := w.say("hello").ID
		for i := range 2 {
			ex := talk("hello", "hi")
			ex.Turns[i].ID = taken
			_, err := w.pipeline.Commit(t.Context(), key, ex)
			says := "turns[" + string('0'+rune(i)) + "].turn_id: " + taken + " is that of turn 4"
			if !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "by the turn_id of the exchange") || strings.Contains(err.Error(), "SQLSTATE") {
				t.Error(err)
			}
		}
	})
}

// An export_id that belongs to another session is told so, also where nobody looked it up before.
func TestAnExportIDThatIsTakenIsNamed(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		other := w.session("other", "")
		theirs := talk("x", "y")
		theirs.ExportID = w.config.NewID()
		if _, err := w.pipeline.Commit(t.Context(), other, theirs); err != nil {
			t.Fatal(err)
		}
		w.commit(talk("p", "q"))
		ex := w.opened("and now?", "this")
		ex.ExportID = theirs.ExportID
		if _, err := w.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), "export_id "+ex.ExportID+" is that of another exchange, in session other") {
			t.Error(err)
		}
	})
}

// An exchange is not told of that has more turns than a commit takes.
func TestAnExchangeOfTooManyTurns(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	first := w.say("go").ID
	drafts := make([]turn.Draft, commit.MaxTurns)
	for i := range drafts {
		drafts[i] = turn.Draft{Role: turn.User, Content: turn.Text{Text: "more"}}
	}
	w.append(drafts...)
	_, err := w.pipeline.Commit(t.Context(), key, commit.Exchange{Opened: first})
	var field *invalid.Field
	if !errors.As(err, &field) || field.Name != "turn_id" {
		t.Error(err)
	}
}
