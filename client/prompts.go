package client

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
)

// PromptOptions are how a prompt is compiled. The zero value is for the session's model.
type PromptOptions struct {
	Model    string    `json:"model,omitempty"`
	Context  int       `json:"context,omitempty"`  // the size of the model's context in tokens
	Settings *Settings `json:"settings,omitempty"` // Defaults to those of the session's last prompt.
	Late     []string  `json:"late,omitempty"`     // texts for the end, such as what was recalled
	Preview  bool      `json:"preview,omitempty"`  // note nothing, and change nothing
}

// Settings are what a prompt begins with.
type Settings struct {
	System   string     `json:"system,omitempty"`
	Mandates []string   `json:"mandates,omitempty"` // rules that the model must keep
	Skills   []Material `json:"skills,omitempty"`   // what the model knows how to do
	Checks   []string   `json:"checks,omitempty"`   // what it is to make sure of before it answers
	Sticky   []Material `json:"sticky,omitempty"`   // files that stay in the prompt
	Tools    []Tool     `json:"tools,omitempty"`
}

// Material is a text with a name.
type Material struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Tool is a tool that the model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"` // the JSON Schema of its arguments, an object
}

// Prompt is what a model is to see.
type Prompt struct {
	Session  string            `json:"session_id"`
	Model    string            `json:"model"`
	Epoch    int64             `json:"epoch"`
	Opened   string            `json:"opened"`   // why this prompt opened the epoch, if it did
	End      int64             `json:"end"`      // the last turn that it could show
	Recorded bool              `json:"recorded"` // of one that was: it was compiled then
	SHA256   string            `json:"sha256"`
	LeftOut  []string          `json:"left_out"` // texts for the end that did not fit
	Account  Account           `json:"account"`
	Messages []json.RawMessage `json:"messages"`
	Tools    []Tool            `json:"tools"`
}

// Account is where the tokens of a prompt go.
type Account struct {
	Context   int      `json:"context"` // the size of the model's context
	Usable    int      `json:"usable"`
	Reserve   int      `json:"reserve"` // what is kept free for the reply
	Tokens    int      `json:"tokens"`
	Upper     int      `json:"upper"`     // with the margin of their count
	Certainty string   `json:"certainty"` // "exact", "calibrated" or "estimated"
	Free      int      `json:"free"`
	Parts     []Part   `json:"parts"`
	Warnings  []string `json:"warnings"`
}

// Part is what one part of a prompt takes.
type Part struct {
	Part   string `json:"part"`
	Tokens int    `json:"tokens"`
}

// Prompt compiles what the model is to see now. [OverBudget] where it does not fit.
func (s *Session) Prompt(ctx context.Context, o PromptOptions) (Prompt, error) {
	return ask[Prompt](ctx, s.client, call{method: http.MethodPost, path: path("/sessions/%s/prompt", s.id), in: o})
}

// PromptAs compiles the same as Prompt, as the body of a request to a model server: "ollama", "openai" or "anthropic"; or
// for people to read: "text".
func (s *Session) PromptAs(ctx context.Context, format string, o PromptOptions) ([]byte, error) {
	var body bytes.Buffer
	err := s.client.do(ctx, call{
		method: http.MethodPost, path: path("/sessions/%s/prompt", s.id), query: asked("format", format), in: o,
	}, &body)
	return body.Bytes(), err
}

// PromptAt is what the model saw after a turn, or would have seen.
func (s *Session) PromptAt(ctx context.Context, turn int64) (Prompt, error) {
	return ask[Prompt](ctx, s.client, call{
		method: http.MethodGet, path: path("/sessions/%s/prompt", s.id), query: asked("at", turn), again: true,
	})
}

// Usage is what a model server counted for a prompt.
type Usage struct {
	PromptTokens int    `json:"prompt_tokens"`
	At           int64  `json:"at,omitempty"`     // the End of the prompt that was sent. Defaults to the newest turn.
	Number       int64  `json:"number,omitempty"` // its number, in the place of that
	SHA256       string `json:"sha256,omitempty"` // its hash: another one is a [Conflict]. Defaults to whatever it is.
}

// Reported is what came of a report.
type Reported struct {
	Sent      int  `json:"sent"`      // the tokens that the server counted before
	Truncated bool `json:"truncated"` // the model did not see all of the prompt
}

// Report says what the model server counted for a prompt: later counts for the model are better for it.
func (s *Session) Report(ctx context.Context, u Usage) (Reported, error) {
	return ask[Reported](ctx, s.client, call{method: http.MethodPost, path: path("/sessions/%s/prompt/usage", s.id), in: u})
}
