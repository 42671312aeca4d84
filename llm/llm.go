// Package llm is the socket that models plug into.
package llm

import (
	"context"
	"iter"
	"strings"
)

// Model answers requests. It is safe for concurrent use.
type Model interface {
	// Stream sends the request and yields the answer as it comes. An error is the last thing yielded.
	// When ctx ends or the caller stops, so does the model.
	Stream(ctx context.Context, r Request) iter.Seq2[Chunk, error]
}

// Request is what a model is asked.
type Request struct {
	Messages []Message
	// JSON asks for an answer that is one JSON object.
	JSON bool
	// MaxTokens bounds the answer. Defaults to what the model allows.
	MaxTokens int
}

// Message is one message of a request. Its role is system, user or assistant.
type Message struct{ Role, Text string }

// Chunk is a piece of an answer.
type Chunk struct {
	Text string
	// Usage comes with the last chunk, from models that count.
	Usage Usage
}

// Usage is how many tokens a request and its answer took.
type Usage struct{ Prompt, Answer int }

// Complete asks the model and returns its whole answer. What came before an error is returned with it.
func Complete(ctx context.Context, m Model, r Request) (string, Usage, error) {
	var text strings.Builder
	var usage Usage
	for chunk, err := range m.Stream(ctx, r) {
		if err != nil {
			return text.String(), usage, err
		}
		text.WriteString(chunk.Text)
		if chunk.Usage != (Usage{}) {
			usage = chunk.Usage
		}
	}
	return text.String(), usage, nil
}
