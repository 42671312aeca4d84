package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

func (s *Server) registerLight(api huma.API) {
	handle(s, api, route{
		method: http.MethodPost, path: "/context", id: "followUp", tag: "context", decoded: true,
		summary: "Store, retrieve or clear the follow-up context of a session",
		about:   "What \"add that\" and \"update it\" refer to. A request that cannot be met is answered with success false, as the others are with true.",
	}, followUp)
	handle(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/context", id: "getContext", tag: "context",
		summary: "The follow-up context of a session",
		about:   "It is null where there is none, which is no error. It is forgotten when the session ends, or after a while.",
	}, retrieveContext)
}

// followUpDoc is a request of the follow-up context.
type followUpDoc struct {
	Session         string   `json:"session"`
	Action          string   `json:"action" enum:"store,retrieve,clear"`
	LastIntent      *string  `json:"last_intent,omitempty" doc:"required to store, and may be null"`
	LastTaskID      taskID   `json:"last_task_id,omitempty" doc:"required to store, and may be null; a number is kept as its digits"`
	PendingFields   []string `json:"pending_fields,omitempty" doc:"required to store"`
	LastUserMessage *string  `json:"last_user_message,omitempty" doc:"required to store, and may be null"`
}

// taskID is an id that tools write as they like.
type taskID struct{}

// Schema is for huma.
func (taskID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeNumber}, {Type: "null"}}}
}

// followedDoc is the answer.
type followedDoc struct {
	Success       bool    `json:"success"`
	StoredContext *object `json:"stored_context,omitempty"`
	Context       any     `json:"context,omitempty" doc:"null where there is none"`
	Message       string  `json:"message,omitempty"`
	Error         string  `json:"error,omitempty"`
}

func followUp(ctx context.Context, eng *turnstone.Engine, in *struct{ Body read[followUpDoc] }) (*answer[exact[followedDoc]], error) {
	return exactly[followedDoc](eng.Light(ctx, []byte(in.Body.text))), nil
}

func retrieveContext(ctx context.Context, eng *turnstone.Engine, in *struct{ InSession }) (*answer[exact[followedDoc]], error) {
	s, err := eng.Find(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	request := strictjson.AppendString([]byte(`{"action":"retrieve","session":`), s.ID())
	return exactly[followedDoc](eng.Light(ctx, append(request, '}'))), nil
}
