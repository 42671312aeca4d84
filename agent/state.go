package agent

import "slices"

// State is what a worker is doing.
type State string

// The states of a worker.
const (
	Inactive State = "inactive"
	// Working is compiling a prompt, or writing down what was said.
	Working State = "working"
	// Requesting is waiting for the first piece of an answer.
	Requesting State = "requesting"
	Receiving  State = "receiving"
	// Waiting is waiting for calls to be confirmed.
	Waiting   State = "waiting"
	UsingTool State = "using_tool"
	// InactiveFailed is inactive after a job that failed. See [Worker.LastFailure].
	InactiveFailed State = "inactive_failed"
)

// transitions are what may come after a state. Every run ends in one of the inactive states, wherever it is.
var transitions = map[State][]State{
	Inactive:       {Working},
	Working:        {Requesting, Inactive, InactiveFailed},
	Requesting:     {Receiving, Inactive, InactiveFailed},
	Receiving:      {Waiting, Inactive, InactiveFailed},
	Waiting:        {UsingTool, Working, Inactive, InactiveFailed},
	UsingTool:      {Working, Inactive, InactiveFailed},
	InactiveFailed: {Working},
}

// Active reports whether a job is running in this state.
func (s State) Active() bool { return s != Inactive && s != InactiveFailed }

// Leads reports whether a worker may go from this state to the next.
func (s State) Leads(next State) bool { return slices.Contains(transitions[s], next) }
