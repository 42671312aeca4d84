package dialogue

import (
	"fmt"
	"slices"
	"strings"
)

// Options are what a new flow may start with.
type Options struct {
	// PlanID is the live flow on the stack that the new one is a step of. Defaults to none.
	PlanID string
	// Stage is the flow's first stage. Defaults to none.
	Stage string
	// Slots are the flow's slots, filled or not; a filled slot needs no Type. Of the flow beneath,
	// filled slots of the same name and type carry over into unfilled ones. Defaults to all filled
	// slots of the flow beneath.
	Slots []Slot
}

// StackOn pushes a new active flow; the one beneath becomes pending. Filled slots carry over from
// it, still naming the turn that filled them; see [Options]. If a live flow of that name is on the
// stack, pending or active, it is returned as it is, created is false and nothing changes. The
// id comes from the caller and must be new to the state.
//
// It is refused past [MaxDepth] and while the top is finished: pop first.
func (s *State) StackOn(id, name string, opts Options) (flow Flow, created bool, err error) {
	const op = "stack on"
	if err := checkLabel("name", name); err != nil {
		return Flow{}, false, err
	}
	if i := s.live(name); i >= 0 {
		return s.Stack[i].clone(), false, nil
	}
	if err := s.checkNew(id); err != nil {
		return Flow{}, false, err
	}
	if err := checkOptional("stage", opts.Stage); err != nil {
		return Flow{}, false, err
	}
	slots, err := settled(opts.Slots)
	if err != nil {
		return Flow{}, false, err
	}
	if opts.PlanID != "" && !s.isLive(opts.PlanID) {
		return Flow{}, false, fieldErrorf("plan_id", "name a pending or active flow of the stack: "+s.liveIDs(), "%q is none", opts.PlanID)
	}
	depth := len(s.Stack)
	if depth >= MaxDepth {
		return Flow{}, false, &OpError{
			Op:      op,
			Problem: fmt.Sprintf("the stack holds %d flows, as many as it may", depth),
			Legal:   "complete or invalidate some and pop them first",
		}
	}
	if depth > 0 {
		if _, err := s.needActive(op); err != nil {
			return Flow{}, false, err
		}
		beneath := s.edit(depth - 1)
		beneath.Status = Pending
		slots = carried(slots, beneath.Slots)
	}
	flow = Flow{ID: id, Name: name, Status: Active, Slots: slots, PlanID: opts.PlanID, Stage: opts.Stage}
	s.Stack = append(slices.Clip(s.Stack), flow)
	return flow.clone(), true, nil
}

// Fallback gives up the active flow for another one: the top becomes invalid and is set aside until
// the next Pop, and the new active flow takes its place, its slots and its plan. The id must be
// new to the state, and no flow beneath may be live under that name.
func (s *State) Fallback(id, name string) (Flow, error) {
	const op = "fallback"
	if err := checkLabel("name", name); err != nil {
		return Flow{}, err
	}
	if err := s.checkNew(id); err != nil {
		return Flow{}, err
	}
	top, err := s.needActive(op)
	if err != nil {
		return Flow{}, err
	}
	if i := s.live(name); i >= 0 && i != top {
		return Flow{}, &OpError{
			Op:      op,
			Problem: s.Stack[i].describe() + " is pending beneath",
			Legal:   "invalidate the top and pop down to it, or fall back to another flow",
		}
	}
	if len(s.SetAside) >= MaxDepth {
		return Flow{}, &OpError{
			Op:      op,
			Problem: fmt.Sprintf("%d flows are set aside, as many as may be", len(s.SetAside)),
			Legal:   "pop to have them reported first",
		}
	}
	old := s.Stack[top]
	old.Status = Invalid
	s.SetAside = append(slices.Clip(s.SetAside), old)
	flow := Flow{ID: id, Name: name, Status: Active, Slots: slices.Clone(old.Slots), PlanID: old.PlanID}
	*s.edit(top) = flow
	return flow.clone(), nil
}

// Complete finishes the active flow with a result, which is one JSON value or empty. The flow
// stays on top, and none is active, until Pop.
func (s *State) Complete(result Value) (Flow, error) {
	i, err := s.needActive("complete")
	if err != nil {
		return Flow{}, err
	}
	if result != "" {
		if result, err = result.trimmed("result"); err != nil {
			return Flow{}, err
		}
	}
	f := s.edit(i)
	f.Status, f.Result = Completed, result
	s.completed = append(slices.Clip(s.completed), f.ID)
	return f.clone(), nil
}

// Invalidate makes a pending or active flow invalid, and with it the live flows of which it is the
// plan, and theirs. It returns all of them, bottom first. They stay on the stack until Pop
// reaches them. An id that is not on the stack is an [ErrNotFound].
func (s *State) Invalidate(flowID string) ([]Flow, error) {
	const op = "invalidate"
	at := slices.IndexFunc(s.Stack, func(f Flow) bool { return f.ID == flowID })
	if at < 0 {
		return nil, fmt.Errorf("%s flow %q: %w on the stack; live there: %s", op, flowID, ErrNotFound, s.liveIDs())
	}
	if f := s.Stack[at]; !f.Status.Live() {
		return nil, &OpError{Op: op, Problem: f.describe() + " is " + string(f.Status) + " already", Legal: "pop it"}
	}
	s.edit(at)
	// A plan stands beneath its sub-flows, so one pass upwards finds all of them.
	gone := map[string]bool{}
	var flows []Flow
	for i := at; i < len(s.Stack); i++ {
		f := &s.Stack[i]
		if i != at && !gone[f.PlanID] {
			continue
		}
		gone[f.ID] = true
		if f.Status.Live() {
			f.Status = Invalid
			flows = append(flows, f.clone())
		}
	}
	return flows, nil
}

// Popped is what Pop took off and what came up. The flows are the caller's own.
type Popped struct {
	// Finished are the flows set aside, oldest first, and then those swept off, top first.
	Finished []Flow
	// Promoted is the flow that became active, nil where none did.
	Promoted *Flow
}

// Pop takes away the flows set aside, sweeps finished flows off the top and makes the next pending
// flow active. With an active top and nothing set aside it changes nothing. Afterwards the
// stack is empty or its top is active.
func (s *State) Pop() Popped {
	var p Popped
	for _, f := range s.SetAside {
		p.Finished = append(p.Finished, f.clone())
	}
	s.SetAside = nil
	top := len(s.Stack) - 1
	for ; top >= 0 && s.Stack[top].Status.Finished(); top-- {
		p.Finished = append(p.Finished, s.Stack[top].clone())
	}
	s.Stack = s.Stack[:top+1]
	if top >= 0 && s.Stack[top].Status == Pending {
		f := s.edit(top)
		f.Status = Active
		promoted := f.clone()
		p.Promoted = &promoted
	}
	return p
}

// KeepGoing is the seed's keep_going: it pops and, where a pending flow came up, goes on with it
// inside the same turn, so that one turn carries several flows. Promoted points at the turn.
func (s *State) KeepGoing(turnID string) (Popped, error) {
	if err := checkLabel("turn_id", turnID); err != nil {
		return Popped{}, err
	}
	p := s.Pop()
	if p.Promoted == nil {
		return p, nil
	}
	top := len(s.Stack) - 1
	s.attach(top, turnID)
	promoted := s.Stack[top].clone()
	p.Promoted = &promoted
	return p, nil
}

func (s *State) checkNew(id string) error {
	if err := checkLabel("flow_id", id); err != nil {
		return err
	}
	if f, taken := s.Flow(id); taken {
		return fieldErrorf("flow_id", "use a new id", "%s has it already", f.describe())
	}
	return nil
}

// live returns the index of the live flow of that name, or -1.
func (s *State) live(name string) int {
	return slices.IndexFunc(s.Stack, func(f Flow) bool { return f.Name == name && f.Status.Live() })
}

func (s *State) isLive(id string) bool {
	return slices.ContainsFunc(s.Stack, func(f Flow) bool { return f.ID == id && f.Status.Live() })
}

// liveIDs lists the live flows for an error text.
func (s *State) liveIDs() string {
	var ids []string
	for _, f := range s.Stack {
		if f.Status.Live() {
			ids = append(ids, f.ID)
		}
	}
	if ids == nil {
		return "none"
	}
	return strings.Join(ids, ", ")
}
