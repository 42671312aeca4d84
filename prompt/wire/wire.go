// Package wire is a prompt in the words of providers: the message lists of Ollama, OpenAI and Anthropic
// from one projection.
//
// What is written depends on the request alone, and whatever grows with a conversation stands last in it:
// adding messages changes nothing before the end of the message that was the last one. What the lists have
// in common:
//
//   - A note is said in the user's role. Its text says that it is a note, and no other line of a compiled prompt begins as it
//     does.
//   - Blank text is left out. A message that has nothing else says "(empty)", a tool's that failed
//     "(failed)". Where nobody but the system speaks, the user says "(The conversation begins.)".
//   - A picture that cannot be shown is its alternative text in brackets.
//   - Tools have the names that [ToolName] gives them.
//   - The arguments of a call are an object. Other JSON is wrapped in one, {"arguments": …}, and so, as a
//     string, is what is not JSON or what parsers of providers stumble over: half of a surrogate pair,
//     numbers beyond 64 bits, more than 100 levels. No arguments are {}.
//   - Only Anthropic's list has a place to say that a call failed. For the others the result's text must.
package wire

import (
	"context"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
)

// Format is whose words a prompt is written in.
type Format string

// The formats.
const (
	// Ollama is the body of a POST to /api/chat. Left to itself Ollama takes a window of its own, drops the
	// oldest messages of a prompt that is too long, and forgets the beginning when the reply reaches the
	// window, all of it silently. So num_ctx is always said, "truncate":false makes a prompt that is too
	// long an error, and "shift":false ends a reply at the window with done_reason "length". A server reloads
	// the model when they change, which is why they are never left out. Text that looks like Ollama's tag of
	// a picture, [img-7], is written [img -7]: it would be taken for one. Whether to stream is the client's
	// to add.
	Ollama Format = "ollama"
	// OpenAI is the body of a POST to /v1/chat/completions. The limit of the reply is
	// max_completion_tokens: newer models refuse its former name, and some servers that speak like OpenAI
	// know only that one.
	OpenAI Format = "openai"
	// Anthropic is the body of a POST to /v1/messages. The roles alternate there: messages of one role in a
	// row are one message with several blocks. The user has the first word and the last: where the agent has
	// them, "(The conversation begins.)" is put before and "(Go on.)" behind. What the system says after
	// the beginning is the user's, between lines <system> and </system>, and has no more authority than that.
	Anthropic Format = "anthropic"
	// Text is plain text for people. Lines that begin with "# " are headers, what was said is indented, and
	// whatever could end a line or move a cursor stands as its escape: no content can pass for a header.
	Text Format = "text"
)

// FieldError says which field of a request was refused and why.
type FieldError = invalid.Field

// Request is a compiled prompt and what a provider's list needs beside it.
type Request struct {
	// Messages begin with the system's, if there is one. After an agent's message with calls come its
	// tools' messages, at once and in the order of the calls.
	Messages []prompt.Message
	Tools    []prompt.Definition
	// Model must be named, except in a text.
	Model string
	// Context is the usable window. Ollama must be told; the others are not.
	Context int
	// MaxTokens is the reply's reserve. Defaults to no limit, and to 4096 for Anthropic, which demands one.
	MaxTokens int
}

// Blobs returns the bytes of a picture. The caller does not change them.
type Blobs func(ctx context.Context, sha256 string) ([]byte, error)

// Append appends the request's body in the words of f, one JSON value without white space around it or, for
// Text, lines. It returns dst as it was with a *[FieldError] where the request breaks a rule that is said
// above, and with the error of blobs where a picture could not be had. Without blobs pictures are
// not shown. It may be called concurrently, and is a function of its arguments: the same ones give the same
// bytes.
func Append(ctx context.Context, dst []byte, f Format, r Request, blobs Blobs) ([]byte, error) {
	if err := check(f, &r); err != nil {
		return dst, err
	}
	w := writer{ctx: ctx, dst: dst, blobs: blobs}
	var err error
	switch f {
	case Ollama:
		err = w.ollama(&r)
	case OpenAI:
		err = w.openAI(&r)
	case Anthropic:
		err = w.anthropic(&r)
	case Text:
		w.text(&r)
	}
	if err != nil {
		return dst, err
	}
	return w.dst, nil
}
