// Package llm is the socket that models plug into: what a model is asked, the answer as it comes, and what can
// go wrong, in words that are no provider's own. Clients of model servers stand below it.
package llm

import (
	"context"
	"iter"
)

// Model answers requests. It is safe for concurrent use.
type Model interface {
	// Stream sends the request and yields the answer as it comes. The last chunk, and only that one, has a
	// [Stop]. One before it may be empty: of a call that is not complete something came. An error is
	// terminal: it is the last thing yielded, what came before it stands, and there is no last chunk then. It
	// is an *[Error], or says that the request itself is wrong (a *[FieldError]), or is the context's own when
	// ctx has ended. When ctx ends or the caller stops, so does the model.
	Stream(ctx context.Context, r Request) iter.Seq2[Chunk, error]
}

// Request is what a model is asked. It belongs to the caller; whoever answers it does not change it and
// does not keep it.
type Request struct {
	Messages []Message
	// Tools are what the model may call. Defaults to none.
	Tools []Tool
	// Context is how many tokens the messages, the tools and the answer may take together. Servers that can be
	// told are told: Ollama loads the model again when it changes, so whoever shares a model asks for the same.
	// Defaults to the client's.
	Context int
	// MaxTokens bounds the answer. Defaults to what the model allows.
	MaxTokens int
	// JSON asks for an answer that is one JSON object. The messages must ask for it too.
	JSON bool
	// Conversation is the id of the conversation that is answered. It is for who observes calls, and is not sent. Defaults to
	// none.
	Conversation string
	// Temperature is how freely the model chooses, 0 for not at all. Defaults to the model's own.
	Temperature *float64
}

// Tool is a function that a model may call.
type Tool struct {
	// Name is of 1 to 64 letters, digits, underscores and hyphens.
	Name        string
	Description string
	// Schema is the JSON Schema of the arguments, an object. Defaults to no arguments.
	Schema string
}
