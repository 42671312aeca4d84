package llm

import "time"

// Limits bound what a client takes from a server. Its zero value is useful.
type Limits struct {
	// First is how long a server may take before the first piece of an answer: it may have to load the model,
	// finish other requests and read a long prompt. Defaults to 15 minutes.
	First time.Duration
	// Idle is how long nothing may come in the middle of an answer. Defaults to 2 minutes, or to First where the model
	// is offered tools: Ollama says nothing while a call is being written, which takes a slow machine long.
	Idle time.Duration
	// Line is how many bytes one line of an answer may have; a tool call can be one. Defaults to 16 MiB.
	Line int
	// Total is how many bytes an answer may have. Defaults to 256 MiB.
	Total int64
}

const (
	firstPiece = 15 * time.Minute
	nextPiece  = 2 * time.Minute
)

// Silence returns how long nothing may come in the middle of an answer. Tools says that the model may be writing a call.
func (l Limits) Silence(tools bool) time.Duration {
	switch {
	case l.Idle > 0:
		return l.Idle
	case !tools:
		return nextPiece
	case l.First > 0:
		return l.First
	}
	return firstPiece
}
