package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/turnstone-dev/turnstone/internal/sse"
)

// Say is something that is said to a session.
type Say struct {
	Text     string    `json:"text,omitempty"`     // it may be left out where there are parts
	Parts    []Said    `json:"parts,omitempty"`    // what belongs to the same message, after the text
	Model    string    `json:"model,omitempty"`    // which model answers. Defaults to the session's, or the server's.
	Context  int       `json:"context,omitempty"`  // the size of the model's context in tokens
	Settings *Settings `json:"settings,omitempty"` // Defaults to those of the session's last prompt, or the server's own.
	Late     []string  `json:"late,omitempty"`     // texts for the end of the prompt, such as what was recalled
}

// Said is a part of what the user says: a picture, speech, an action or one more text.
type Said struct {
	Form    string          `json:"form,omitempty"` // Defaults to "text".
	Content json.RawMessage `json:"content"`        // as that of a [Turn]; the bytes of a picture as base64 in "data"
}

// Reply is what a model answered, and how the exchange went.
type Reply struct {
	Session      string `json:"session_id"`
	Model        string `json:"model"`
	Text         string `json:"text"`
	Thinking     string `json:"thinking"`
	Stop         string `json:"stop"` // why it ended: "length" for a reply that the model cut short
	ToolCalls    int    `json:"tool_calls"`
	Rounds       int    `json:"rounds"` // how often the model was asked
	PromptTokens int    `json:"prompt_tokens"`
	CachedTokens int    `json:"cached_tokens"`
	AnswerTokens int    `json:"answer_tokens"`
	Status       string `json:"status"` // what became of the exchange: "complete" or "complete_with_errors"
	TurnID       string `json:"turn_id"`
	ExportID     string `json:"export_id"`
	Reopened     bool   `json:"reopened"` // the session had ended and goes on with this exchange
	// Warnings are what went wrong without ending the exchange, such as that the model did not see all of the prompt.
	Warnings []string `json:"warnings"`
}

// Piece is a piece of a reply. One field of it is set.
type Piece struct {
	Text     string
	Thinking string
	Call     *ToolCall
	Result   json.RawMessage // what a tool answered, as it is stored
	Warning  string
	Reply    *Reply // the last piece: the exchange is on disk
}

// ToolCall is a tool that the model calls on the server.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // as the model wrote them
}

// Say says something and returns the reply when the whole exchange is on disk. It is not tried again: who does not know
// whether it was said asks for the history.
func (s *Session) Say(ctx context.Context, what Say) (Reply, error) {
	return ask[Reply](ctx, s.client, call{method: http.MethodPost, path: path("/sessions/%s/say", s.id), in: what})
}

// Stream says something and yields the reply as it comes; the last piece has the whole of it. An error ends it: what
// came until then is kept by the server. Who stops reading cuts the reply short.
func (s *Session) Stream(ctx context.Context, what Say) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		if err := s.stream(ctx, what, yield); err != nil {
			yield(Piece{}, err)
		}
	}
}

func (s *Session) stream(ctx context.Context, what Say, yield func(Piece, error) bool) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	say := call{method: http.MethodPost, path: path("/sessions/%s/say", s.id), in: what, accept: sse.ContentType}
	answer, err := s.client.send(ctx, say)
	if err != nil {
		return err
	}
	defer answer.Body.Close() // what matters was read, or is not wanted
	events := sse.NewReader(answer.Body, 0)
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("reply in %s: %w", s.id, err)
		}
		p, err := pieceOf(e)
		if err != nil {
			return fmt.Errorf("reply in %s: %w", s.id, err)
		}
		if !yield(p, nil) || p.Reply != nil {
			return nil
		}
	}
}

// pieceOf is the piece that an event says. Those that a newer server may know are pieces of nothing.
func pieceOf(e sse.Event) (p Piece, err error) {
	var said struct{ Text, Warning string }
	problem := Problem{Detail: "the server does not say what is wrong"}
	into := any(&said)
	switch e.Name {
	case "reply":
		into = &p.Reply
	case "call":
		into = &p.Call
	case "result":
		into = &p.Result
	case "problem":
		into = &problem
	}
	if err := json.Unmarshal([]byte(e.Data), into); err != nil {
		return p, fmt.Errorf("event %s: %w", e.Name, err)
	}
	switch e.Name {
	case "text":
		p.Text = said.Text
	case "thinking":
		p.Thinking = said.Text
	case "warning":
		p.Warning = said.Warning
	case "problem":
		return p, &problem
	}
	return p, nil
}
