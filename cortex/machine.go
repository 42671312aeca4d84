package cortex

import "slices"

// machine says what may become of a goal or of an action of one type.
type machine struct {
	of string // goalMachine or a type of action
	// steps lead from a status to those that may follow. What no step leads from is final. The first
	// step's is where everything begins.
	steps []step
	// owner is whose it is unless the change that creates it says otherwise.
	owner Owner
	// confirm: only the user can complete it, whoever owns it.
	confirm bool
}

type step struct {
	from string
	to   []string
}

const goalMachine = "goal"

// machines is every machine there is. Cancelling is a step like any other: a blocker has none.
var machines = []machine{
	{of: goalMachine, steps: []step{
		{"active", []string{"paused", "blocked", "completed", "abandoned"}},
		{"paused", []string{"active", "blocked", "completed", "abandoned"}},
		{"blocked", []string{"active", "paused", "completed", "abandoned"}},
	}},
	{of: "agent_task", owner: OwnerAgent, steps: []step{
		{"open", []string{"in_progress", "cancelled"}},
		{"in_progress", []string{"done", "cancelled"}},
	}},
	{of: "research", owner: OwnerAgent, steps: []step{
		{"open", []string{"in_progress", "cancelled"}},
		{"in_progress", []string{"done", "cancelled"}},
	}},
	{of: "user_task", owner: OwnerUser, confirm: true, steps: []step{
		{"open", []string{"awaiting_confirmation", "cancelled"}},
		{"awaiting_confirmation", []string{"done", "cancelled"}},
	}},
	{of: "approval_request", owner: OwnerUser, confirm: true, steps: []step{
		{"open", []string{"awaiting_confirmation", "cancelled"}},
		{"awaiting_confirmation", []string{"approved", "rejected", "cancelled"}},
	}},
	{of: "reminder", owner: OwnerAgent, steps: []step{
		{"scheduled", []string{"sent", "cancelled"}},
		{"sent", []string{"done", "escalated", "cancelled"}},
	}},
	// A follow-up that is scheduled ends: what was scheduled, mostly a reminder, lives on in its place.
	{of: "follow_up", owner: OwnerAgent, steps: []step{
		{"open", []string{"scheduled", "done", "cancelled"}},
	}},
	{of: "decision", owner: OwnerUser, steps: []step{
		{"open", []string{"decided", "cancelled"}},
	}},
	{of: "background_job", owner: OwnerAgent, steps: []step{
		{"scheduled", []string{"running", "cancelled"}},
		{"running", []string{"succeeded", "failed", "cancelled"}},
	}},
	{of: "blocker", owner: OwnerAgent, steps: []step{
		{"open", []string{"resolved", "waived"}},
	}},
}

// Next returns the statuses that may follow for an action of the type. It is empty for a final
// status, and for types and statuses that do not exist.
func (t ActionType) Next(from ActionStatus) []ActionStatus {
	return next[ActionStatus](string(t), string(from))
}

// Statuses returns every status an action of the type may have, the one it begins with first. A type that
// does not exist has none.
func (t ActionType) Statuses() []ActionStatus { return statuses[ActionStatus](string(t)) }

// Next returns the statuses that may follow. It is empty for a final status.
func (s GoalStatus) Next() []GoalStatus { return next[GoalStatus](goalMachine, string(s)) }

// actionTypes are the types of actions in the order of the table.
var actionTypes = func() (types []ActionType) {
	for _, m := range machines {
		if m.of != goalMachine {
			types = append(types, ActionType(m.of))
		}
	}
	return types
}()

// machineOf returns the machine, one without steps if there is none.
func machineOf(of string) *machine {
	for i := range machines {
		if machines[i].of == of {
			return &machines[i]
		}
	}
	return &machine{of: of}
}

// first is the status that everything begins with.
func (m *machine) first() string { return m.steps[0].from }

func (m *machine) next(from string) []string {
	for _, s := range m.steps {
		if s.from == from {
			return s.to
		}
	}
	return nil
}

func next[S ~string](of, from string) []S {
	var list []S
	for _, to := range machineOf(of).next(from) {
		list = append(list, S(to))
	}
	return list
}

// final reports whether nothing may follow the status.
func final(of, status string) bool { return len(machineOf(of).next(status)) == 0 }

// checkStatus refuses a status that the machine does not have.
func checkStatus[S ~string](of string, status S) error {
	for _, s := range machineOf(of).steps {
		if s.from == string(status) || slices.Contains(s.to, string(status)) {
			return nil
		}
	}
	return oneOf("status", status, statuses[S](of))
}

// statuses returns every status of a machine once, the first being the one it begins with.
func statuses[S ~string](of string) []S {
	var list []S
	add := func(s string) {
		if !slices.Contains(list, S(s)) {
			list = append(list, S(s))
		}
	}
	steps := machineOf(of).steps
	for _, s := range steps {
		add(s.from)
	}
	for _, s := range steps {
		for _, to := range s.to {
			add(to)
		}
	}
	return list
}

// move refuses a step that the machine does not have.
func move[S ~string](of string, from, to S) error {
	legal := machineOf(of).next(string(from))
	if slices.Contains(legal, string(to)) {
		return nil
	}
	if err := checkStatus(of, to); err != nil {
		return err
	}
	if len(legal) == 0 {
		return fieldErrorf("status", "create another", "%s is the end for %s", from, of)
	}
	return fieldErrorf("status", "legal: "+alternatives(legal), "%s does not follow %s for %s", to, from, of)
}
