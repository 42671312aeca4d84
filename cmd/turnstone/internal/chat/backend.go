package chat

import (
	"context"
	"errors"
	"iter"
)

// Backend is the conversation as a screen needs it. Its methods may take long; at most one Stream or Command runs at
// a time, and Status beside it.
type Backend interface {
	// Stream says something and yields what happens until the reply is complete. An error is the last thing it
	// yields: the context's own where ctx ended, which cancels the reply and nothing else, and one that is
	// [ErrRefused] where nothing of what was said is kept.
	Stream(ctx context.Context, text string) iter.Seq2[Event, error]
	// Command carries out a slash command and returns what there is to show.
	Command(ctx context.Context, line string) (string, error)
	// Status is how the conversation stands.
	Status(ctx context.Context) (Status, error)
}

// ErrRefused says that what the user said is kept nowhere: it stays in the input, to be sent again.
var ErrRefused = errors.New("nothing was said")

// Status is what the status line shows.
type Status struct {
	// Line is the seed's: tokens used, reliability, compressions.
	Line string
	// Session and Model are who talks.
	Session, Model string
}

// Event is one of [Text], [Thinking], [Doing] and [Note].
type Event interface{ event() }

// Text is a piece of the reply.
type Text struct{ Text string }

// Thinking is a piece of what the model says to itself.
type Thinking struct{ Text string }

// Doing says what is being waited for from now on: waiting for llama3.2.
type Doing struct{ What string }

// Note is a line to keep: a tool that was used, turns that left the prompt.
type Note struct{ Text string }

func (Text) event()     {}
func (Thinking) event() {}
func (Doing) event()    {}
func (Note) event()     {}

// Question is something that a person has to allow, once for each time.
type Question struct {
	// Text is what is to be allowed, in full.
	Text string
	// Answer takes the answer. It is called once, from the screen's goroutine, and does not wait.
	Answer func(allowed bool)
}
