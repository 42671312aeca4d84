package client

import (
	"context"
	"net/http"
	"time"
)

// Forget says what of a session is forgotten: turns by their numbers or their ids, or all of it.
type Forget struct {
	Seqs    []int64  `json:"seqs,omitempty"`
	TurnIDs []string `json:"turn_ids,omitempty"`
	All     bool     `json:"all,omitempty"`
	Preview bool     `json:"preview,omitempty"` // only say what would be forgotten
}

// Receipt says what was forgotten and where. It holds nothing of what was said.
type Receipt struct {
	What        string    `json:"what"`     // "turns", "session" or "user"
	Sessions    []string  `json:"sessions"` // those that were reached, forks and copies among them
	Turns       int       `json:"turns"`
	Shared      int64     `json:"shared"` // turns that it still shows, since they are those of Parent
	Parent      string    `json:"parent"`
	Removed     []Removed `json:"removed"`
	Touched     []Touched `json:"touched"`      // what was reached that is no turn, at most 256
	More        int       `json:"touched_more"` // how many more of these there are
	Repeats     []Repeat  `json:"repeats"`      // turns that stay and still say something of it, at most 64
	RepeatsMore int       `json:"repeats_more"` // how many more of these there are
	Files       []string  `json:"files"`        // bundles and documents that are written again without it
	Unreachable []string  `json:"unreachable"`  // files that are missing or could not be deleted
	Warnings    []string  `json:"warnings"`     // what is still to be done, by itself
	Preview     bool      `json:"preview"`      // nothing was forgotten
	At          time.Time `json:"at"`
}

// Removed is how much was removed at one place.
type Removed struct {
	Where string `json:"where"`
	Count int    `json:"count"`
}

// Touched is a goal or an action of which words went, a slot that was emptied, or an item of memory or a note that was deleted.
type Touched struct {
	Kind    string   `json:"kind"` // "goal", "action", "slot", "item" or "note"
	ID      string   `json:"id"`   // of a slot its flow's, and its name
	Session string   `json:"session_id"`
	Texts   []string `json:"texts"` // what of it would go, in a preview alone
}

// Repeat is a turn that stays, and says something word for word that a turn said which is forgotten.
type Repeat struct {
	Session string   `json:"session_id"`
	Seq     int64    `json:"seq"`
	TurnID  string   `json:"turn_id"`
	Role    string   `json:"role"`
	Texts   []string `json:"texts"` // what it repeats, in a preview alone
}

// Forget forgets turns of the session, or all of it, everywhere, for good.
func (s *Session) Forget(ctx context.Context, what Forget) (Receipt, error) {
	return ask[Receipt](ctx, s.client, call{method: http.MethodPost, path: path("/sessions/%s/forget", s.id), in: what})
}

// ForgetUser says whose sessions and memory are forgotten.
type ForgetUser struct {
	User    string `json:"user"`
	Preview bool   `json:"preview,omitempty"` // only say what would be forgotten
}

// Forget forgets all sessions and all memory of a user, everywhere, for good. It needs a key with the scope admin.
func (c *Client) Forget(ctx context.Context, what ForgetUser) (Receipt, error) {
	return ask[Receipt](ctx, c, call{method: http.MethodPost, path: "/forget", in: what})
}
