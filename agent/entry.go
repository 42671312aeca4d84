package agent

import (
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// Entry is one message of a [Container], from the user's side or the agent's. It is not changed once it is there.
type Entry struct {
	Message Message
	At      time.Time
	// Meta is what is known of an agent's message: tokens, model, latency, and whether it was cut off. The calls of one
	// that was are not run.
	Meta turn.Meta
	// Unanswered marks a message from the user's side that the agent did not answer: the run failed or was
	// cancelled. A prompt may follow it.
	Unanswered bool
}

// Message is what an entry says: [Prompt], [ToolResults] or [CancelledTools] from the user's side, [Response] or
// [ToolUse] from the agent's.
type Message interface {
	kind() kind
	// drafts are the message as turns of the log, which is how it is written down.
	drafts() []turn.Draft
	clone() Message
}

// AgentMessage is a message of the agent: a [Response] or a [ToolUse].
type AgentMessage interface {
	Message
	agent()
}

// Prompt is what the user said or did: the parts of one message, none of them an agent's.
type Prompt struct{ Parts []turn.Draft }

// ToolResults are the results of a [ToolUse], one for each call, in the order of the calls.
type ToolResults struct{ Results []turn.Result }

// CancelledTools are the results of a [ToolUse] of which every call was cancelled.
type CancelledTools struct{ Results []turn.Result }

// Response is an agent's reply.
type Response struct {
	Text     string
	Thinking string
}

// ToolUse is an agent's message that calls tools. It may say something too.
type ToolUse struct {
	Text     string
	Thinking string
	Calls    []turn.ToolCall
}

// Input is a user's text, to be pushed or said.
func Input(text string) turn.Draft {
	return turn.Draft{Role: turn.User, Content: turn.Text{Text: text}}
}

// User reports whether the message is from the user's side.
func (e *Entry) User() bool {
	_, agents := e.Message.(AgentMessage)
	return !agents
}

// Text is what a person can read of the message: what was said, or the results of tools, a line each.
func (e *Entry) Text() string {
	var lines []string
	for _, d := range e.Message.drafts() {
		if line := readable(d.Content); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func readable(c turn.Content) string {
	switch c := c.(type) {
	case turn.Text:
		return c.Text
	case turn.Result:
		return c.Result
	}
	return c.Searchable()
}

// kind is a message's name in JSON.
type kind string

const (
	kindPrompt    kind = "prompt"
	kindResults   kind = "tool_results"
	kindCancelled kind = "cancelled_tools"
	kindResponse  kind = "response"
	kindToolUse   kind = "tool_use"
	// kindNone is before the first entry.
	kindNone kind = ""
)

func (Prompt) kind() kind         { return kindPrompt }
func (ToolResults) kind() kind    { return kindResults }
func (CancelledTools) kind() kind { return kindCancelled }
func (Response) kind() kind       { return kindResponse }
func (ToolUse) kind() kind        { return kindToolUse }

func (Response) agent() {}
func (ToolUse) agent()  {}

func (m Prompt) drafts() []turn.Draft         { return m.Parts }
func (m ToolResults) drafts() []turn.Draft    { return resultDrafts(m.Results) }
func (m CancelledTools) drafts() []turn.Draft { return resultDrafts(m.Results) }
func (m Response) drafts() []turn.Draft {
	return []turn.Draft{{Role: turn.Agent, Content: turn.Text{Text: m.Text, Thinking: m.Thinking}}}
}
func (m ToolUse) drafts() []turn.Draft {
	return []turn.Draft{{Role: turn.Agent, Content: turn.Text{Text: m.Text, Thinking: m.Thinking, ToolCalls: m.Calls}}}
}

func resultDrafts(results []turn.Result) []turn.Draft {
	drafts := make([]turn.Draft, len(results))
	for i, r := range results {
		drafts[i] = turn.Draft{Role: turn.System, Content: r}
	}
	return drafts
}

func (m Prompt) clone() Message {
	m.Parts = slices.Clone(m.Parts)
	return m
}

func (m ToolResults) clone() Message {
	m.Results = slices.Clone(m.Results)
	return m
}

func (m CancelledTools) clone() Message {
	m.Results = slices.Clone(m.Results)
	return m
}

func (m Response) clone() Message { return m }

func (m ToolUse) clone() Message {
	m.Calls = slices.Clone(m.Calls)
	return m
}
