package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Snapshot is a place in a session that its prompts can go back to.
type Snapshot struct {
	ID      string    `json:"id"`
	Session string    `json:"session_id"`
	Name    string    `json:"name"`
	Auto    bool      `json:"auto"` // the engine took it by itself
	Turn    int64     `json:"turn"` // after which turn it was taken
	Epoch   int64     `json:"epoch"`
	Tokens  int64     `json:"token_count"`
	Model   string    `json:"model"`
	At      time.Time `json:"at"`
}

type snapshotDraft struct {
	Name string `json:"name,omitempty"`
}

// Snapshot takes a snapshot of the session as it stands. The name may be empty.
func (s *Session) Snapshot(ctx context.Context, name string) (Snapshot, error) {
	return ask[Snapshot](ctx, s.client, call{method: http.MethodPost, path: path("/sessions/%s/snapshots", s.id), in: snapshotDraft{name}})
}

// Snapshots lists the session's snapshots, the newest first, page by page. An error ends it.
func (s *Session) Snapshots(ctx context.Context) iter.Seq2[Snapshot, error] {
	return all[Snapshot](ctx, s.client, path("/sessions/%s/snapshots", s.id), nil)
}

// Restore says where to go back to, and who the next prompt is for, which must have room for what comes back.
type Restore struct {
	Snapshot string `json:"snapshot"` // its id, or its name
	Model    string `json:"model,omitempty"`
	Context  int    `json:"context,omitempty"`
}

// Restored is the snapshot that a session went back to.
type Restored struct {
	Snapshot
	Left   int64 `json:"turns_left_behind"` // how many turns prompts do not show any more
	Opened int64 `json:"opened_epoch"`
}

// Restore goes back to a snapshot: prompts show the conversation as it was then, and what is appended from now on. The
// turns in between stay in the log. It can be undone.
func (s *Session) Restore(ctx context.Context, to Restore) (Restored, error) {
	return ask[Restored](ctx, s.client, call{method: http.MethodPost, path: path("/sessions/%s/restore", s.id), in: to})
}

// Undo says what is taken back, and who the next prompt is for, which must have room for what comes back. The zero value
// is the last change of the prompt.
type Undo struct {
	Pass    int64  `json:"pass,omitempty"` // a compression by its number
	Model   string `json:"model,omitempty"`
	Context int    `json:"context,omitempty"`
}

// Undone is a change of the prompt that was taken back.
type Undone struct {
	Session string `json:"session_id"`
	Undone  string `json:"undone"` // "pass" or "restore"
	Pass    int64  `json:"pass"`
	From    int64  `json:"from"` // the first turn that came back
	To      int64  `json:"to"`
	Epoch   int64  `json:"epoch"`
}

// Undo takes back a compression or a restore: what it took out of the prompt is shown again, word for word. [Conflict]
// where there is nothing to undo.
func (s *Session) Undo(ctx context.Context, what Undo) (Undone, error) {
	return ask[Undone](ctx, s.client, call{method: http.MethodPost, path: path("/sessions/%s/undo", s.id), in: what})
}
