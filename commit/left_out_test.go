package commit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// quick is an exchange that leaves something everywhere: a tool fails in it, and a goal is made.
func quick() commit.Exchange {
	ex := used(turn.CallError, `"no crew"`)
	ex.Turns[0].Content = turn.Text{Text: "quick: ship it"}
	ex.Turns[len(ex.Turns)-1].Content = turn.Text{Text: "[GOAL] Ship it\n[DECISION] By sea"}
	return ex
}

// An exchange that ends late tells nothing of those that were committed since it began.
func TestWhatOthersCommittedIsLeftOut(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		long := w.say("LONG TASK please").ID
		other := w.export(w.commit(quick()).ExportID)
		page, more := len(w.page().Observations()), w.say("and fast").ID
		res := w.commit(commit.Exchange{Opened: long, Turns: talk("", "long task finished").Turns[1:]})
		export := w.export(res.ExportID)
		if want := []string{long, more, res.Turns[0].ID}; !slices.Equal(export.TurnIDs, want) || export.Turn.UserInput != "LONG TASK please\nand fast" {
			t.Errorf("it tells of %q, asked was %q", export.TurnIDs, export.Turn.UserInput)
		}
		if len(export.Evaluation.Issues)+len(export.Cortex.UpdatedGoals)+len(export.Metadata.ToolsExecuted) > 0 || len(w.page().Observations()) != page {
			t.Errorf("of the other's it has %+v, %+v, %q", export.Evaluation.Issues, export.Cortex, export.Metadata.ToolsExecuted)
		}
		if sum := w.turns()[res.Turns[1].Seq-1]; strings.Contains(sum, "ship") || strings.Contains(sum, "sea") {
			t.Errorf("summed up as %s", sum)
		}
		if len(other.Evaluation.Issues) == 0 || len(w.intentions().Goals()) != 1 {
			t.Errorf("the other has %+v, goals %+v", other.Evaluation.Issues, w.intentions().Goals())
		}
		// What it took in opens nothing.
		if _, err := w.pipeline.Commit(t.Context(), key, commit.Exchange{Opened: more}); !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), res.ExportID) {
			t.Errorf("%v", err)
		}
	})
}

// Messages that are answered in any other order than they came are each told of once.
func TestMessagesThatAreAnsweredTheLastFirst(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		asked := []string{w.say("q0").ID, w.say("q1").ID, w.say("q2").ID}
		for _, i := range []int{1, 2, 0} {
			n := string('0' + rune(i))
			res, err := w.pipeline.Commit(t.Context(), key, commit.Exchange{Opened: asked[i], Turns: talk("", "a"+n).Turns[1:]})
			if i == 2 { // the second took it in
				if !errors.Is(err, turn.ErrConflict) {
					t.Error(err)
				}
				continue
			}
			want, input := []string{asked[0], res.Turns[0].ID}, "q0"
			if i == 1 {
				want, input = []string{asked[1], asked[2], res.Turns[0].ID}, "q1\nq2"
			}
			if export := w.export(res.ExportID); !slices.Equal(export.TurnIDs, want) || export.Turn.UserInput != input {
				t.Errorf("%s tells of %q, asked was %q", n, export.TurnIDs, export.Turn.UserInput)
			}
		}
	})
}

// Once it is not kept any more of which turns an exchange told, it is all that its summary covers.
func TestWhatOthersCommittedLongAgoIsLeftOut(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		long := w.say("LONG TASK please").ID
		w.commit(quick())
		more := w.say("and fast").ID
		w.publish(w.pipeline)
		w.update(func(tx store.Tx) error {
			_, err := tx.Outbox().SweepExports(t.Context(), tx.Now().Add(time.Hour), 100)
			return err
		})
		res := w.commit(commit.Exchange{Opened: long, Turns: talk("", "long task finished").Turns[1:]})
		if export := w.export(res.ExportID); !slices.Equal(export.TurnIDs, []string{long, more, res.Turns[0].ID}) {
			t.Errorf("it tells of %q", export.TurnIDs)
		}
	})
}

// A summary opens no exchange, whatever came after it.
func TestASummaryOpensNothing(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	summary := w.commit(talk("hello", "hi")).Turns[2]
	after := w.say("Buy bread.")
	for _, log := range [][]turn.Turn{nil, {summary, after}} {
		_, err := w.pipeline.Commit(t.Context(), key, commit.Exchange{Opened: summary.ID, Log: log, Turns: talk("", "Yes.").Turns[1:]})
		var field *invalid.Field
		if !errors.As(err, &field) || field.Name != "turn_id" {
			t.Errorf("%v", err)
		}
	}
}
