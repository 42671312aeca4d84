package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/snapshot"
)

func (s *Server) registerSnapshots(api huma.API) {
	in := func(method, path, id, summary, about string) route {
		return route{method: method, path: "/sessions/{session}" + path, id: id, tag: "snapshots", summary: summary, about: about}
	}
	handleSession(s, api, in(http.MethodGet, "/snapshots", "listSnapshots", "The snapshots of a session, the newest first",
		"With those that a fork shares with its parent. The engine takes some by itself; these are automatic."), listSnapshots)
	taken := in(http.MethodPost, "/snapshots", "takeSnapshot", "Take a snapshot of a session as it stands", "It costs next to nothing, since the log keeps every turn.")
	taken.status = http.StatusCreated
	handleSession(s, api, taken, takeSnapshot)
	handleSession(s, api, in(http.MethodDelete, "/snapshots/{snapshot}", "deleteSnapshot", "Delete a snapshot by its id",
		"What it could be gone back to stays in the log."), deleteSnapshot)
	handleSession(s, api, in(http.MethodPost, "/restore", "restore", "Go back to a snapshot",
		"Prompts show the conversation as it was then, and what is appended from now on. The turns in between stay in the log. It can be undone."), restore)
}

// Snapshot is a place in a session that its prompts can go back to. It is exported for huma, which reads it where it is
// embedded.
type Snapshot struct {
	ID          string `json:"id"`
	Session     string `json:"session_id"`
	Name        string `json:"name,omitempty"`
	Auto        bool   `json:"auto" doc:"the engine took it by itself"`
	Turn        int64  `json:"turn" doc:"after which turn it was taken"`
	Epoch       int64  `json:"epoch"`
	Messages    int64  `json:"message_count"`
	Tokens      int64  `json:"token_count"`
	Checkpoints int64  `json:"checkpoint_count"`
	Model       string `json:"model,omitempty"`
	Tier        int    `json:"tier,omitempty"`
	Mode        string `json:"mode,omitempty"`
	At          string `json:"at" format:"date-time"`
}

func newSnapshot(s snapshot.Snapshot) Snapshot {
	return Snapshot{
		s.ID, s.Session, s.Name, s.Auto, s.Turn, s.Epoch, s.MessageCount, s.TokenCount, s.CheckpointCount, s.Model, int(s.Tier), s.Mode, timeText(s.At),
	}
}

const snapshotList = "snapshots"

func listSnapshots(ctx context.Context, s *turnstone.Session, in *struct {
	InSession
	Paging
}) (*answer[page[Snapshot]], error) {
	before, err := placeOf(snapshotList, in.Cursor)
	if err != nil {
		return nil, err
	}
	list, err := s.Snapshots(ctx, before, in.Limit+1)
	if err != nil && !as[*snapshot.FieldError](err) {
		return nil, err
	}
	// Those that are damaged are left out; doctor tells of them.
	return answered(cut(list, in.Limit, newSnapshot, func(s snapshot.Snapshot) string { return cursorOf(snapshotList, s.ID) })), nil
}

type snapshotDraft struct {
	Name string `json:"name,omitempty" doc:"any line of text; where several have the same, it means the newest of them"`
}

func takeSnapshot(ctx context.Context, s *turnstone.Session, in *struct {
	InSession
	Body *snapshotDraft
}) (*answer[Snapshot], error) {
	taken, err := s.Snapshot(ctx, valueOf(in.Body).Name)
	if err != nil {
		return nil, err
	}
	return answered(newSnapshot(taken)), nil
}

func deleteSnapshot(ctx context.Context, s *turnstone.Session, in *struct {
	InSession
	Snapshot string `path:"snapshot"`
}) (*nothing, error) {
	return nil, s.DeleteSnapshot(ctx, in.Snapshot)
}

type restored struct {
	Snapshot
	Left  int64 `json:"turns_left_behind"`
	Opens int64 `json:"opened_epoch"`
}

func restore(ctx context.Context, s *turnstone.Session, in *struct {
	InSession
	Body struct {
		Addressee
		Snapshot string `json:"snapshot" minLength:"1" doc:"its id, or its name: where several have the same, it means the newest of them"`
	}
}) (*answer[restored], error) {
	back, err := s.Restore(ctx, in.Body.Snapshot, in.Body.options())
	if err != nil {
		return nil, err
	}
	info, err := s.Info(ctx)
	if err != nil {
		return nil, err
	}
	epoch, err := s.Epoch(ctx, turnstone.Head)
	if err != nil {
		return nil, err
	}
	return answered(restored{newSnapshot(back), info.Head - back.Turn, epoch.Number}), nil
}
