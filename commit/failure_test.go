package commit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/turn"
)

// failing is an exchange in which a tool failed once for each of the results.
func failing(results ...string) commit.Exchange {
	ex := commit.Exchange{Turns: []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "list the files"}}}}
	for i, result := range results {
		id := fmt.Sprint(i)
		ex.Turns = append(ex.Turns,
			turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: id, Name: "ls", Arguments: `{}`}}}},
			turn.Draft{Role: turn.System, Content: turn.Result{Name: "ls", CallID: id, Status: turn.CallError, Result: result}})
	}
	ex.Turns = append(ex.Turns, turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "I looked."}})
	return ex
}

// repeated are the texts of the issues that say that something failed again.
func (w *world) repeated(res commit.Result) (texts []string) {
	w.Helper()
	for _, issue := range w.export(res.ExportID).Evaluation.Issues {
		if issue.Kind == commit.RepeatedFailure {
			texts = append(texts, issue.Text)
		}
	}
	return texts
}

// failureNotes are the notes of failures on the page.
func (w *world) failureNotes() []scratch.Observation {
	w.Helper()
	return slices.DeleteFunc(w.page().Observations(), func(o scratch.Observation) bool { return o.Type != "tool_failure" })
}

func TestFailuresThatSayNothingComeAgainToo(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	w.commit(failing(`""`))
	if got, want := w.repeated(w.commit(failing(`""`))), []string{"ls failed again, 2 times so far: failed without saying why"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFailuresThatComeAgainInOneExchange(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	res := w.commit(failing(`"no"`, `"other"`, `"no"`, `"no"`))
	if got, want := w.repeated(res), []string{"ls failed again, 3 times so far: no"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := w.export(res.ExportID).Evaluation.Lessons; len(got) != 1 {
		t.Errorf("lessons %q", got)
	}
	if got, want := w.repeated(w.commit(failing(`"no"`))), []string{"ls failed again, 4 times so far: no"}; !slices.Equal(got, want) {
		t.Errorf("in the next one: got %q, want %q", got, want)
	}
	if notes := w.failureNotes(); len(notes) != 2 {
		t.Errorf("each way to fail is noted once: %+v", notes)
	}
}

// The page is not for failures alone: whoever notes something has room, however much fails.
func TestFailuresLeaveRoomOnThePage(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	for n := range scratch.MaxLive + 5 {
		if res := w.commit(failing(fmt.Sprintf(`"no %d"`, n))); res.Status != commit.Complete {
			t.Fatalf("failure %d: %s, refused %+v", n, res.Status, res.Refused)
		}
	}
	notes := w.failureNotes()
	slices.SortFunc(notes, func(a, b scratch.Observation) int { return strings.Compare(a.ID, b.ID) })
	if len(notes) != 20 || notes[0].Content != "no 85" || notes[19].Content != "no 104" {
		t.Errorf("%d notes, from %q", len(notes), notes[0].Content)
	}
	many := make([]string, 50)
	for i := range many {
		many[i] = fmt.Sprintf(`"at once %d"`, i)
	}
	w.commit(failing(many...))
	if notes := w.failureNotes(); len(notes) != 20 || slices.ContainsFunc(notes, func(o scratch.Observation) bool { return !strings.HasPrefix(o.Content, "at once") }) {
		t.Errorf("after 50 at once: %+v", notes)
	}
}

func TestFailuresOnAFullPageAreNoErrorOfTheExchange(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("note it", "done")
	for n := range scratch.MaxLive {
		ex.Scratch.Put = append(ex.Scratch.Put, scratch.Change{ID: fmt.Sprint("n", n), Type: ptr("note"), Content: ptr("x")})
	}
	w.commit(ex)
	if res := w.commit(failing(`"no"`)); res.Status != commit.Complete || len(res.Refused) > 0 {
		t.Errorf("%s, refused %+v", res.Status, res.Refused)
	}
}

// A note that somebody took up stays as it is, and what failed so is known to come again.
func TestFailureNotesThatSomebodyTookUpStay(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	w.commit(failing(`"no"`))
	taken := w.failureNotes()[0].ID
	ex := talk("I look after it", "good")
	ex.Scratch.Put = []scratch.Change{{ID: taken, Owner: ptr("ann")}}
	w.commit(ex)
	if got := w.repeated(w.commit(failing(`"no"`))); len(got) != 1 || !strings.Contains(got[0], "2 times") {
		t.Errorf("got %q", got)
	}
	if o, there := w.page().Observation(taken); !there || o.Owner != "ann" || len(w.failureNotes()) != 2 {
		t.Errorf("it is %+v, of %d", o, len(w.failureNotes()))
	}
}

// What an exchange itself notes has room before what failed in it.
func TestFailuresLeaveRoomForTheNotesOfTheirExchange(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	note := func(name string, n int) (notes []scratch.Change) {
		for i := range n {
			notes = append(notes, scratch.Change{ID: fmt.Sprint(name, i), Type: ptr("note"), Content: ptr("x")})
		}
		return notes
	}
	ex := talk("note it", "done")
	ex.Scratch.Put = note("before", scratch.MaxLive-15)
	w.commit(ex)
	many := make([]string, 20)
	for i := range many {
		many[i] = fmt.Sprintf(`"no %d"`, i)
	}
	ex = failing(many...)
	ex.Scratch.Put = note("with", 10)
	if res := w.commit(ex); res.Status != commit.Complete || len(res.Refused) > 0 {
		t.Errorf("%s, refused %+v", res.Status, res.Refused)
	}
	if notes := w.failureNotes(); len(notes) != 5 || notes[4].Content != "no 19" {
		t.Errorf("%d failures are noted in the room for 5: %+v", len(notes), notes)
	}
}

// Whoever deals with the note of a failure may do so in an exchange in which the same fails again.
func TestFailureNotesThatTheExchangeItselfChanges(t *testing.T) {
	for _, test := range []struct {
		name    string
		changes func(id string) scratch.Changes
		owner   string // empty: it is gone
	}{
		{"taken up", func(id string) scratch.Changes {
			return scratch.Changes{Put: []scratch.Change{{ID: id, Owner: ptr("ann")}}}
		}, "ann"},
		{"archived", func(id string) scratch.Changes { return scratch.Changes{Archive: []string{id}} }, ""},
		{"resolved and cleared", func(id string) scratch.Changes {
			return scratch.Changes{Put: []scratch.Change{{ID: id, Status: ptr(scratch.Resolved)}}, Clear: []string{id}}
		}, ""},
	} {
		w := newWorldOnMem(t, commit.Config{})
		w.commit(failing(`"no"`))
		id := w.failureNotes()[0].ID
		ex := failing(`"no"`)
		ex.Scratch = test.changes(id)
		if res := w.commit(ex); res.Status != commit.Complete || len(res.Refused) > 0 {
			t.Errorf("%s: %s, refused %+v", test.name, res.Status, res.Refused)
		}
		if o, there := w.page().Observation(id); there != (test.owner != "") || o.Owner != test.owner {
			t.Errorf("%s: it is %+v", test.name, o)
		}
	}
}

// No store keeps a NUL, which JSON may well hold.
func TestFailuresWithWhatNoStoreKeepsAreNoted(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	res := w.commit(failing(`"no\u0000thing"`))
	if notes := w.failureNotes(); res.Status != commit.Complete || len(notes) != 1 || notes[0].Content != "no\ufffdthing" {
		t.Errorf("%s, refused %+v, noted %+v", res.Status, res.Refused, notes)
	}
}
