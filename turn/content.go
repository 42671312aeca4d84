package turn

import (
	"slices"
	"strings"
)

// Content is what a turn holds, one type per form: [Text], [Speech], [Image], and for actions
// [Action] or, from the system, [Result]; under any form [Forgotten] where it was forgotten. Its JSON
// is the same on disk, in bundles, on the command line and over HTTP; see [DecodeContent] and
// [AppendContent].
type Content interface {
	// Searchable returns the text that patterns and full-text search look at.
	Searchable() string

	form() Form
	size() int64 // bytes of text, which Limits.Text bounds
	appendJSON(dst []byte) []byte
	check(role Role, l Limits) error
	blob() *Blob
}

// Text is what was written. Thinking and ToolCalls are the agent's alone; with calls the text may
// be empty.
type Text struct {
	Text      string
	Thinking  string
	ToolCalls []ToolCall
}

// ToolCall asks for a tool to be run. Arguments is raw JSON, kept byte for byte. ID is the
// caller's, unique among the session's open calls.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// Speech is what was spoken, transcribed. Confidence is in [0,1], nil where unknown.
type Speech struct {
	Transcript string
	Language   string
	Confidence *float64
	Audio      *Audio
}

// Audio is the recording that a transcript was made from.
type Audio struct {
	MediaType string
	Blob
}

// Image is a picture; Alt describes it in words.
type Image struct {
	MediaType string
	Alt       string
	Blob
}

// Blob names bytes by their hash. On the way in either Data is set, or SHA256 of bytes the tenant
// already stored; a turn that was read has SHA256 and Size, and no Data.
type Blob struct {
	SHA256 string // 64 hexadecimal digits, lower case
	Size   int64
	Data   []byte
}

// Action is an interaction that is not speech or text: a click, a selection, an event. Payload is
// raw JSON, kept byte for byte, or empty.
type Action struct {
	Name    string
	Target  string
	Payload string
}

// Result is the outcome of a tool call: a system action that closes the open call CallID. Result
// is raw JSON, kept byte for byte, or empty. Synthetic marks a result that no tool gave: the call
// was cut off and closed so that the conversation can go on.
type Result struct {
	Name      string
	CallID    string
	Status    CallStatus
	Result    string
	Synthetic bool
}

// CallStatus is how a tool call ended.
type CallStatus string

// The three ends of a tool call.
const (
	CallOK        CallStatus = "ok"
	CallError     CallStatus = "error"
	CallCancelled CallStatus = "cancelled"
)

func (Text) form() Form   { return FormText }
func (Speech) form() Form { return FormSpeech }
func (Image) form() Form  { return FormImage }
func (Action) form() Form { return FormAction }
func (Result) form() Form { return FormAction }

func (c Text) size() int64 {
	n := len(c.Text) + len(c.Thinking)
	for _, call := range c.ToolCalls {
		n += len(call.Arguments)
	}
	return int64(n)
}
func (c Speech) size() int64 { return int64(len(c.Transcript)) }
func (c Image) size() int64  { return int64(len(c.Alt)) }
func (c Action) size() int64 { return int64(len(c.Target) + len(c.Payload)) }
func (c Result) size() int64 { return int64(len(c.Result)) }

func (Text) blob() *Blob   { return nil }
func (Action) blob() *Blob { return nil }
func (Result) blob() *Blob { return nil }
func (i Image) blob() *Blob {
	return &i.Blob
}
func (s Speech) blob() *Blob {
	if s.Audio == nil {
		return nil
	}
	return &s.Audio.Blob
}

// Searchable is the text itself, then the names and arguments of its tool calls.
func (c Text) Searchable() string {
	if len(c.ToolCalls) == 0 {
		return c.Text
	}
	parts := make([]string, 0, 1+2*len(c.ToolCalls))
	if c.Text != "" {
		parts = append(parts, c.Text)
	}
	for _, call := range c.ToolCalls {
		parts = append(parts, call.Name, call.Arguments)
	}
	return strings.Join(parts, "\n")
}

// Searchable is the transcript.
func (c Speech) Searchable() string { return c.Transcript }

// Searchable is the description of the picture.
func (c Image) Searchable() string { return c.Alt }

// Searchable is the action's name, target and payload, a line each.
func (c Action) Searchable() string { return joinLines(c.Name, c.Target, c.Payload) }

// Searchable is the tool's name and its result, a line each.
func (c Result) Searchable() string { return joinLines(c.Name, c.Result) }

func joinLines(parts ...string) string {
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n")
}

// trimRaw returns the content without the white space around its raw values, which is no part of
// them: it would be gone when the content is read back.
func trimRaw(c Content) Content {
	trim := func(raw string) string { return strings.Trim(raw, " \t\r\n") }
	switch c := c.(type) {
	case Text:
		if len(c.ToolCalls) == 0 {
			break
		}
		c.ToolCalls = slices.Clone(c.ToolCalls)
		for i := range c.ToolCalls {
			c.ToolCalls[i].Arguments = trim(c.ToolCalls[i].Arguments)
		}
		return c
	case Action:
		c.Payload = trim(c.Payload)
		return c
	case Result:
		c.Result = trim(c.Result)
		return c
	}
	return c
}

// BlobOf returns the reference to bytes that the content holds, if it holds one.
func BlobOf(c Content) (Blob, bool) {
	if b := c.blob(); b != nil {
		return *b, true
	}
	return Blob{}, false
}

// blobField is where the content's blob stands in its JSON.
func blobField(c Content) string {
	if _, ok := c.(Speech); ok {
		return "content.audio"
	}
	return "content"
}

// withBlob returns the content with its blob replaced. It is only called on content that has one.
func withBlob(c Content, b Blob) Content {
	switch c := c.(type) {
	case Image:
		c.Blob = b
		return c
	case Speech:
		audio := *c.Audio
		audio.Blob = b
		c.Audio = &audio
		return c
	}
	return c
}
