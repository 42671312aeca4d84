package llm

import (
	"context"
	"slices"
	"time"
)

// Chunk is a piece of an answer.
type Chunk struct {
	Text string
	// Thinking is what the model says to itself before it answers.
	Thinking string
	// Calls are complete, in the order the model made them.
	Calls []Call
	// Usage comes with the last chunk, from servers that count.
	Usage Usage
	// Stop is why the answer ended, and empty before the last chunk.
	Stop Stop
}

// Stop is why an answer ended. A server's reason that is none of these is kept as the server says it.
type Stop string

// The reasons.
const (
	StopEnd Stop = "stop"
	// StopLength is an answer that was cut off, by the request's MaxTokens or by the window.
	StopLength Stop = "length"
	// StopCalls is an answer that waits for the results of its calls.
	StopCalls Stop = "calls"
	// StopFilter is an answer that the provider withheld.
	StopFilter Stop = "filter"
)

// Usage is how many tokens a request and its answer took. What a server does not tell is 0.
type Usage struct {
	// Prompt is all of the prompt, with what came from a cache. Where it is less than what was sent, the server
	// dropped some without a word.
	Prompt int
	// Cached is how much of Prompt came from a cache.
	Cached int
	Answer int
	// PromptTime is how long reading the prompt took. At servers that do not tell Cached a prompt that begins like
	// the one before shows in nothing else.
	PromptTime time.Duration
}

// Answer is what a model answered, all of it.
type Answer struct {
	Text     string
	Thinking string
	Calls    []Call
	Usage    Usage
	Stop     Stop // empty for an answer that did not come to its end
}

// Complete asks the model and returns its whole answer. What came before an error is returned with it.
func Complete(ctx context.Context, m Model, r Request) (Answer, error) {
	var a Answer
	var text, thinking []byte
	var failure error
	for chunk, err := range m.Stream(ctx, r) {
		if err != nil {
			failure = err
			break
		}
		text, thinking = append(text, chunk.Text...), append(thinking, chunk.Thinking...)
		a.Calls = append(a.Calls, chunk.Calls...)
		if chunk.Usage != (Usage{}) {
			a.Usage = chunk.Usage
		}
		if chunk.Stop != "" {
			a.Stop = chunk.Stop
		}
	}
	a.Text, a.Thinking, a.Calls = string(text), string(thinking), slices.Clip(a.Calls)
	return a, failure
}
