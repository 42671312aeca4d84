package compress

import (
	"context"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
)

// Summariser makes a summary of turns. [Extractive] and [Model] are the two.
//
// Nobody believes what it returns: [Run] verifies it. It must be safe for concurrent use and return
// soon after ctx ended.
type Summariser interface {
	Summarise(ctx context.Context, r Request) (string, error)
}

// Request is what a summariser is asked for.
type Request struct {
	Source Source
	// Goal is what the session works towards, or nil.
	Goal *cortex.Goal
	// Insights are what was noticed on the way, most important first.
	Insights []string
	// Guide is the older summary of the same turns, or empty.
	Guide string
	// Model is the name of the model that the prompt is for, empty where none is named, and Window the usable part of its
	// context in tokens.
	Model  string
	Window int
	// Mode is the session's, which may protect sentences of its own.
	Mode string
	// Quoted are what stands beside the summary word for word besides the turns of [Source.Beside]: facts
	// that are part of one of them are not asked for.
	Quoted []string
	// Budget is how many tokens the summary may have, and Count how they are counted.
	Budget int
	Count  func(string) int
	// Draft is an earlier answer that was refused, and Problems is why: what is asked for is a better one.
	Draft    string
	Problems []string
	// Timeout is how long a model may take for one answer. Defaults to as long as ctx allows.
	Timeout time.Duration
	// Generations, if it is not nil, is told how many lossy generations lie between the turns and the answer, where that is
	// more than one: a summariser that summarises summaries calls it before it answers.
	Generations func(int)
}

// limit is the most a summary may take: its budget, and less than what it replaces.
func (r *Request) limit() (limit, source int) {
	source = r.Source.Tokens(r.Count)
	return min(r.Budget, source-1), source
}
