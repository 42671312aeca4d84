package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
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
	if status.Reliability.Score != 0.95 || status.Passes != 0 || status.Pins != 1 || status.Turns != 1 || status.Shown != 1 || !status.Whole || calls(t, st, s) != 0 {
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
	if status.Whole || status.Passes == 0 || status.Facts < 30 || status.FactsHeld < 5 || status.FactsHeld > status.Facts*3/4 || status.Generations != 1 {
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

// TestStatusIsMeasuredForTheMode and the window that it is asked for: each says what matters, or what is held of it.
func TestStatusIsMeasuredForTheMode(t *testing.T) {
	st := mem.New(mem.Config{})
	eng := open(t, st, turnstone.Config{})
	s := session(t, eng, "s")
	for n := range 20 {
		say(t, s, turn.User, fmt.Sprintf("Part %d?", n))
		say(t, s, turn.Agent, fmt.Sprintf("The build of part %d fails with error %d.\n", n, n)+strings.Repeat("The gauge was read by hand in the yard. ", 36))
		compiled(t, s, small)
	}
	facts := func(s *turnstone.Session, o turnstone.PromptOptions) [2]int {
		t.Helper()
		got, err := s.Status(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return [2]int{got.FactsHeld, got.Facts}
	}
	before := facts(s, small)
	if err := s.Describe(t.Context(), turn.SessionInfo{Mode: "debugger"}); err != nil {
		t.Fatal(err)
	}
	after, fresh := facts(s, small), facts(session(t, open(t, st, turnstone.Config{}), "s"), small)
	if after != fresh || after == before {
		t.Errorf("%v in another mode, %v before; %v for somebody who has not looked yet", after, before, fresh)
	}
	// Two smaller windows would open the same epoch.
	for _, context := range []int{6144, 4096, 5120} {
		o := turnstone.PromptOptions{Model: "gpt-4o", Context: context}
		if got, want := facts(s, o), facts(session(t, open(t, st, turnstone.Config{}), "s"), o); got != want {
			t.Errorf("%d: %v, want %v", context, got, want)
		}
	}
}

// unread is a store whose notes cannot be read, which a pass needs and a prompt does not.
type unread struct{ store.Store }

func (s unread) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.View(ctx, func(tx store.Tx) error { return fn(unreadTx{tx}) })
}

type unreadTx struct{ store.Tx }

func (t unreadTx) Scratch() scratch.Rows { return unreadNotes{t.Tx.Scratch()} }

type unreadNotes struct{ scratch.Rows }

func (unreadNotes) Observations(context.Context, string, int64, time.Time, bool) ([]scratch.Row, error) {
	return nil, errors.New("notes are damaged")
}

// TestAPreviewGoesOnWithoutAPassThatFails, as the prompt does, and notes nothing of it.
func TestAPreviewGoesOnWithoutAPassThatFails(t *testing.T) {
	eng := open(t, unread{mem.New(mem.Config{})}, turnstone.Config{})
	s := session(t, eng, "s")
	converseTo(t, s, 0, 10)
	preview := small
	preview.Preview = true
	if p, err := s.Prompt(t.Context(), preview); err != nil || p.Passes != 0 || p.Shown != 20 {
		t.Errorf("preview: %v", err)
	}
	if got, err := s.Status(t.Context(), small); err != nil || got.Shown != 20 {
		t.Errorf("status: %+v, %v", got, err)
	}
	if p, recorded, err := s.PromptAt(t.Context(), turnstone.Head, small); err != nil || recorded || p.Shown != 20 {
		t.Errorf("at the last turn: %v", err)
	}
	if told := eventsOf(t, eng, s, event.CompressionError); len(told) > 0 {
		t.Errorf("looking at it was noted: %+v", told)
	}
	if p := compiled(t, s, small); p.Passes != 0 || p.Shown != 20 {
		t.Errorf("%d passes, %d turns shown", p.Passes, p.Shown)
	}
	if told := eventsOf(t, eng, s, event.CompressionError); len(told) != 1 || !strings.Contains(told[0].Data, "notes are damaged") {
		t.Errorf("%+v", told)
	}
	// What does not fit is refused for what is the matter.
	converseTo(t, s, 10, 16)
	if _, err := s.Status(t.Context(), small); err == nil || !strings.Contains(err.Error(), "notes are damaged") {
		t.Errorf("it does not fit: %v", err)
	}
}

// TestWhatIsMissingFromAFreshPrompt: a prompt that every turn stands in is not whole where a pin does not.
func TestWhatIsMissingFromAFreshPrompt(t *testing.T) {
	s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{}), "s")
	o := turnstone.PromptOptions{Context: 2048, Model: "llama3.2:3b"}
	say(t, s, turn.User, "one")
	snap(t, s, "here")
	say(t, s, turn.User, "two")
	if err := s.Pin(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restore(t.Context(), "here", o); err != nil {
		t.Fatal(err)
	}
	status, err := s.Status(t.Context(), o)
	if err != nil || status.Whole || status.PinsHeld != 0 || status.Reliability.Level != budget.Critical {
		t.Errorf("%+v, %v", status, err)
	}
	if err := s.Unpin(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if status, err = s.Status(t.Context(), o); err != nil || !status.Whole {
		t.Errorf("without the pin: %+v, %v", status, err)
	}
}
