package turnstone_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestForgettingNamesWhatItTouches: what is reached by words is not what was asked for, and whoever forgets must see it.
func TestForgettingNamesWhatItTouches(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		ctx := t.Context()
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "s")
		goal, other, note, kind := "Feed the walrus", "Paint the fence", "the walrus looks hungry", "alert"
		_, err := s.Commit(ctx, commit.Exchange{
			Turns: []turn.Draft{
				{Role: turn.User, Content: turn.Text{Text: "My walrus eats clams."}}, {Role: turn.Agent, Content: turn.Text{Text: "Noted."}},
			},
			Candidates: []memory.Candidate{{Type: memory.UserData, Text: "has a walrus", Source: memory.FromUser}},
			Intentions: cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Title: &goal}, {ID: "h", Title: &other}}},
			Scratch:    scratch.Changes{Put: []scratch.Change{{ID: "o", Type: &kind, Content: &note}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Believe(ctx, func(state *dialogue.State) error {
			if _, _, err := state.StackOn("f", "feed", dialogue.Options{}); err != nil {
				return err
			}
			return errors.Join(
				state.DeclareSlot("food", dialogue.TypeString), state.SetSlot("food", `"clams"`, ""),
				state.DeclareSlot("walrus", dialogue.TypeString), state.SetSlot("walrus", `"clams"`, ""),
				state.DeclareSlot("colour", dialogue.TypeString), state.SetSlot("colour", `"blue"`, ""),
			)
		})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := s.Remembered(ctx, memory.Search{})
		if err != nil || len(kept.Items) != 1 {
			t.Fatalf("%+v, %v", kept, err)
		}
		want := []turnstone.Touched{
			{Kind: "goal", ID: "g", Session: "s", Texts: []string{goal}},
			{Kind: "item", ID: kept.Items[0].ID, Session: "s", Texts: []string{"has a walrus"}},
			{Kind: "note", ID: "o", Session: "s", Texts: []string{note}},
			{Kind: "slot", ID: "f", Session: "s", Texts: []string{`"clams"`}},
			{Kind: "slot", ID: "f/food", Session: "s", Texts: []string{`"clams"`}},
		}
		target := turnstone.Target{Session: "s", Seqs: []int64{1}, Preview: true}
		preview, err := eng.Forget(ctx, target)
		if d := cmp.Diff(want, preview.Touched); err != nil || d != "" {
			t.Errorf("the preview: %v (-want +got)\n%s", err, d)
		}
		target.Preview = false
		done, err := eng.Forget(ctx, target)
		if d := cmp.Diff(want, done.Touched, cmpopts.IgnoreFields(turnstone.Touched{}, "Texts")); err != nil || d != "" {
			t.Errorf("the receipt: %v (-want +got)\n%s", err, d)
		}
		stored := receipts(t, eng, "s")
		if len(stored) != 1 || !strings.Contains(stored[0], `"kind":"goal","id":"g"`) {
			t.Errorf("stored were %v", stored)
		}
		shown, err := json.Marshal(done)
		if err != nil {
			t.Fatal(err)
		}
		for _, receipt := range append(stored, string(shown)) {
			if strings.Contains(receipt, "walrus") || strings.Contains(receipt, "clam") {
				t.Errorf("it says what was forgotten: %s", receipt)
			}
		}
		healthy(t, st)
	})
}

// receipts are the stored receipts of a session.
func receipts(t *testing.T, eng *turnstone.Engine, session string) (all []string) {
	t.Helper()
	events, err := eng.Events(t.Context(), session, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Kind == event.Forgotten {
			all = append(all, e.Data)
		}
	}
	return all
}

// TestForgettingTakesNoNameForAWord: the names that the engine gives to members of what it stores are nobody's words.
func TestForgettingTakesNoNameForAWord(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		ctx := t.Context()
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "s")
		_, err := s.Commit(ctx, commit.Exchange{
			Turns:      []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "I like tea."}}, {Role: turn.Agent, Content: turn.Text{Text: "Noted."}}},
			Candidates: []memory.Candidate{{Type: memory.UserData, Text: "likes tea", Source: memory.FromUser}},
		})
		if err != nil {
			t.Fatal(err)
		}
		snap(t, s, "kept")
		said := say(t, s, turn.User, "Source, provenance, novelty and confidence; entries, phase, epoch, snapshot and tokens.")
		receipt, err := eng.Forget(ctx, turnstone.Target{Session: "s", Seqs: []int64{said.Seq}})
		if err != nil || len(receipt.Touched) > 0 || slices.ContainsFunc(receipt.Removed, func(r turnstone.Removed) bool { return r.Where != "turns" }) {
			t.Errorf("%+v, %v", receipt, err)
		}
		if kept, err := s.Remembered(ctx, memory.Search{}); err != nil || len(kept.Items) != 1 {
			t.Errorf("what is remembered: %+v, %v", kept, err)
		}
	})
}

// TestReceiptsAreBounded: of a long session not all that went is named.
func TestReceiptsAreBounded(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "s")
	for i := range 10 {
		var candidates []memory.Candidate
		for j := range 30 {
			candidates = append(candidates, memory.Candidate{Type: memory.UserData, Text: fmt.Sprintf("likes number %d", 100*i+j), Source: memory.FromUser})
		}
		_, err := s.Commit(t.Context(), commit.Exchange{
			Turns:      []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "And more."}}, {Role: turn.Agent, Content: turn.Text{Text: "Noted."}}},
			Candidates: candidates,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := eng.Forget(t.Context(), turnstone.Target{Session: "s", All: true})
	if err != nil || len(r.Touched) != 256 || r.TouchedMore != 300-256 {
		t.Errorf("%d and %d more, %v", len(r.Touched), r.TouchedMore, err)
	}
}

// TestTheReceiptOfAUserNamesWhatWasTouchedInAllSessions: they are forgotten one after the other and there is one receipt.
func TestTheReceiptOfAUserNamesWhatWasTouchedInAllSessions(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	for _, id := range []string{"a", "b"} {
		s, err := eng.Create(t.Context(), turn.SessionInfo{Key: turn.Key{Session: id}, User: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		var candidates []memory.Candidate
		for i := range 300 {
			candidates = append(candidates, memory.Candidate{Type: memory.UserData, Text: fmt.Sprintf("likes number %d", i), Source: memory.FromUser})
		}
		_, err = s.Commit(t.Context(), commit.Exchange{
			Turns:      []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "And more."}}, {Role: turn.Agent, Content: turn.Text{Text: "Noted."}}},
			Candidates: candidates,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := eng.Forget(t.Context(), turnstone.Target{User: "ann"})
	if err != nil || len(r.Touched) != 256 || len(r.Touched)+r.TouchedMore != 2*300 {
		t.Errorf("%d and %d more, %v", len(r.Touched), r.TouchedMore, err)
	}
}

// TestAForgottenGoalIsNotInThePrompt: a model has no use for a goal of which nobody knows what it is. One that still says
// something is shown, and one that is given words again too.
func TestAForgottenGoalIsNotInThePrompt(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		ctx := t.Context()
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "s")
		low := cortex.PriorityLow
		goal, other, first := "Feed the walrus", "Paint the fence", "Buy clams for the walrus"
		_, err := s.Commit(ctx, commit.Exchange{
			Turns: []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "My walrus eats clams."}}, {Role: turn.Agent, Content: turn.Text{Text: "Noted."}}},
			Intentions: cortex.Changes{Goals: []cortex.GoalChange{
				{ID: "g", Title: &goal, AddMilestones: []cortex.Milestone{{Description: first}}}, {ID: "h", Title: &other, Priority: &low},
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		shows := func(want, not string) {
			t.Helper()
			text := textOf(compiled(t, s, small))
			if !strings.Contains(text, want) || not != "" && strings.Contains(text, not) {
				t.Errorf("it shows %s", text)
			}
		}
		shows(goal, other)
		if _, err := eng.Forget(ctx, turnstone.Target{Session: "s", Seqs: []int64{1}}); err != nil {
			t.Fatal(err)
		}
		shows(other, first)
		text := textOf(compiled(t, s, small))
		if system, _, _ := strings.Cut(text, "Noted."); strings.Count(system, turn.ForgottenText) != 1 {
			t.Errorf("more than the turn is a tombstone: %s", text)
		}
		intend := func(changes ...cortex.GoalChange) {
			t.Helper()
			if _, err := s.Intend(ctx, cortex.Changes{Goals: changes}); err != nil {
				t.Fatal(err)
			}
		}
		done := cortex.GoalCompleted
		intend(cortex.GoalChange{ID: "h", By: cortex.ActorUser, Status: &done})
		shows("Noted.", other)
		state, err := s.Intentions(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		if g, ok := state.Goal("g"); !ok || g.Status != cortex.GoalActive || !g.Forgotten() {
			t.Errorf("%+v", g)
		}
		intend(cortex.GoalChange{ID: "g", By: cortex.ActorUser, NextSteps: &[]string{"Look into the shed"}})
		shows("Look into the shed", "")
		healthy(t, st)
	})
}
