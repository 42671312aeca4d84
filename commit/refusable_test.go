package commit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/turn"
)

// An exchange that is refused for what was known before it is not answered: who heard the reply would wait for it in vain.
func TestNobodyIsToldAReplyOfWhatIsRefused(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		asked := 0
		w := open(commit.Config{
			Deadlines: patient, Retries: []time.Duration{time.Hour},
			Responder: commit.RespondFunc(func(context.Context, *commit.Situation) (string, error) {
				asked++
				return fmt.Sprint("made ", asked), nil
			}),
		})
		other := w.session("other", "")
		theirs := talk("x", "y")
		theirs.ExportID = w.config.NewID()
		if _, err := w.pipeline.Commit(t.Context(), other, theirs); err != nil {
			t.Fatal(err)
		}
		w.commit(greeting("k"))
		taken := w.say("before").ID
		w.commit(talk("p", "q")) // so that the session is known
		opened := w.opened("and now?", "this")
		opened.ExportID = theirs.ExportID
		stray := turn.Draft{Role: turn.System, Content: turn.Result{Name: "ls", CallID: "nobody", Status: turn.CallOK, Result: `1`}}
		another := greeting("k")
		another.Turns = append([]turn.Draft{{Role: turn.User, Content: turn.Text{Text: "hm"}}}, another.Turns...)
		another.Turns[1].Content = turn.Text{Text: "something else"}
		again := talk("before", "x")
		again.Turns[0].ID = taken
		for name, test := range map[string]struct {
			ex   commit.Exchange
			want error
			says string
		}{
			"a result of no call":     {ex: commit.Exchange{Turns: append(talk("q", "").Turns[:1], stray)}, says: "turns[1].content.call_id: "},
			"a key with another body": {ex: another, want: turn.ErrConflict, says: "turns[1]: "},
			"a lost lease":            {ex: commit.Exchange{Turns: talk("a", "b").Turns, Lease: "nope"}, want: turn.ErrLeaseLost},
			"an id of the log":        {ex: again, want: turn.ErrConflict, says: "turns[0].turn_id: " + taken},
			"an export of another":    {ex: opened, want: turn.ErrConflict, says: "export_id " + theirs.ExportID},
		} {
			asked = 0
			replied := false
			test.ex.Replied = func(string) { replied = true }
			before := len(w.turns())
			_, err := w.pipeline.Commit(t.Context(), key, test.ex)
			if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", name, err)
			}
			if replied || asked > 0 || len(w.turns()) != before {
				t.Errorf("%s: replied %t, asked for one %d times, log %q", name, replied, asked, w.turns())
			}
		}
	})
}

// So it is where the reply is given and the session is known.
func TestAReplyThatIsGivenIsNotToldInVain(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		first := talk("q", "")
		first.Turns[1] = calls("here", "ls")
		for name, bad := range map[string]turn.Draft{
			"bytes nobody has":       shows(turn.Blob{SHA256: strings.Repeat("a", 64), Size: 2}),
			"a call that is open":    calls("here", "ls"),
			"a result of no call":    gives("nobody", "ls"),
			"a summary of no turns":  {Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: "s"}, Covers: turn.Range{From: 1, To: 99}},
			"speech that nobody has": {Role: turn.User, Content: turn.Speech{Transcript: "hm", Audio: &turn.Audio{MediaType: "audio/ogg", Blob: turn.Blob{SHA256: strings.Repeat("a", 64), Size: 2}}}},
		} {
			if len(w.turns()) == 0 {
				w.commit(first)
			}
			before := len(w.turns())
			ex := talk("q", "the reply")
			ex.Turns = []turn.Draft{ex.Turns[0], bad, ex.Turns[1]}
			ex.Replied = func(string) { t.Errorf("%s: the reply was handed over", name) }
			if _, err := w.pipeline.Commit(t.Context(), key, ex); err == nil || !strings.Contains(err.Error(), "turns[1].") || len(w.turns()) != before {
				t.Errorf("%s: %v, log %q", name, err, w.turns())
			}
		}
	})
}

// What waits to be written is known by its key, whole: another body would be lost when its time comes.
func TestAKeyThatWaitsHasOneBody(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
	faults := faulty.New(w.store)
	w.withStore(faults)
	faults.Set(failAt("InsertTurns"))
	first := talk("zero", "")
	first.Turns[1] = greeting("k").Turns[0]
	w.commit(first)
	ex := talk("one", "")
	ex.Turns[1] = greeting("k").Turns[0]
	ex.Turns[1].Content = turn.Text{Text: "something else"}
	if _, err := w.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), "turns[1]: ") {
		t.Error(err)
	}
	faults.Set(nil)
	w.settleAll()
}

// A result may be that of a call that waits to be written.
func TestAResultOfACallThatWaits(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
	faults := faulty.New(w.store)
	w.withStore(faults)
	faults.Set(failAt("InsertTurns"))
	ex := used(turn.CallOK, `"x"`)
	result := ex.Turns[2]
	ex.Turns = ex.Turns[:2]
	w.commit(ex)
	faults.Set(nil)
	w.commit(commit.Exchange{Turns: []turn.Draft{result}, Replied: func(string) {}})
	w.settleAll()
	if got := w.turns(); len(got) < 4 {
		t.Errorf("log %q", got)
	}
}
