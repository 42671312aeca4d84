package server

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cortex"
)

func (s *Server) registerActions(api huma.API) {
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/actions", id: "listActions", tag: "actions",
		summary: "The pending actions of a session",
	}, listActions)
	handleSession(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/actions", id: "putAction", tag: "actions", decoded: true,
		summary: "Add an action, or change the one of that id",
		about:   "It needs a title. One of an unknown type, or none, is a user task that requires confirmation.",
	}, func(ctx context.Context, s *turnstone.Session, in *actionBody) (*tagged[exact[actionDoc]], error) {
		return changeAction(ctx, s, in.Body.text, nil)
	})
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/actions/{action}", id: "getAction", tag: "actions",
		summary: "An action",
	}, showAction)
	handleSession(s, api, route{
		method: http.MethodPatch, path: "/sessions/{session}/actions/{action}", id: "changeAction", tag: "actions", decoded: true,
		summary: "Change an action", about: "What is left out stays as it is. Which status may follow depends on the type.",
	}, func(ctx context.Context, s *turnstone.Session, in *actionPatch) (*tagged[exact[actionDoc]], error) {
		a, err := actionOf(ctx, s, in.Action)
		if err != nil {
			return nil, err
		}
		if err := in.IfMatch.check(version(a.Version)); err != nil {
			return nil, err
		}
		return changeAction(ctx, s, in.Body.text, &a)
	})
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/actions/{action}/history", id: "getActionHistory", tag: "actions",
		summary: "Every change of an action, oldest first",
	}, func(ctx context.Context, s *turnstone.Session, in *InAction) (*answer[exact[versionsDoc]], error) {
		return versions(ctx, s, cortex.KindAction, in.Action)
	})
}

// actionDoc is an action: what [cortex.PendingAction.AppendJSON] writes.
type actionDoc struct {
	ID                   string   `json:"id"`
	Type                 string   `json:"type" enum:"agent_task,research,user_task,approval_request,reminder,follow_up,decision,background_job,blocker"`
	Owner                string   `json:"owner,omitempty"`
	Title                string   `json:"title"`
	Status               string   `json:"status"`
	DueAt                string   `json:"due_at,omitempty" format:"date-time"`
	GoalID               string   `json:"goal_id,omitempty"`
	Blocking             bool     `json:"blocking,omitempty"`
	RequiresConfirmation bool     `json:"requires_confirmation,omitempty"`
	Evidence             []string `json:"evidence,omitempty"`
	CreatedAt            string   `json:"created_at" format:"date-time"`
	UpdatedAt            string   `json:"updated_at" format:"date-time"`
	StatusAt             string   `json:"status_at,omitempty" format:"date-time"`
	Version              int64    `json:"version" doc:"counts the changes from 1 on"`
}

// actionChangeDoc is a change of an action: what [cortex.ActionChange] is read from.
type actionChangeDoc struct {
	ID                   string   `json:"id,omitempty"`
	Version              int64    `json:"version,omitempty" doc:"the version that the change was decided on; it is refused if there is another by now"`
	By                   string   `json:"by,omitempty" enum:"agent,user,system" default:"agent"`
	TurnID               string   `json:"turn_id,omitempty" doc:"the turn in which it was decided"`
	Why                  string   `json:"why,omitempty"`
	Type                 string   `json:"type,omitempty"`
	Owner                string   `json:"owner,omitempty"`
	Title                string   `json:"title,omitempty"`
	Status               string   `json:"status,omitempty"`
	DueAt                string   `json:"due_at,omitempty" format:"date-time"`
	GoalID               string   `json:"goal_id,omitempty"`
	Blocking             bool     `json:"blocking,omitempty"`
	RequiresConfirmation bool     `json:"requires_confirmation,omitempty"`
	AddEvidence          []string `json:"add_evidence,omitempty"`
}

type actionsDoc struct {
	Items []actionDoc `json:"items"`
}

// InAction is the part of a request that names an action of a session. It is exported for huma, which reads it.
type InAction struct {
	InSession
	Action string `path:"action" minLength:"1" maxLength:"256" doc:"the action's id"`
}

type actionBody struct {
	InSession
	Body read[actionChangeDoc]
}

type actionPatch struct {
	InAction
	IfMatch
	Body read[actionChangeDoc]
}

type shownActionInput struct {
	InAction
	IfNoneMatch
}

func listActions(ctx context.Context, s *turnstone.Session, in *intentionsInput) (*answer[exact[actionsDoc]], error) {
	state, err := s.Intentions(ctx, in.All)
	if err != nil {
		return nil, err
	}
	return items[actionsDoc](state.Actions(), func(dst []byte, a cortex.PendingAction) []byte { return a.AppendJSON(dst) }), nil
}

func actionOf(ctx context.Context, s *turnstone.Session, id string) (cortex.PendingAction, error) {
	state, err := s.Intentions(ctx, true)
	if err != nil {
		return cortex.PendingAction{}, err
	}
	a, ok := state.Action(id)
	if !ok {
		return a, fmt.Errorf("action %s: %w", id, cortex.ErrNotFound)
	}
	return a, nil
}

func showAction(ctx context.Context, s *turnstone.Session, in *shownActionInput) (*tagged[exact[actionDoc]], error) {
	a, err := actionOf(ctx, s, in.Action)
	if err != nil {
		return nil, err
	}
	return newer(in.IfNoneMatch, version(a.Version), exact[actionDoc]{a.AppendJSON(nil)}), nil
}

// changeAction makes the change, of the action that is given where one is.
func changeAction(ctx context.Context, s *turnstone.Session, text string, of *cortex.PendingAction) (*tagged[exact[actionDoc]], error) {
	var change cortex.ActionChange
	if err := change.UnmarshalJSON([]byte(text)); err != nil {
		return nil, err
	}
	if of != nil {
		if err := aim(&change.ID, &change.Version, of.ID, of.Version); err != nil {
			return nil, err
		}
	}
	staged, err := s.Intend(ctx, cortex.Changes{Actions: []cortex.ActionChange{change}})
	if err != nil {
		return nil, ofChange(err)
	}
	a, err := after(&staged, of, cortex.DecodeAction, func() (cortex.PendingAction, error) { return actionOf(ctx, s, change.ID) })
	if err != nil {
		return nil, err
	}
	return &tagged[exact[actionDoc]]{Status: http.StatusOK, ETag: version(a.Version), Body: exact[actionDoc]{a.AppendJSON(nil)}}, nil
}
