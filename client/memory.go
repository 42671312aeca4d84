package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Recall is a question to what was said and remembered.
type Recall struct {
	Query  string
	Scope  string // "session" by default, "user" or "tenant"
	Limit  int    // Defaults to 10.
	Tokens int    // how many the hits may have together. Defaults to no limit.
	Unseen bool   // only what the next prompt does not show
	All    bool   // also turns that the session went back behind
}

// Hit is something that answers a question.
type Hit struct {
	Session   string    `json:"session_id"`
	Seqs      []int64   `json:"seqs"`    // the turns it consists of
	Item      string    `json:"item_id"` // the item of memory that it is
	CreatedAt time.Time `json:"created_at"`
	Role      string    `json:"role"`
	Text      string    `json:"text"`
	Score     float64   `json:"score"`  // orders the hits of one search; it means nothing else
	Why       []string  `json:"why"`    // the words of the question that were found in it
	Nearby    bool      `json:"nearby"` // none was: it stands beside turns that hold them
	Citation  string    `json:"citation"`
	Tokens    int       `json:"tokens"`  // 0 unless they were bounded
	Clipped   bool      `json:"clipped"` // the text is not all of it
}

// Recalled is what answers a question.
type Recalled struct {
	Hits []Hit `json:"items"` // the best first
	// Warnings are what went wrong without ending the search, such as that nothing could be ranked by its meaning.
	Warnings []string `json:"warnings"`
}

// Recall finds what answers a question, best first: whole units, with their turns.
func (s *Session) Recall(ctx context.Context, r Recall) (Recalled, error) {
	return ask[Recalled](ctx, s.client, call{
		method: http.MethodGet, path: path("/sessions/%s/recall", s.id), again: true,
		query: asked("query", r.Query, "scope", r.Scope, "limit", r.Limit, "tokens", r.Tokens, "unseen", r.Unseen, "all", r.All),
	})
}

// MemorySearch says which items are looked for: all that is given must hold.
type MemorySearch struct {
	Text          string   // words, in any order, case and ending
	Tags          []string // all of them
	Type          string
	User          string
	Since, Until  time.Time
	MinImportance float64
	Archived      bool   // also what made room for more important items
	Order         string // "newest" by default, or "importance"
}

func (m *MemorySearch) query() url.Values {
	q := asked("text", m.Text, "type", m.Type, "user", m.User, "since", m.Since, "until", m.Until,
		"min_importance", m.MinImportance, "archived", m.Archived, "order", m.Order)
	for _, tag := range m.Tags {
		q.Add("tag", tag)
	}
	return q
}

// Item is an item of memory.
type Item struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Text     string `json:"text"`
	Session  string `json:"session_id"`
	User     string `json:"user_id"`
	Archived bool   `json:"archived"`
}

// Memory searches what is remembered of all sessions, page by page. An error ends it.
func (c *Client) Memory(ctx context.Context, m MemorySearch) iter.Seq2[Item, error] {
	return all[Item](ctx, c, "/memory", m.query())
}

// ForgetItem forgets an item of memory, for good. What was said stays in the log.
func (c *Client) ForgetItem(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: path("/memory/%s", id)}, nil)
}

// Memory searches what is remembered of the session, page by page. An error ends it.
func (s *Session) Memory(ctx context.Context, m MemorySearch) iter.Seq2[Item, error] {
	return all[Item](ctx, s.client, path("/sessions/%s/memory", s.id), m.query())
}
