package agent

import (
	"context"

	"github.com/turnstone-dev/turnstone/llm"
)

// Observer is told what happens in a run, while it happens and in order, one event at a time. The loop waits for it,
// so that a slow reader slows the model down and loses nothing; the time it takes does not count as the model's
// silence. ctx ends when the job is cancelled: an observer that waits for somebody must stop waiting then. A panic
// ends the exchange as any failure does.
type Observer func(ctx context.Context, e Event)

// Event is one of [StateChanged], [TextPiece], [ThinkingPiece], [ToolStarted], [ToolFinished], [Answered] and [Warned].
type Event interface{ event() }

// StateChanged says what the worker does from now on. The end of a run is no such event: the job is over then.
type StateChanged struct{ State State }

// TextPiece is a piece of what the agent says.
type TextPiece struct{ Text string }

// ThinkingPiece is a piece of what the agent says to itself.
type ThinkingPiece struct{ Text string }

// ToolStarted says that a call is being run. Calls that are not run are only finished.
type ToolStarted struct{ Call llm.Call }

// ToolFinished says what a call came to. Events of calls that run at once come as the calls end; the log has their
// results in the order of the calls.
type ToolFinished struct {
	Call   llm.Call
	Result ToolResult
	// Err is why there is no result of the tool's own, nil where there is one. A *[PanicError] has the stack.
	Err error
}

// Answered says that the agent has said something to its end. With calls it is in the log and the loop goes on;
// without them it is the reply, which nothing after it changes, and which is in the log when the job is over.
type Answered struct{ Answer llm.Answer }

// Warned says what went wrong and did not matter.
type Warned struct{ Text string }

func (StateChanged) event()  {}
func (TextPiece) event()     {}
func (ThinkingPiece) event() {}
func (ToolStarted) event()   {}
func (ToolFinished) event()  {}
func (Answered) event()      {}
func (Warned) event()        {}
