package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
)

func (s *Server) registerForget(api huma.API) {
	const about = "Content in the log and all that was made of it goes: words in indexes, memory, notes, summaries, checkpoints, exports, traces, images, " +
		"and the files that were written of it. Forks and copies are reached too. There is no way back; a preview says what would go. " +
		"Copies that others have stay: backups, daemons that were sent exports, the model's provider."
	handleSession(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/forget", id: "forgetInSession", tag: "forget", pace: slow,
		summary: "Forget turns of a session, or all of it", about: about,
	}, forgetInSession)
	handle(s, api, route{
		method: http.MethodPost, path: "/forget", id: "forgetUser", tag: "forget", pace: slow, scope: access.Admin,
		summary: "Forget all sessions and all memory of a user", about: about,
	}, forgetUser)
}

type forgetBody struct {
	Seqs    []int64  `json:"seqs,omitempty" maxItems:"10000" doc:"turns by their numbers; a tool call and its results go together"`
	TurnIDs []string `json:"turn_ids,omitempty" maxItems:"10000" doc:"turns by their ids"`
	All     bool     `json:"all,omitempty" doc:"the whole session, in the place of turns"`
	Preview bool     `json:"preview,omitempty" doc:"only say what would be forgotten"`
}

func forgetInSession(ctx context.Context, s *turnstone.Session, in *struct {
	InSession
	Body forgetBody
}) (*answer[turnstone.Receipt], error) {
	receipt, err := s.Forget(ctx, turnstone.Target{Seqs: in.Body.Seqs, TurnIDs: in.Body.TurnIDs, All: in.Body.All, Preview: in.Body.Preview})
	return forgot(receipt, err)
}

func forgetUser(ctx context.Context, eng *turnstone.Engine, in *struct {
	Body struct {
		User    string `json:"user" minLength:"1" maxLength:"256"`
		Preview bool   `json:"preview,omitempty" doc:"only say what would be forgotten"`
	}
}) (*answer[turnstone.Receipt], error) {
	receipt, err := eng.Forget(ctx, turnstone.Target{User: in.Body.User, Preview: in.Body.Preview})
	return forgot(receipt, err)
}

func forgot(receipt turnstone.Receipt, err error) (*answer[turnstone.Receipt], error) {
	if err != nil {
		return nil, err
	}
	receipt.Sessions = listOf(receipt.Sessions)
	// Where they are on this machine is nobody else's business.
	for _, paths := range [][]string{receipt.Files, receipt.Unreachable} {
		for i := range paths {
			paths[i] = fileName(paths[i])
		}
	}
	return answered(receipt), nil
}
