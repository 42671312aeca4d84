package dialogue

import (
	"bytes"
	"slices"
	"strconv"
)

// MaxDepth is how many flows the stack may hold, and how many may be set aside until the next Pop.
const MaxDepth = 16

// State is what we believe the conversation is about: a stack of flows. At most one flow is
// active, and it is the top. The zero State is empty and ready for use.
//
// A State is a value: an assigned copy is independent, because operations never write to memory
// that a copy may share. Read the fields; change them through the operations, each of which
// leaves the state as it was when it returns an error. Errors are a *[FieldError] for bad input and
// an *[OpError] for an operation that is not legal now. Operations on one State must not run
// concurrently.
type State struct {
	// Stack is bottom first. Beneath the top flows are pending, or finished and waiting to be
	// reached by Pop.
	Stack []Flow
	// SetAside holds the flows that Fallback replaced, oldest first, until Pop reports them.
	SetAside []Flow

	attached  []Pointer
	completed []string
}

// Pointer says that a flow was active in a turn.
type Pointer struct {
	FlowID string
	TurnID string
}

// Active returns the active flow, if there is one. The flow is the caller's own.
func (s State) Active() (Flow, bool) {
	if i := len(s.Stack) - 1; i >= 0 && s.Stack[i].Status == Active {
		return s.Stack[i].clone(), true
	}
	return Flow{}, false
}

// Flow returns the flow of that id, on the stack or set aside. The flow is the caller's own.
func (s State) Flow(id string) (Flow, bool) {
	for _, flows := range [][]Flow{s.Stack, s.SetAside} {
		if i := slices.IndexFunc(flows, func(f Flow) bool { return f.ID == id }); i >= 0 {
			return flows[i].clone(), true
		}
	}
	return Flow{}, false
}

// Equal reports whether both states hold the same, turn ids included. What TakeAttached and
// TakeCompleted would return does not count.
func (s State) Equal(t State) bool {
	return bytes.Equal(appendState(nil, s, true), appendState(nil, t, true))
}

// TakeAttached returns the pointers attached since the state was made, loaded or last asked, in
// that order, and forgets them.
func (s *State) TakeAttached() []Pointer {
	taken := s.attached
	s.attached = nil
	return taken
}

// TakeCompleted returns the ids of the flows completed since the state was made, loaded or last
// asked, in that order, and forgets them.
func (s *State) TakeCompleted() []string {
	taken := s.completed
	s.completed = nil
	return taken
}

// Check holds the state against every rule of the package. States made by operations or by
// DecodeState pass it. The error is a *[FieldError].
func (s State) Check() error {
	if len(s.Stack) > MaxDepth {
		return fieldErrorf("stack", "complete and pop some", "%d flows, at most %d", len(s.Stack), MaxDepth)
	}
	if len(s.SetAside) > MaxDepth {
		return fieldErrorf("set_aside", "pop them", "%d flows, at most %d", len(s.SetAside), MaxDepth)
	}
	ids, names := map[string]bool{}, map[string]bool{}
	for i, f := range s.Stack {
		path := indexed("stack", i)
		if err := f.check(); err != nil {
			return within(path, err)
		}
		top := i == len(s.Stack)-1
		switch {
		case ids[f.ID]:
			return fieldErrorf(path+".flow_id", "give each flow an id of its own", "%q stands twice", f.ID)
		case f.PlanID != "" && !ids[f.PlanID]:
			return fieldErrorf(path+".plan_id", "name a flow beneath it", "%q is none", f.PlanID)
		case f.Status == Active && !top:
			return fieldErrorf(path+".status", "make it pending", "only the top may be active")
		case f.Status == Pending && top:
			return fieldErrorf(path+".status", "make it active", "the top cannot be pending")
		case f.Status.Live() && names[f.Name]:
			return fieldErrorf(path+".name", "use the one there is", "a live flow beneath is called %q too", f.Name)
		}
		ids[f.ID] = true
		names[f.Name] = names[f.Name] || f.Status.Live()
	}
	for i, f := range s.SetAside {
		path := indexed("set_aside", i)
		if err := f.check(); err != nil {
			return within(path, err)
		}
		if f.Status != Invalid {
			return fieldErrorf(path+".status", "make it invalid", "a flow set aside cannot be %s", f.Status)
		}
		if ids[f.ID] {
			return fieldErrorf(path+".flow_id", "give each flow an id of its own", "%q stands twice", f.ID)
		}
		ids[f.ID] = true
	}
	return nil
}

// edit returns the flow at i for writing. No other State sees what is written to the flow itself;
// its slices must be replaced, not written to.
func (s *State) edit(i int) *Flow {
	s.Stack = slices.Clone(s.Stack)
	return &s.Stack[i]
}

// needActive returns the index of the active flow, or why op cannot be done without one.
func (s *State) needActive(op string) (int, error) {
	i := len(s.Stack) - 1
	if i < 0 {
		return 0, &OpError{Op: op, Problem: "no flow is active, the stack is empty", Legal: "stack a flow on first"}
	}
	if top := s.Stack[i]; top.Status != Active {
		return 0, &OpError{
			Op:      op,
			Problem: "no flow is active, " + top.describe() + " on top is " + string(top.Status),
			Legal:   "pop it first",
		}
	}
	return i, nil
}

func (f Flow) describe() string { return "flow " + strconv.Quote(f.ID) + " (" + f.Name + ")" }

func indexed(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }
