package turnstone_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestPins(t *testing.T) {
	s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{}), "s")
	for range 40 {
		say(t, s, turn.User, "the code is 4711 "+strings.Repeat("and so on ", 30))
		say(t, s, turn.Agent, "I see")
	}
	o := turnstone.PromptOptions{Context: 2048, Model: "gpt-4o"}
	compiled(t, s, o)
	for _, seq := range []int64{2, 1, 2} {
		if err := s.Pin(t.Context(), seq); err != nil {
			t.Fatal(err)
		}
	}
	pins, err := s.Pins(t.Context())
	if err != nil || !slices.Equal(pins, []int64{1, 2}) {
		t.Fatalf("%v, %v", pins, err)
	}
	if p := compiled(t, s, o); p.Opened != "pin" || !strings.Contains(lines(p), `"seqs":[1]`) {
		t.Errorf("opened %q, %s", p.Opened, lines(p))
	}
	if err := s.Unpin(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if pins, err = s.Pins(t.Context()); err != nil || !slices.Equal(pins, []int64{2}) {
		t.Fatalf("%v, %v", pins, err)
	}
	if err := s.Pin(t.Context(), 1000); !errors.Is(err, turn.ErrNotFound) {
		t.Errorf("a turn that is not there: %v", err)
	}
	for seq := range int64(80) {
		if err := s.Pin(t.Context(), seq+1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Prompt(t.Context(), o); err == nil || !strings.Contains(err.Error(), "pins") {
		t.Errorf("more pins than the window holds: %v", err)
	}
}

func TestStatus(t *testing.T) {
	st := mem.New(mem.Config{})
	s := session(t, open(t, st, turnstone.Config{}), "s")
	o := turnstone.PromptOptions{Context: 2048, Model: "llama3.2:70b"}
	say(t, s, turn.User, "hello")
	if err := s.Pin(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	status, err := s.Status(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if status.Reliability.Score != 0.95 || status.Passes != 0 || status.Pins != 1 || status.Turns != 1 || status.Shown != 1 || calls(t, st, s) != 0 {
		t.Errorf("%+v", status)
	}
	for i := range 40 {
		say(t, s, turn.User, "Go on.")
		for range 2 {
			say(t, s, turn.Agent, fmt.Sprintf("Now /var/log/run-%d.txt is written. %s", i, strings.Repeat("All is well. ", 5)))
		}
	}
	compiled(t, s, o)
	if status, err = s.Status(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	// The summary has no room for most of the paths and numbers of forty runs.
	if status.Passes == 0 || status.Facts < 30 || status.FactsHeld < 5 || status.FactsHeld > status.Facts*3/4 || status.Generations != 1 {
		t.Fatalf("%+v", status)
	}
	held := float64(status.FactsHeld+1) / float64(status.Facts+1)
	if want := 0.95 * 0.85 * held; status.Reliability.Score < want-1e-9 || status.Reliability.Score > want+1e-9 {
		t.Errorf("%+v, want a score of %v", status, want)
	}
	again, err := s.Status(t.Context(), o)
	if err != nil || again.Facts != status.Facts || again.FactsHeld != status.FactsHeld {
		t.Errorf("measured once more: %+v, %v", again, err)
	}
}

// What the goal adds to the reliability is what the prompt holds of it, and what left without a summary is measured
// as lost, not as a generation.
func TestStatusMeasuresTheGoalAndTheGenerations(t *testing.T) {
	for strategy, generations := range map[budget.Strategy]int{budget.Summarize: 1, budget.Truncate: 0} {
		s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{Compression: budget.Compression{Strategy: strategy}}), "s")
		o := turnstone.PromptOptions{Context: 8192, Model: "llama3.2:70b"}
		title := "Ship the orders"
		_, err := s.Intend(t.Context(), cortex.Changes{Goals: []cortex.GoalChange{{
			ID: "g", By: cortex.ActorUser, Why: "asked", Title: &title, AddMilestones: []cortex.Milestone{{Description: "All labels are checked"}},
			AddDecisions: []cortex.Decision{{Description: "Parcels go by train", Locked: true}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		converseTo(t, s, 0, 30)
		compiled(t, s, o)
		status, err := s.Status(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if status.Goals != 3 || status.GoalsHeld != 3 || status.Generations != generations || status.Facts == 0 || status.Passes == 0 {
			t.Errorf("%s: %+v", strategy, status)
		}
		want := 0.95 * (1 - 0.15*float64(generations)) * float64(status.FactsHeld+3) / float64(status.Facts+3)
		if got := status.Reliability.Score; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: a score of %v, want %v", strategy, got, want)
		}
		other := &cortex.Goal{Title: title, NextSteps: []string{"Paint the fence"}, Artifacts: []cortex.Artifact{{Path: "fence.md"}}}
		if held, total := status.Prompt.Holds(other); held != 1 || total != 3 {
			t.Errorf("another goal: %d of %d", held, total)
		}
	}
}
