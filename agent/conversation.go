package agent

import (
	"context"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// Conversation is what a [Loop] needs of the session it talks in: one exchange of it. The engine makes one for each
// exchange. Its methods are called one at a time, in this order:
//
//	Begin (Compile Receive* (Answer Results?)?)* End
//
// An error of any of them ends the exchange. What returned without one is durable, but for an answer without calls,
// which may be written by End. Answer and Results may come after ctx has ended for the others, with a context of
// their own: what was said is kept whatever ends the exchange.
type Conversation interface {
	// Begin takes the session's lease, closes what an earlier exchange left open, and makes the input durable: its
	// drafts may lack ids. Where it returns an error there is no exchange: nothing else is called, End neither. See
	// [Early] for one that returns sooner.
	Begin(ctx context.Context, input ...turn.Draft) error
	// Compile makes the next prompt within budget. The request belongs to the loop.
	Compile(ctx context.Context, o Offer) (llm.Request, error)
	// Receive keeps one streamed piece of the reply, in memory at least: how often that is written down is the
	// conversation's to say. Its text can be stored as it is. Calls come with Answer only.
	Receive(ctx context.Context, piece llm.Chunk) error
	// Answer ends the reply that is being received: it becomes one agent turn in the log. It has text, or calls, or
	// both; the calls' ids are unique within the session as far as the prompt shows it, and their arguments are valid
	// JSON (what a model broke stands there as a string). Stop is empty for a reply that was cut off: its turn is
	// marked interrupted. A reply of which nothing came that a turn could hold (no text and no call, whatever it thought)
	// is never answered, and what was received of it is dropped with the next Compile or End.
	//
	// Where it refuses an answer with calls it is asked once more to take the text alone, as one that was cut off; not so
	// after store.ErrUnknown, since the answer may be there.
	Answer(ctx context.Context, a llm.Answer) error
	// Results appends the results of the last answer's calls, one for each, in the order of the calls.
	Results(ctx context.Context, results []ToolResult) error
	// End hands the exchange to the commit pipeline and gives the lease back. It is called exactly once after Begin,
	// with a context that does not end when the exchange is cancelled.
	End(ctx context.Context, e Ending) error
}

// Interruptible is a [Conversation] that may have to end for a reason that the loop does not know, such as that its engine is
// closed.
type Interruptible interface {
	// Speaking returns a context that ends, with the cause, when the exchange must. It is asked for once Begin has
	// returned; the job is cancelled then as if its own context had ended.
	Speaking() context.Context
}

// Early is a [Conversation] whose Begin may return before the input is durable, once the prompt is made: the model reads
// it while the disk is being written to.
type Early interface {
	// Begun waits until the input is durable. It is called once after Begin, and after Compile if that was reached,
	// before anything of a reply is handed on and before any other method. With an error there is no exchange, as if
	// it had been Begin's. Again says that the request of Compile is not what was kept: the model must be asked anew, with
	// what Compile returns then.
	Begun(ctx context.Context) (again bool, err error)
}

// Offer is what a prompt is compiled with, besides the conversation.
type Offer struct {
	// Tools are what the model may call. They do not change during an exchange, and belong to the loop.
	Tools []llm.Tool
	// Sticky are the context files as they are now.
	Sticky []prompt.Material
}

// ToolResult is the outcome of one call.
type ToolResult struct {
	// Result is what the log keeps.
	Result turn.Result
	// Took is how long the tool ran, 0 where it did not.
	Took time.Duration
}

// Ending is how an exchange ended.
type Ending struct {
	// State is commit.Complete, commit.Interrupted for one whose reply was cut short or that was cancelled, or
	// commit.Failed.
	State commit.State
	// Err is why, and nil for an exchange that is complete.
	Err error
	// Rounds is how often the model was asked, Calls how many tools it called, Usage what it counted, all together.
	Rounds int
	Calls  int
	Usage  llm.Usage
	// Warnings are what went wrong and did not matter: sticky files that could not be shown.
	Warnings []string
}
