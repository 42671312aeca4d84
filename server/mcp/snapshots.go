package mcp

import (
	"context"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/snapshot"
)

type snapshotInput struct {
	Session string `json:"session,omitempty" jsonschema:"id of the session; the default session where it is left out"`
	Name    string `json:"name,omitempty" jsonschema:"a name to find it by, one line"`
}

type snapshotOutput struct {
	ID       string `json:"id"`
	Session  string `json:"session_id"`
	Name     string `json:"name,omitempty"`
	Auto     bool   `json:"auto" jsonschema:"the engine took it by itself"`
	Turn     int64  `json:"turn" jsonschema:"number of the turn after which it was taken"`
	Epoch    int64  `json:"epoch"`
	Messages int64  `json:"message_count" jsonschema:"how many turns prompts could show then"`
	At       string `json:"at"`
}

func (s *Server) snapshot(ctx context.Context, c caller, in snapshotInput) (snapshotOutput, error) {
	session, err := s.find(ctx, c, in.Session)
	if err != nil {
		return snapshotOutput{}, err
	}
	taken, err := session.Snapshot(ctx, in.Name)
	if err != nil {
		return snapshotOutput{}, err
	}
	return newSnapshotOutput(taken), nil
}

func newSnapshotOutput(s snapshot.Snapshot) snapshotOutput {
	return snapshotOutput{s.ID, s.Session, s.Name, s.Auto, s.Turn, s.Epoch, s.MessageCount, timeJSON(s.At)}
}

type undoInput struct {
	Session string `json:"session,omitempty" jsonschema:"id of the session; the default session where it is left out"`
	Pass    int64  `json:"pass,omitempty" jsonschema:"number of the compression to take back; the last change where it is left out"`
	Model   string `json:"model,omitempty" jsonschema:"the model that the prompt is for; the session's model where it is left out"`
	Context int    `json:"context,omitempty" jsonschema:"size of the model's context in tokens; what is known of the model where it is left out"`
}

type undoOutput struct {
	Session string `json:"session_id"`
	Undone  string `json:"undone" jsonschema:"pass or restore"`
	Pass    int64  `json:"pass,omitempty"`
	From    int64  `json:"from,omitempty" jsonschema:"number of the first turn that is shown again"`
	To      int64  `json:"to,omitempty" jsonschema:"number of the last turn that is shown again"`
	Epoch   int64  `json:"epoch"`
}

func (s *Server) undo(ctx context.Context, c caller, in undoInput) (undoOutput, error) {
	session, err := s.find(ctx, c, in.Session)
	if err != nil {
		return undoOutput{}, err
	}
	done, err := session.Undo(ctx, in.Pass, turnstone.PromptOptions{Model: in.Model, Context: in.Context})
	if err != nil {
		return undoOutput{}, err
	}
	out := undoOutput{Session: session.ID(), Undone: "pass", Pass: done.Pass, From: done.Turns.From, To: done.Turns.To, Epoch: done.Epoch}
	if done.Pass == 0 {
		out.Undone = "restore"
	}
	return out, nil
}
