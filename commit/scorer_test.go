package commit_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/memory"
)

// A selection that no exchange could be committed with is refused before the first.
func TestASelectionThatCannotWorkIsRefusedAtOnce(t *testing.T) {
	for field, how := range map[string]memory.Selection{
		"config.selection.weights":               {Weights: memory.Weights{Goals: .5}},
		"config.selection.policies[0].threshold": {Policies: memory.Policies{{Type: memory.Event, Threshold: 2}}},
		"config.selection.quota":                 {Quota: memory.Quota{Session: -1}},
	} {
		w := newWorldOnMem(t, commit.Config{})
		w.config.Selection = how
		_, err := commit.New(t.Context(), w.store, w.config)
		var bad *invalid.Field
		if !errors.As(err, &bad) || bad.Name != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// scoring is a scorer that is a function.
type scoring func() memory.Inputs

func (f scoring) Score(*memory.Candidate, *memory.View) memory.Inputs { return f() }

// A scorer that fails costs no exchange: what the rules would keep is kept. What is wrong with a candidate is the caller's to hear.
func TestRulesStandInForAScorerThatFails(t *testing.T) {
	for says, scorer := range map[string]scoring{
		"relevance_to_goals: NaN is not from 0 to 1": func() memory.Inputs { return memory.Inputs{Goals: math.NaN()} },
		"panic: no idea": func() memory.Inputs { panic("no idea") },
	} {
		w := newWorldOnMem(t, commit.Config{Selection: memory.Selection{Scorer: scorer}})
		ex := talk("hello", "hi")
		ex.Candidates = []memory.Candidate{fact("likes tea")}
		res := w.commit(ex)
		if res.Status != commit.CompleteWithErrors || len(res.Problems) != 1 ||
			!strings.HasPrefix(res.Problems[0], "scorer: ") || !strings.Contains(res.Problems[0], says) {
			t.Errorf("%s, problems %q, want one of %q", res.Status, res.Problems, says)
		}
		if got := w.items(); !slices.Equal(got, []string{"likes tea"}) {
			t.Errorf("remembered %q", got)
		}
		ex.Candidates = []memory.Candidate{{Type: memory.UserData, Text: " "}}
		_, err := w.pipeline.Commit(t.Context(), key, ex)
		var bad *invalid.Field
		if !errors.As(err, &bad) || bad.Name != "candidates[0].text" {
			t.Errorf("a blank candidate: %v", err)
		}
	}
}

// Whatever panics, the exchange ends as failed, and who committed it knows under which id to try again.
func TestAPanicEndsAnExchangeAsFailed(t *testing.T) {
	for name, left := range map[string]int{"before the phases": 1, "in a phase": 3} {
		w := newWorldOnMem(t, commit.Config{})
		newID := w.config.NewID
		ids := math.MaxInt
		w.config.NewID = func() string {
			if ids--; ids < 0 {
				panic("no more ids")
			}
			return newID()
		}
		w.withStore(w.store)
		ids = left // of the export, and of two turns
		res, err := w.pipeline.Commit(t.Context(), key, talk("hello", "hi"))
		ids = math.MaxInt
		if err == nil || !strings.Contains(err.Error(), "no more ids") || res.Status != commit.Failed || len(res.ExportID) != 26 {
			t.Errorf("%s: %s of export %q: %v", name, res.Status, res.ExportID, err)
		}
		if n := len(w.states); n == 0 || w.states[n-1] != commit.Failed {
			t.Errorf("%s: the states are %q", name, w.states)
		}
		again := talk("hello", "hi")
		again.ExportID = res.ExportID
		if res := w.commit(again); res.Status != commit.Complete || res.Repeated {
			t.Errorf("%s: tried again, it is %+v", name, res)
		}
	}
}
