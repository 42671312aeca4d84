package dialogue_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/dialogue"
)

// machine runs random operations and holds the state against the package's promises after each.
type machine struct {
	state     dialogue.State
	next      int
	attached  []dialogue.Pointer
	completed []string
	draw      struct{ id, name, turn, slot, value *rapid.Generator[string] }
}

func newMachine() *machine {
	m := &machine{}
	names := make([]string, dialogue.MaxDepth+4)
	for i := range names {
		names[i] = fmt.Sprint("name ", i)
	}
	m.draw.name = rapid.SampledFrom(append(names, ""))
	m.draw.turn = rapid.SampledFrom([]string{"t1", "t2", "t3", "t4", "\x00", ""})
	m.draw.slot = rapid.SampledFrom([]string{"city", "date", "guests", ""})
	m.draw.value = rapid.SampledFrom([]string{`"Oslo"`, ` "x" `, "1", "1.0", "true", "[ 1 ]", `{"a": 1}`, "null", "{", ""})
	return m
}

// id draws the id of a flow in the state, or one that is not there.
func (m *machine) id(t *rapid.T) string {
	ids := []string{"nobody", ""}
	for _, f := range slices.Concat(m.state.Stack, m.state.SetAside) {
		ids = append(ids, f.ID)
	}
	return rapid.SampledFrom(ids).Draw(t, "id")
}

// fresh draws an id for a new flow, now and then one that is taken.
func (m *machine) fresh(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "old id") == 0 {
		return m.id(t)
	}
	m.next++
	return fmt.Sprint("f", m.next)
}

// try runs an operation. When it is refused, nothing may have changed; in any case no copy made
// before may have.
func (m *machine) try(t *rapid.T, op func() error) bool {
	before := m.state
	text, err := before.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	failure := op()
	if after, err := before.MarshalJSON(); err != nil || string(after) != string(text) {
		t.Fatalf("the copy made before became %s, %v; it was %s", after, err, text)
	}
	if failure == nil {
		return true
	}
	if !m.state.Equal(before) {
		t.Fatalf("refused with %v, but the state went from %s to %v", failure, text, m.state)
	}
	var field *dialogue.FieldError
	var illegal *dialogue.OpError
	if !errors.As(failure, &field) && !errors.As(failure, &illegal) && !errors.Is(failure, dialogue.ErrNotFound) {
		t.Fatalf("refused with %T: %v", failure, failure)
	}
	return false
}

func (m *machine) stackOn(t *rapid.T) {
	id, name := m.fresh(t), m.draw.name.Draw(t, "name")
	opts := dialogue.Options{}
	if rapid.Bool().Draw(t, "has plan") {
		opts.PlanID = m.id(t)
	}
	for _, slot := range rapid.SliceOfN(m.draw.slot, 0, 2).Draw(t, "slots") {
		opts.Slots = append(opts.Slots, dialogue.Slot{Name: slot, Type: dialogue.TypeString})
	}
	before := m.state
	var flow dialogue.Flow
	var created bool
	ok := m.try(t, func() (err error) {
		flow, created, err = m.state.StackOn(id, name, opts)
		return err
	})
	switch {
	case !ok:
	case created:
		if active, _ := m.state.Active(); active.ID != id || len(m.state.Stack) != len(before.Stack)+1 {
			t.Fatalf("%q is active, not %q", active.ID, id)
		}
	case !m.state.Equal(before) || !flow.Status.Live() || flow.Name != name:
		t.Fatalf("got %+v for the live flow %q", flow, name)
	}
}

func (m *machine) fallback(t *rapid.T) {
	id, name := m.fresh(t), m.draw.name.Draw(t, "name")
	before := m.state
	if !m.try(t, func() error { _, err := m.state.Fallback(id, name); return err }) {
		return
	}
	old, _ := before.Active()
	set, _ := m.state.Flow(old.ID)
	active, _ := m.state.Active()
	if set.Status != dialogue.Invalid || active.ID != id || len(m.state.Stack) != len(before.Stack) {
		t.Fatalf("fallback from %+v left %+v and made %+v", old, set, active)
	}
	if diff := cmp.Diff(old.Slots, active.Slots); diff != "" {
		t.Fatal(diff)
	}
}

func (m *machine) complete(t *rapid.T) {
	result := dialogue.Value(m.draw.value.Draw(t, "result"))
	if m.try(t, func() error { _, err := m.state.Complete(result); return err }) {
		m.noneActive(t)
		m.completed = append(m.completed, m.state.Stack[len(m.state.Stack)-1].ID)
	}
}

func (m *machine) invalidate(t *rapid.T) {
	id := m.id(t)
	if !m.try(t, func() error { _, err := m.state.Invalidate(id); return err }) {
		return
	}
	if m.state.Stack[len(m.state.Stack)-1].ID == id {
		m.noneActive(t)
	}
	for _, f := range m.state.Stack {
		plan, _ := m.state.Flow(f.PlanID)
		if f.Status.Live() && plan.Status == dialogue.Invalid {
			t.Fatalf("%s is %s, its plan %s is invalid", f.ID, f.Status, plan.ID)
		}
	}
}

func (m *machine) noneActive(t *rapid.T) {
	if active, ok := m.state.Active(); ok {
		t.Fatalf("%q is active before the pop", active.ID)
	}
}

// popped checks what left and what came up: nothing is lost, and only what is finished goes.
func (m *machine) popped(t *rapid.T, before dialogue.State, p dialogue.Popped) {
	if len(p.Finished)+len(m.state.Stack) != len(before.Stack)+len(before.SetAside) {
		t.Fatalf("%d flows left, %d stayed, of %d and %d", len(p.Finished), len(m.state.Stack), len(before.Stack), len(before.SetAside))
	}
	for _, f := range p.Finished {
		if !f.Status.Finished() {
			t.Fatalf("%+v was popped", f)
		}
	}
	active, ok := m.state.Active()
	if ok != (len(m.state.Stack) > 0) {
		t.Fatalf("after a pop the state is %v", m.state)
	}
	_, was := before.Active()
	if promoted := ok && !was; promoted != (p.Promoted != nil) {
		t.Fatalf("promoted %+v, active is %+v", p.Promoted, active)
	}
	if p.Promoted != nil && !cmp.Equal(*p.Promoted, active) {
		t.Fatal(cmp.Diff(*p.Promoted, active))
	}
}

func (m *machine) pop(t *rapid.T) {
	before := m.state
	m.try(t, func() error { m.popped(t, before, m.state.Pop()); return nil })
}

func (m *machine) keepGoing(t *rapid.T) {
	turn, before := m.draw.turn.Draw(t, "turn"), m.state
	var p dialogue.Popped
	if m.try(t, func() (err error) { p, err = m.state.KeepGoing(turn); return err }) {
		m.popped(t, before, p)
		if p.Promoted != nil {
			promoted, _ := before.Flow(p.Promoted.ID)
			m.expect(promoted, turn)
		}
	}
}

func (m *machine) attach(t *rapid.T) {
	turn, before := m.draw.turn.Draw(t, "turn"), m.state
	if m.try(t, func() error { return m.state.Attach(turn) }) {
		active, _ := before.Active()
		m.expect(active, turn)
	}
}

// expect notes that flow, as it was before, is now pointed at the turn.
func (m *machine) expect(flow dialogue.Flow, turn string) {
	if !slices.Contains(flow.TurnIDs, turn) {
		m.attached = append(m.attached, dialogue.Pointer{FlowID: flow.ID, TurnID: turn})
	}
}

func (m *machine) setSlot(t *rapid.T) {
	name, value, turn := m.draw.slot.Draw(t, "slot"), dialogue.Value(m.draw.value.Draw(t, "value")), m.draw.turn.Draw(t, "turn")
	if m.try(t, func() error { return m.state.SetSlot(name, value, turn) }) {
		active, _ := m.state.Active()
		if slot, _ := active.Slot(name); !slot.Filled() || slot.FilledBy != turn || slot.Type != slot.Value.Type() {
			t.Fatalf("slot is %+v", slot)
		}
	}
}

func (m *machine) declareSlot(t *rapid.T) {
	name := m.draw.slot.Draw(t, "slot")
	typ := rapid.SampledFrom([]dialogue.Type{dialogue.TypeString, dialogue.TypeNumber, dialogue.TypeList, "text"}).Draw(t, "type")
	if m.try(t, func() error { return m.state.DeclareSlot(name, typ) }) {
		active, _ := m.state.Active()
		if slot, _ := active.Slot(name); slot.Type != typ {
			t.Fatalf("slot is %+v, not %s", slot, typ)
		}
	}
}

func (m *machine) clearSlot(t *rapid.T) {
	name := m.draw.slot.Draw(t, "slot")
	if m.try(t, func() error { return m.state.ClearSlot(name) }) {
		active, _ := m.state.Active()
		if slot, ok := active.Slot(name); !ok || slot.Filled() {
			t.Fatalf("slot is %+v, %v", slot, ok)
		}
	}
}

func (m *machine) setStage(t *rapid.T) {
	stage := rapid.SampledFrom([]string{"asking", "paying", "", "\n"}).Draw(t, "stage")
	m.try(t, func() error { return m.state.SetStage(stage) })
}

func (m *machine) take(t *rapid.T) {
	copied := m.state
	for _, s := range []*dialogue.State{&m.state, &copied} {
		if diff := cmp.Diff(m.attached, s.TakeAttached()); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(m.completed, s.TakeCompleted()); diff != "" {
			t.Fatal(diff)
		}
	}
	m.attached, m.completed = nil, nil
}

func (m *machine) check(t *rapid.T) {
	s := m.state
	for i, f := range s.Stack {
		if top := i == len(s.Stack)-1; f.Status == dialogue.Active && !top || f.Status == dialogue.Pending && top {
			t.Fatalf("flow %d of %d is %s", i, len(s.Stack), f.Status)
		}
	}
	if len(s.Stack) > dialogue.MaxDepth {
		t.Fatalf("the stack is %d deep", len(s.Stack))
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	text, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := dialogue.DecodeState(string(text))
	if err != nil || !back.Equal(s) || !cmp.Equal(back.Stack, s.Stack, cmpopts.EquateEmpty()) || !cmp.Equal(back.SetAside, s.SetAside, cmpopts.EquateEmpty()) {
		t.Fatalf("%s was read back as %v, %v", text, back, err)
	}
	bare := dialogue.EncodeState(s)
	if back, err = dialogue.DecodeState(bare); err != nil || dialogue.EncodeState(back) != bare {
		t.Fatalf("%s was read back as %v, %v", bare, back, err)
	}
}

func TestStackKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine()
		t.Repeat(map[string]func(*rapid.T){
			"":             m.check,
			"stackOn":      m.stackOn,
			"stackOnAgain": m.stackOn, // twice as likely as the rest, so that stacks get deep
			"fallback":     m.fallback,
			"complete":     m.complete,
			"invalidate":   m.invalidate,
			"pop":          m.pop,
			"keepGoing":    m.keepGoing,
			"attach":       m.attach,
			"setSlot":      m.setSlot,
			"declareSlot":  m.declareSlot,
			"clearSlot":    m.clearSlot,
			"setStage":     m.setStage,
			"take":         m.take,
		})
	})
}
