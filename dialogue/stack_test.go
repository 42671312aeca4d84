package dialogue_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/dialogue"
)

// sketch draws the stack bottom first and then what is set aside: "a:pending b:active | c:invalid".
func sketch(s dialogue.State) string {
	var words []string
	for _, f := range s.Stack {
		words = append(words, f.ID+":"+string(f.Status))
	}
	if len(s.SetAside) > 0 {
		words = append(words, "|")
	}
	for _, f := range s.SetAside {
		words = append(words, f.ID+":"+string(f.Status))
	}
	return strings.Join(words, " ")
}

func wantSketch(t *testing.T, s dialogue.State, want string) {
	t.Helper()
	if got := sketch(s); got != want {
		t.Errorf("state is %q, want %q", got, want)
	}
}

func names(flows []dialogue.Flow) string {
	var ids []string
	for _, f := range flows {
		ids = append(ids, f.ID+":"+string(f.Status))
	}
	return strings.Join(ids, " ")
}

// stacked returns a state with flows of those ids, stacked on in order, each named "flow " + id.
func stacked(t testing.TB, ids ...string) dialogue.State {
	t.Helper()
	var s dialogue.State
	for _, id := range ids {
		if _, created, err := s.StackOn(id, "flow "+id, dialogue.Options{}); err != nil || !created {
			t.Fatalf("stack on %s: created %v, %v", id, created, err)
		}
	}
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks that op is refused with that error and that the state is as before.
func refused(t *testing.T, s *dialogue.State, want string, op func() error) {
	t.Helper()
	before := *s
	text := marshal(t, *s)
	err := op()
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if got := marshal(t, *s); got != text || !s.Equal(before) {
		t.Errorf("the refused operation changed the state from %s to %s", text, got)
	}
}

func TestStackOn(t *testing.T) {
	s := stacked(t, "a", "b")
	wantSketch(t, s, "a:pending b:active")
	got, created, err := s.StackOn("c", "book", dialogue.Options{PlanID: "b", Stage: "asking"})
	if err != nil || !created {
		t.Fatal(created, err)
	}
	want := dialogue.Flow{ID: "c", Name: "book", Status: dialogue.Active, PlanID: "b", Stage: "asking"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantSketch(t, s, "a:pending b:pending c:active")
	if active, ok := s.Active(); !ok || active.ID != "c" {
		t.Errorf("active is %+v, %v", active, ok)
	}
}

func TestStackOnALiveFlowReturnsIt(t *testing.T) {
	s := stacked(t, "a", "b")
	must(t, s.SetSlot("city", `"Oslo"`, "t1"))
	before := marshal(t, s)
	for _, id := range []string{"a", "b"} {
		flow, created, err := s.StackOn("new", "flow "+id, dialogue.Options{Stage: "ignored"})
		if err != nil || created || flow.ID != id || flow.Stage != "" {
			t.Errorf("flow %s: got %+v, created %v, %v", id, flow, created, err)
		}
	}
	if got := marshal(t, s); got != before {
		t.Errorf("state changed to %s", got)
	}
	if _, err := s.Complete(""); err != nil {
		t.Fatal(err)
	}
	s.Pop()
	if flow, created, err := s.StackOn("b2", "flow b", dialogue.Options{}); err != nil || !created || flow.ID != "b2" {
		t.Errorf("a finished flow's name is not free: %+v, %v, %v", flow, created, err)
	}
}

func TestStackOnIsRefused(t *testing.T) {
	finished := stacked(t, "a")
	_, err := finished.Complete("")
	must(t, err)
	deep := stacked(t)
	for i := range dialogue.MaxDepth {
		_, _, err := deep.StackOn(fmt.Sprint(i), fmt.Sprint("n", i), dialogue.Options{})
		must(t, err)
	}
	long := strings.Repeat("x", 257)
	tests := []struct {
		name     string
		state    dialogue.State
		id, flow string
		opts     dialogue.Options
		want     string
	}{
		{"no name", stacked(t, "a"), "b", "", dialogue.Options{}, "name: is empty; give one"},
		{"no id", stacked(t, "a"), "", "n", dialogue.Options{}, "flow_id: is empty; give one"},
		{"id taken", stacked(t, "a"), "a", "n", dialogue.Options{}, `flow_id: flow "a" (flow a) has it already; use a new id`},
		{"long name", stacked(t), "b", long, dialogue.Options{}, "name: is 257 bytes long, at most 256; shorten it"},
		{"not UTF-8", stacked(t), "b\xff", "n", dialogue.Options{}, "flow_id: is not valid UTF-8; send UTF-8"},
		{"NUL", stacked(t), "b", "n\x00", dialogue.Options{}, `name: "n\x00" has control characters; leave them out`},
		{"stage", stacked(t), "b", "n", dialogue.Options{Stage: long}, "stage: is 257 bytes long, at most 256; shorten it"},
		{"unknown plan", stacked(t, "a", "c"), "b", "n", dialogue.Options{PlanID: "z"},
			`plan_id: "z" is none; name a pending or active flow of the stack: a, c`},
		{"no plan at all", stacked(t), "b", "n", dialogue.Options{PlanID: "z"}, `plan_id: "z" is none; name a pending or active flow of the stack: none`},
		{"finished plan", finished, "b", "n", dialogue.Options{PlanID: "a"}, `plan_id: "a" is none; name a pending or active flow of the stack: none`},
		{"finished top", finished, "b", "n", dialogue.Options{}, `stack on: no flow is active, flow "a" (flow a) on top is completed; pop it first`},
		{"depth", deep, "b", "n", dialogue.Options{}, "stack on: the stack holds 16 flows, as many as it may; complete or invalidate some and pop them first"},
		{"slot without type", stacked(t), "b", "n", dialogue.Options{Slots: []dialogue.Slot{{Name: "x"}}},
			`slots[0].type: "" is not a type; use string, number, boolean, list or object`},
		{"slot twice", stacked(t), "b", "n", dialogue.Options{Slots: []dialogue.Slot{{Name: "x", Value: "1"}, {Name: "x", Value: "1"}}},
			`slots[1].name: "x" stands twice; give each slot a name of its own`},
		{"slot of two types", stacked(t), "b", "n", dialogue.Options{Slots: []dialogue.Slot{{Name: "x", Type: "list", Value: "1"}}},
			`slots[0].value: slot "x" takes a list, not a number; give a list, or clear the slot and declare it anew`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			refused(t, &tt.state, tt.want, func() error {
				_, _, err := tt.state.StackOn(tt.id, tt.flow, tt.opts)
				return err
			})
		})
	}
}

func TestStackOnCarriesFilledSlotsOver(t *testing.T) {
	city := dialogue.Slot{Name: "city", Type: dialogue.TypeString, Value: `"Oslo"`, FilledBy: "t1"}
	guests := dialogue.Slot{Name: "guests", Type: dialogue.TypeNumber, Value: "2", FilledBy: "t2"}
	date := dialogue.Slot{Name: "date", Type: dialogue.TypeString}
	tests := []struct {
		name  string
		given []dialogue.Slot
		want  []dialogue.Slot
	}{
		{"all that are filled without slots of its own", nil, []dialogue.Slot{city, guests}},
		{"only those it names", []dialogue.Slot{date, {Name: "city", Type: "string"}}, []dialogue.Slot{date, city}},
		{"not over a value of its own", []dialogue.Slot{{Name: "city", Value: ` "Bergen" `}}, []dialogue.Slot{{Name: "city", Type: "string", Value: `"Bergen"`}}},
		{"not of another type", []dialogue.Slot{{Name: "guests", Type: "list"}}, []dialogue.Slot{{Name: "guests", Type: "list"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := stacked(t, "a")
			must(t, s.SetSlot("city", `"Oslo"`, "t1"))
			must(t, s.SetSlot("guests", "2", "t2"))
			must(t, s.DeclareSlot("date", "string"))
			got, _, err := s.StackOn("b", "next", dialogue.Options{Slots: tt.given})
			must(t, err)
			if diff := cmp.Diff(tt.want, got.Slots); diff != "" {
				t.Error(diff)
			}
			must(t, s.SetSlot("city", `"Rome"`, "t3"))
			if beneath, _ := s.Stack[0].Slot("city"); beneath != city {
				t.Errorf("the slot beneath became %+v", beneath)
			}
		})
	}
}

func TestFallback(t *testing.T) {
	s := stacked(t, "plan")
	_, _, err := s.StackOn("a", "fly", dialogue.Options{PlanID: "plan", Stage: "paying"})
	must(t, err)
	must(t, s.SetSlot("city", `"Oslo"`, "t1"))
	must(t, s.DeclareSlot("date", "string"))
	must(t, s.Attach("t1"))
	got, err := s.Fallback("b", "train")
	must(t, err)
	want := dialogue.Flow{ID: "b", Name: "train", Status: dialogue.Active, PlanID: "plan", Slots: []dialogue.Slot{
		{Name: "city", Type: "string", Value: `"Oslo"`, FilledBy: "t1"}, {Name: "date", Type: "string"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantSketch(t, s, "plan:pending b:active | a:invalid")
	if _, err := s.Fallback("c", "train"); err != nil {
		t.Errorf("the same name again: %v", err)
	}
	wantSketch(t, s, "plan:pending c:active | a:invalid b:invalid")
	p := s.Pop()
	if got := names(p.Finished); got != "a:invalid b:invalid" || p.Promoted != nil {
		t.Errorf("popped %q, promoted %v", got, p.Promoted)
	}
	wantSketch(t, s, "plan:pending c:active")
}

func TestFallbackIsRefused(t *testing.T) {
	invalid := stacked(t, "a")
	_, err := invalid.Invalidate("a")
	must(t, err)
	often := stacked(t, "a")
	for i := range dialogue.MaxDepth {
		_, err := often.Fallback(fmt.Sprint(i), "again")
		must(t, err)
	}
	tests := []struct {
		name     string
		state    dialogue.State
		id, flow string
		want     string
	}{
		{"empty", stacked(t), "b", "n", "fallback: no flow is active, the stack is empty; stack a flow on first"},
		{"finished", invalid, "b", "n", `fallback: no flow is active, flow "a" (flow a) on top is invalid; pop it first`},
		{"no name", stacked(t, "a"), "b", "", "name: is empty; give one"},
		{"its own id", stacked(t, "a"), "a", "n", `flow_id: flow "a" (flow a) has it already; use a new id`},
		{"id set aside", often, "a", "n", `flow_id: flow "a" (flow a) has it already; use a new id`},
		{"live beneath", stacked(t, "a", "b"), "c", "flow a",
			`fallback: flow "a" (flow a) is pending beneath; invalidate the top and pop down to it, or fall back to another flow`},
		{"too often", often, "z", "n", "fallback: 16 flows are set aside, as many as may be; pop to have them reported first"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			refused(t, &tt.state, tt.want, func() error {
				_, err := tt.state.Fallback(tt.id, tt.flow)
				return err
			})
		})
	}
}

func TestComplete(t *testing.T) {
	s := stacked(t, "a", "b")
	refused(t, &s, "result: is not JSON: offset 0: expected a value, found 'y'; give one JSON value; text stands in double quotes", func() error {
		_, err := s.Complete("yes")
		return err
	})
	got, err := s.Complete(" {\"a\": [1,\n 2]} ")
	must(t, err)
	if got.ID != "b" || got.Status != dialogue.Completed || got.Result != "{\"a\": [1,\n 2]}" {
		t.Errorf("completed %+v", got)
	}
	wantSketch(t, s, "a:pending b:completed")
	if active, ok := s.Active(); ok {
		t.Errorf("%s is active before the pop", active.ID)
	}
	refused(t, &s, `complete: no flow is active, flow "b" (flow b) on top is completed; pop it first`, func() error {
		_, err := s.Complete("")
		return err
	})
	if got := s.TakeCompleted(); len(got) != 1 || got[0] != "b" {
		t.Errorf("completed are %v", got)
	}
	if again := s.TakeCompleted(); again != nil {
		t.Errorf("taken twice: %v", again)
	}
	p := s.Pop()
	if names(p.Finished) != "b:completed" || p.Promoted == nil || p.Promoted.ID != "a" || p.Promoted.Status != dialogue.Active {
		t.Errorf("popped %+v", p)
	}
	wantSketch(t, s, "a:active")
}

func TestInvalidate(t *testing.T) {
	s := stacked(t, "a")
	for _, f := range []struct{ id, plan string }{{"plan", "a"}, {"step", "plan"}, {"other", ""}, {"substep", "step"}} {
		_, _, err := s.StackOn(f.id, "n "+f.id, dialogue.Options{PlanID: f.plan})
		must(t, err)
	}
	unpopped := s
	gone, err := s.Invalidate("plan")
	must(t, err)
	if got := names(gone); got != "plan:invalid step:invalid substep:invalid" {
		t.Errorf("invalidated %q", got)
	}
	wantSketch(t, s, "a:pending plan:invalid step:invalid other:pending substep:invalid")
	wantSketch(t, unpopped, "a:pending plan:pending step:pending other:pending substep:active")
	refused(t, &s, `invalidate: flow "step" (n step) is invalid already; pop it`, func() error {
		_, err := s.Invalidate("step")
		return err
	})
	refused(t, &s, `invalidate flow "z": not found on the stack; live there: a, other`, func() error {
		_, err := s.Invalidate("z")
		if !errors.Is(err, dialogue.ErrNotFound) {
			t.Errorf("%v is no ErrNotFound", err)
		}
		return err
	})
	p := s.Pop()
	if names(p.Finished) != "substep:invalid" || p.Promoted == nil || p.Promoted.ID != "other" {
		t.Errorf("popped %+v", p)
	}
	_, err = s.Complete("")
	must(t, err)
	if p := s.Pop(); names(p.Finished) != "other:completed step:invalid plan:invalid" || p.Promoted.ID != "a" {
		t.Errorf("popped %+v", p)
	}
	wantSketch(t, s, "a:active")
}

func TestInvalidateLeavesACompletedStepButNotItsSteps(t *testing.T) {
	s, err := dialogue.DecodeState(`{"stack":[{"flow_id":"plan","name":"p","status":"pending"},` +
		`{"flow_id":"step","name":"s","status":"completed","plan_id":"plan"},{"flow_id":"sub","name":"u","status":"active","plan_id":"step"}]}`)
	must(t, err)
	gone, err := s.Invalidate("plan")
	must(t, err)
	if got := names(gone); got != "plan:invalid sub:invalid" {
		t.Errorf("invalidated %q", got)
	}
	wantSketch(t, s, "plan:invalid step:completed sub:invalid")
}

func TestPopWithNothingToDo(t *testing.T) {
	for _, s := range []dialogue.State{{}, stacked(t, "a", "b")} {
		before := sketch(s)
		if p := s.Pop(); p.Finished != nil || p.Promoted != nil {
			t.Errorf("popped %+v", p)
		}
		wantSketch(t, s, before)
	}
}

func TestKeepGoing(t *testing.T) {
	s := stacked(t, "a", "b")
	must(t, s.Attach("t1"))
	_, err := s.Complete(`"done"`)
	must(t, err)
	refused(t, &s, "turn_id: is empty; give one", func() error {
		_, err := s.KeepGoing("")
		return err
	})
	p, err := s.KeepGoing("t1")
	must(t, err)
	if names(p.Finished) != "b:completed" || p.Promoted == nil || p.Promoted.ID != "a" {
		t.Fatalf("popped %+v", p)
	}
	if diff := cmp.Diff([]string{"t1"}, p.Promoted.TurnIDs); diff != "" {
		t.Error(diff)
	}
	if p, err := s.KeepGoing("t2"); err != nil || p.Promoted != nil {
		t.Errorf("with an active top: %+v, %v", p, err)
	}
	want := []dialogue.Pointer{{FlowID: "b", TurnID: "t1"}, {FlowID: "a", TurnID: "t1"}}
	if diff := cmp.Diff(want, s.TakeAttached()); diff != "" {
		t.Error(diff)
	}
	if again := s.TakeAttached(); again != nil {
		t.Errorf("taken twice: %v", again)
	}
}
