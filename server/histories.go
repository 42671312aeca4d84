package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

// maxImports is how many histories are read at once: a line or a message of each is in memory, and of some documents all.
// Others wait.
const maxImports = 2

func (s *Server) registerHistories(api huma.API) {
	handle(s, api, route{
		method: http.MethodPost, path: "/histories", id: "importHistory", tag: "bundles", status: http.StatusCreated, pace: endless,
		upload: true, accepts: []string{binary, bundleLines, bundlePacked}, body: s.config.Limits.Bundle,
		summary: "Make a session of a conversation that another program wrote",
		about: "The file is sent as it is, also JSON as application/octet-stream, and may be packed with zstd. What was said keeps its order and, where the file has them, its times and ids; losses are what could not be carried as it was. " +
			"What the system says before anybody else is pinned. A file that is broken anywhere is refused, and nothing of it is stored. The session must be new.",
	}, s.importHistory)
}

type importHistoryInput struct {
	As     string `query:"as" maxLength:"128" doc:"the new session's id, in the place of the file's"`
	Format string `query:"format" enum:"session,lines,openai,anthropic,tau" doc:"what the file is; told from its content if it is left out"`
	Index  int    `query:"index" minimum:"1" doc:"which trajectory of a tau file, from 1"`
	Skip   bool   `query:"skip_too_large" doc:"put a text in the place of what is larger than a turn may be"`
	User   string `query:"user" doc:"who talks, in the place of the file's"`
	Title  string `query:"title" doc:"what it is called, in the place of the file's"`
	Model  string `query:"model" doc:"which model answers, in the place of the file's"`
	Mode   string `query:"mode"`
	Upload
}

// imported is a session that was made of a history.
type imported struct {
	Session
	Format string  `json:"format" doc:"what the file was"`
	Pinned []int64 `json:"pinned,omitempty" doc:"the turns that are pinned, since the system opens with them"`
	Losses []loss  `json:"losses" doc:"what could not be carried as it was"`
}

type loss struct {
	Kind  string `json:"kind" doc:"what it is"`
	Count int    `json:"count"`
	First string `json:"first,omitempty" doc:"where it was met first"`
	Done  string `json:"done" doc:"what was done instead"`
}

// importHistory keeps the file as [Server.importBundle] does.
func (s *Server) importHistory(ctx context.Context, eng *turnstone.Engine, in *importHistoryInput) (_ *answer[imported], err error) {
	if in.Index > 0 && in.Format != string(history.Tau) {
		return nil, invalid.New("index", "only a tau file has several conversations", "give it with format=tau")
	}
	kept, err := s.keep(ctx, in.from, s.config.Limits.Bundle)
	if err != nil {
		return nil, err
	}
	defer func() {
		if gone := os.Remove(kept); gone != nil && err == nil {
			err = gone
		}
	}()
	select {
	case s.importing <- struct{}{}:
		defer func() { <-s.importing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	session, got, err := eng.ImportHistory(ctx, func() (io.ReadCloser, error) { return unpack(kept, s.config.Limits.Bundle) }, turnstone.ImportOptions{
		Format: history.Format(in.Format), Trajectory: in.Index, SkipTooLarge: in.Skip, MaxTurns: s.config.Limits.ImportTurns,
		Session: turn.SessionInfo{Key: turn.Key{Session: in.As}, User: in.User, Title: in.Title, Model: in.Model, Mode: in.Mode},
	})
	if errors.Is(err, turn.ErrExists) {
		err = fmt.Errorf("%w; give it another id with ?as=", err)
	}
	if err != nil {
		return nil, err
	}
	info, err := session.Info(ctx)
	if err != nil {
		return nil, err
	}
	pins, err := session.Pins(ctx)
	if err != nil {
		return nil, err
	}
	made := imported{Session: newSession(info), Format: string(got.Format), Pinned: pins, Losses: []loss{}}
	for _, l := range got.Report.Losses {
		made.Losses = append(made.Losses, loss{l.Kind, l.Count, l.First, l.Done})
	}
	return answered(made), nil
}
