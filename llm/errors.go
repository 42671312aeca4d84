package llm

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// What can go wrong, for errors.Is. Every one comes inside an *[Error]. A request that was cancelled is none of
// them: its error is the context's own.
var (
	// ErrUnreachable says that no server answers.
	ErrUnreachable = errors.New("the model server cannot be reached")
	// ErrModelMissing says that the server does not have the model.
	ErrModelMissing = errors.New("the server has no such model")
	// ErrRateLimited says that the server wants fewer requests. Error.RetryAfter says when to come back,
	// where the server does.
	ErrRateLimited = errors.New("the server limits the rate of requests")
	// ErrContextExceeded says that the prompt, or the prompt and any answer, does not fit the window.
	ErrContextExceeded = errors.New("the prompt does not fit the model's context")
	// ErrRefused says that the server does not accept the request: a missing key, an option that it does not
	// know, a tool for a model that calls none.
	ErrRefused = errors.New("the server refused the request")
	// ErrFailed says that the server broke down or answered what makes no sense.
	ErrFailed = errors.New("the model server failed")
	// ErrInterrupted says that a server was asked and its answer did not come to its end: it died, fell silent, gave up, or
	// closed the connection, also before the first word. What came before stands.
	ErrInterrupted = errors.New("the answer was interrupted")
)

// Error is why a model did not answer, and what to do next. It is always handled as *Error.
type Error struct {
	// Kind is one of the errors above. Defaults to ErrFailed.
	Kind  error
	Model string
	// Problem is what happened, in the server's words where there are some. It never holds a key.
	Problem string
	// Fix is what to do next: "start it with `ollama serve`".
	Fix string
	// Status is the HTTP status, 0 where there was none.
	Status int
	// RetryAfter is how long the server wants to be left alone, 0 where it does not say.
	RetryAfter time.Duration
	// Temporary says that the same request may succeed if it is sent again.
	Temporary bool
	// Prompt and Context are what a server counted when the prompt did not fit, 0 where it does not say.
	Prompt  int
	Context int
	// Err is the cause, where there is one.
	Err error
}

// Error is one line: model, kind, problem and what to do.
func (e *Error) Error() string {
	text := e.kind().Error()
	if e.Model != "" {
		text = "model " + strconv.Quote(e.Model) + ": " + text
	}
	if e.Problem != "" {
		text += ": " + e.Problem
	}
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.kind()}
	}
	return []error{e.kind(), e.Err}
}

func (e *Error) kind() error {
	if e.Kind == nil {
		return ErrFailed
	}
	return e.Kind
}

// Ended returns the error of a context that has ended, with its cause, and nil for one that has not.
func Ended(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); err != nil && !errors.Is(cause, err) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
