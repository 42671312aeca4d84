package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"iter"
	"net/http"
	"time"
)

// Turn is one turn of a session's log.
type Turn struct {
	ID             string          `json:"turn_id"`
	Session        string          `json:"session_id"`
	Seq            int64           `json:"seq"`  // the position, from 1, without gaps: the only order there is
	Role           string          `json:"role"` // "user", "agent" or "system"
	Form           string          `json:"form"` // "text", "speech", "image" or "action"
	Kind           string          `json:"kind"` // "summary" for what is no ordinary turn
	Content        json.RawMessage `json:"content"`
	ContentText    string          `json:"content_text"` // the JSON of the content, where it was written over several lines
	CreatedAt      time.Time       `json:"created_at"`
	Unit           int64           `json:"unit"` // the seq of the tool call that it belongs to
	MessageID      string          `json:"message_id"`
	IdempotencyKey string          `json:"idempotency_key"`
	OffPath        bool            `json:"off_path"` // the session went back behind it
}

// Text is what was said, empty for what has no words of its own, such as an image.
func (t *Turn) Text() string {
	text := t.Content
	if t.ContentText != "" {
		text = []byte(t.ContentText)
	}
	var content struct {
		Text       string `json:"text"`
		Transcript string `json:"transcript"`
	}
	if err := json.Unmarshal(text, &content); err != nil {
		return ""
	}
	return content.Text + content.Transcript
}

// Draft is a turn that is to be appended: a text, or a form and a content as the server's documentation describes them,
// which is sent without the white space between its parts.
type Draft struct {
	ID        string          `json:"turn_id,omitempty"` // a ULID; one is made if it is left out
	Role      string          `json:"role"`              // "user", "agent" or "system"
	Form      string          `json:"form,omitempty"`    // Defaults to "text".
	Text      string          `json:"text,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"` // in the place of a text
	MessageID string          `json:"message_id,omitempty"`
}

type drafts struct {
	Turns []Draft `json:"turns"`
}

// Append appends turns, all or none. When it returns, they are on disk. It is safe to be tried again, and is: each call
// has an idempotency key of its own.
func (s *Session) Append(ctx context.Context, turns ...Draft) ([]Turn, error) {
	return s.AppendOnce(ctx, rand.Text(), turns...)
}

// AppendOnce is Append under a key of the caller's: the same turns again under the same key change nothing, and the
// first ones are returned, also when another process asks. Other turns under that key are a [Conflict].
func (s *Session) AppendOnce(ctx context.Context, key string, turns ...Draft) ([]Turn, error) {
	done, err := s.Extend(ctx, key, turns...)
	return done.Turns, err
}

// Appended is what an append came to.
type Appended struct {
	Turns    []Turn `json:"items"`
	Reopened bool   `json:"reopened"` // the session had ended and goes on with these turns, unless they are there already
}

// Extend is AppendOnce that also says whether it reopened the session. Where an answer was lost and the turns were sent
// again nobody says so; the event session-reopened does.
func (s *Session) Extend(ctx context.Context, key string, turns ...Draft) (Appended, error) {
	return ask[Appended](ctx, s.client, call{
		method: http.MethodPost, path: path("/sessions/%s/turns", s.id), in: drafts{turns}, key: key, again: key != "",
	})
}

// TurnQuery says which turns are looked for: all that is given must hold.
type TurnQuery struct {
	Role   string
	Form   string
	Kind   string // "turn" or "summary"
	TurnID string
	Match  string // held by the text, to the letter
	Regexp string // RE2
	Text   string // words, in any order, case and ending
	Flow   string
	From   int64
	To     int64
	Since  time.Time
	Until  time.Time
	All    bool // also turns that the session went back behind
}

// Query finds turns, oldest first, page by page. An error ends it.
func (s *Session) Query(ctx context.Context, q TurnQuery) iter.Seq2[Turn, error] {
	return all[Turn](ctx, s.client, path("/sessions/%s/turns", s.id), asked(
		"role", q.Role, "form", q.Form, "kind", q.Kind, "turn_id", q.TurnID, "match", q.Match, "regexp", q.Regexp, "text", q.Text,
		"flow", q.Flow, "from", q.From, "to", q.To, "since", q.Since, "until", q.Until, "all", q.All,
	))
}

// HistoryOptions say how much of the history is shown.
type HistoryOptions struct {
	Turns      int   // how many utterances. Defaults to 7.
	KeepSystem bool  // images, actions and system turns too
	At         int64 // as it was after this turn. Defaults to the newest.
	All        bool  // also turns that the session went back behind
}

// History is the last turns as a model would be given them, oldest first: utterances, with the results of tool calls.
func (s *Session) History(ctx context.Context, o HistoryOptions) ([]Turn, error) {
	found, err := ask[list[Turn]](ctx, s.client, call{
		method: http.MethodGet, path: path("/sessions/%s/history", s.id), again: true,
		query: asked("turns", o.Turns, "keep_system", o.KeepSystem, "at", o.At, "all", o.All),
	})
	return found.Items, err
}
