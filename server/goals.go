package server

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cortex"
)

func (s *Server) registerGoals(api huma.API) {
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/goals", id: "listGoals", tag: "goals",
		summary: "The goals of a session",
	}, listGoals)
	handleSession(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/goals", id: "putGoal", tag: "goals", decoded: true,
		summary: "Add a goal, or change the live goal of that title",
		about: "It needs a title. Without an id one is made; with the id of a goal that there is, that goal is changed. " +
			"A change that does not say who makes it is the agent's, who may do the least.",
	}, func(ctx context.Context, s *turnstone.Session, in *goalBody) (*tagged[exact[goalDoc]], error) {
		return changeGoal(ctx, s, in.Body.text, nil)
	})
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/goals/{goal}", id: "getGoal", tag: "goals",
		summary: "A goal with its milestones, decisions, artifacts and next steps",
	}, showGoal)
	handleSession(s, api, route{
		method: http.MethodPatch, path: "/sessions/{session}/goals/{goal}", id: "changeGoal", tag: "goals", decoded: true,
		summary: "Change a goal, its milestones, decisions, artifacts or next steps, all or nothing",
		about: "What is left out stays as it is. A locked decision can neither be unlocked nor changed nor removed, and a goal " +
			"that is completed or abandoned stays so.",
	}, func(ctx context.Context, s *turnstone.Session, in *goalPatch) (*tagged[exact[goalDoc]], error) {
		g, err := goalOf(ctx, s, in.Goal)
		if err != nil {
			return nil, err
		}
		if err := in.IfMatch.check(version(g.Version)); err != nil {
			return nil, err
		}
		return changeGoal(ctx, s, in.Body.text, &g)
	})
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/goals/{goal}/history", id: "getGoalHistory", tag: "goals",
		summary: "Every change of a goal, oldest first",
	}, func(ctx context.Context, s *turnstone.Session, in *InGoal) (*answer[exact[versionsDoc]], error) {
		return versions(ctx, s, cortex.KindGoal, in.Goal)
	})
}

// goalDoc is a goal: what [cortex.Goal.AppendJSON] writes.
type goalDoc struct {
	ID          string         `json:"id"`
	Title       string         `json:"title"`
	Description string         `json:"description,omitempty"`
	Priority    string         `json:"priority,omitempty"`
	Status      string         `json:"status" enum:"active,paused,blocked,completed,abandoned"`
	Progress    float64        `json:"progress" doc:"from 0 to 1; it follows the milestones unless a change sets it"`
	Parent      string         `json:"parent,omitempty" doc:"the goal it is a part of"`
	Milestones  []milestoneDoc `json:"milestones,omitempty"`
	Decisions   []decisionDoc  `json:"decisions,omitempty"`
	Artifacts   []artifactDoc  `json:"artifacts,omitempty"`
	NextSteps   []string       `json:"next_steps,omitempty"`
	CreatedAt   string         `json:"created_at" format:"date-time"`
	UpdatedAt   string         `json:"updated_at" format:"date-time"`
	CompletedAt string         `json:"completed_at,omitempty" format:"date-time"`
	Version     int64          `json:"version" doc:"counts the changes from 1 on"`
}

type milestoneDoc struct {
	Description string `json:"description" doc:"names it within its goal"`
	Status      string `json:"status,omitempty" enum:"pending,in-progress,completed"`
}

type decisionDoc struct {
	Description string `json:"description" doc:"names it within its goal"`
	Rationale   string `json:"rationale,omitempty"`
	Locked      bool   `json:"locked,omitempty" doc:"it can neither be unlocked nor changed nor removed"`
}

type artifactDoc struct {
	Path   string `json:"path" doc:"names it within its goal"`
	Type   string `json:"type,omitempty" doc:"what it is, in the caller's own words"`
	Action string `json:"action,omitempty" enum:"created,modified,deleted"`
}

// goalChangeDoc is a change of a goal: what [cortex.GoalChange] is read from.
type goalChangeDoc struct {
	ID              string              `json:"id,omitempty"`
	Version         int64               `json:"version,omitempty" doc:"the version that the change was decided on; it is refused if there is another by now"`
	By              string              `json:"by,omitempty" enum:"agent,user,system" default:"agent"`
	TurnID          string              `json:"turn_id,omitempty" doc:"the turn in which it was decided"`
	Why             string              `json:"why,omitempty"`
	Title           string              `json:"title,omitempty"`
	Description     string              `json:"description,omitempty"`
	Priority        string              `json:"priority,omitempty"`
	Status          string              `json:"status,omitempty" enum:"active,paused,blocked,completed,abandoned"`
	Progress        float64             `json:"progress,omitempty" minimum:"0" maximum:"1"`
	Parent          string              `json:"parent,omitempty"`
	AddMilestones   []milestoneDoc      `json:"add_milestones,omitempty"`
	SetMilestones   []milestoneDoc      `json:"set_milestones,omitempty"`
	AddDecisions    []decisionDoc       `json:"add_decisions,omitempty"`
	SetDecisions    []decisionChangeDoc `json:"set_decisions,omitempty"`
	RemoveDecisions []string            `json:"remove_decisions,omitempty"`
	Lock            []string            `json:"lock,omitempty" doc:"decisions that are locked, for good"`
	AddArtifacts    []artifactDoc       `json:"add_artifacts,omitempty"`
	NextSteps       []string            `json:"next_steps,omitempty" doc:"in the place of those that there are"`
}

type decisionChangeDoc struct {
	Description string `json:"description"`
	Rename      string `json:"rename,omitempty"`
	Rationale   string `json:"rationale,omitempty"`
	Locked      bool   `json:"locked,omitempty"`
}

type goalsDoc struct {
	Items []goalDoc `json:"items"`
}

// InGoal is the part of a request that names a goal of a session. It is exported for huma, which reads it.
type InGoal struct {
	InSession
	Goal string `path:"goal" minLength:"1" maxLength:"256" doc:"the goal's id"`
}

type goalBody struct {
	InSession
	Body read[goalChangeDoc]
}

type goalPatch struct {
	InGoal
	IfMatch
	Body read[goalChangeDoc]
}

func listGoals(ctx context.Context, s *turnstone.Session, in *intentionsInput) (*answer[exact[goalsDoc]], error) {
	state, err := s.Intentions(ctx, in.All)
	if err != nil {
		return nil, err
	}
	return items[goalsDoc](state.Goals(), func(dst []byte, g cortex.Goal) []byte { return g.AppendJSON(dst) }), nil
}

func goalOf(ctx context.Context, s *turnstone.Session, id string) (cortex.Goal, error) {
	state, err := s.Intentions(ctx, true)
	if err != nil {
		return cortex.Goal{}, err
	}
	g, ok := state.Goal(id)
	if !ok {
		return g, fmt.Errorf("goal %s: %w", id, cortex.ErrNotFound)
	}
	return g, nil
}

type shownGoalInput struct {
	InGoal
	IfNoneMatch
}

func showGoal(ctx context.Context, s *turnstone.Session, in *shownGoalInput) (*tagged[exact[goalDoc]], error) {
	g, err := goalOf(ctx, s, in.Goal)
	if err != nil {
		return nil, err
	}
	return newer(in.IfNoneMatch, version(g.Version), exact[goalDoc]{g.AppendJSON(nil)}), nil
}

// changeGoal makes the change, of the goal that is given where one is.
func changeGoal(ctx context.Context, s *turnstone.Session, text string, of *cortex.Goal) (*tagged[exact[goalDoc]], error) {
	var change cortex.GoalChange
	if err := change.UnmarshalJSON([]byte(text)); err != nil {
		return nil, err
	}
	if of != nil {
		if err := aim(&change.ID, &change.Version, of.ID, of.Version); err != nil {
			return nil, err
		}
	}
	staged, err := s.Intend(ctx, cortex.Changes{Goals: []cortex.GoalChange{change}})
	if err != nil {
		return nil, ofChange(err)
	}
	g, err := after(&staged, of, cortex.DecodeGoal, func() (cortex.Goal, error) { return unchangedGoal(ctx, s, change) })
	if err != nil {
		return nil, err
	}
	return &tagged[exact[goalDoc]]{Status: http.StatusOK, ETag: version(g.Version), Body: exact[goalDoc]{g.AppendJSON(nil)}}, nil
}

// unchangedGoal is the goal that a change of nothing was about.
func unchangedGoal(ctx context.Context, s *turnstone.Session, change cortex.GoalChange) (cortex.Goal, error) {
	if change.ID != "" {
		return goalOf(ctx, s, change.ID)
	}
	state, err := s.Intentions(ctx, false)
	if err != nil {
		return cortex.Goal{}, err
	}
	for _, g := range state.Goals() {
		if change.Title != nil && g.Title == *change.Title {
			return g, nil
		}
	}
	return cortex.Goal{}, fmt.Errorf("goal: %w", cortex.ErrNotFound)
}
