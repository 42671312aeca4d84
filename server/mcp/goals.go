package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

type goalsInput struct {
	Session string `json:"session,omitempty" jsonschema:"id of the session; the default session where it is left out"`
	All     bool   `json:"all,omitempty" jsonschema:"also those that are completed, abandoned or done"`
}

type goalsOutput struct {
	Session string `json:"session_id"`
	Active  string `json:"active,omitempty" jsonschema:"id of the goal that is worked on"`
	Goals   []any  `json:"goals" jsonschema:"id, title, description, status, priority, progress, milestones, decisions, artifacts, next_steps, version"`
	Actions []any  `json:"actions" jsonschema:"pending actions: id, type, owner, title, status, due_at, goal_id, version"`
}

func (s *Server) goals(ctx context.Context, c caller, in goalsInput) (goalsOutput, error) {
	session, err := s.find(ctx, c, in.Session)
	if err != nil {
		return goalsOutput{}, err
	}
	state, err := session.Intentions(ctx, in.All)
	if err != nil {
		return goalsOutput{}, err
	}
	out := goalsOutput{Session: session.ID(), Goals: []any{}, Actions: []any{}}
	if active, ok := state.ActiveGoal(); ok {
		out.Active = active.ID
	}
	for g := range state.EachGoal() {
		out.Goals = append(out.Goals, json.RawMessage(g.AppendJSON(nil)))
	}
	for a := range state.EachAction() {
		out.Actions = append(out.Actions, json.RawMessage(a.AppendJSON(nil)))
	}
	return out, nil
}

type setGoalInput struct {
	Session     string          `json:"session,omitempty" jsonschema:"id of the session; the default session where it is left out"`
	ID          string          `json:"id,omitempty" jsonschema:"id of the goal; without it the live goal of that title is meant, or a new one"`
	Title       *string         `json:"title,omitempty" jsonschema:"what is to be reached; needed for a new goal"`
	Description *string         `json:"description,omitempty" jsonschema:"what it means, in more words"`
	Priority    *string         `json:"priority,omitempty" jsonschema:"high, medium or low; a new goal is medium"`
	Status      *string         `json:"status,omitempty" jsonschema:"active, paused, blocked, completed or abandoned"`
	Progress    *float64        `json:"progress,omitempty" jsonschema:"how much is done, from 0 to 1; it follows the milestones until it is set"`
	Parent      *string         `json:"parent,omitempty" jsonschema:"id of the goal that it is a part of"`
	Milestones  []milestoneJSON `json:"milestones,omitempty" jsonschema:"steps towards it; one that it has already is given the status"`
	Decisions   []decisionJSON  `json:"decisions,omitempty" jsonschema:"what was decided; one that it has already is given the rationale and the lock"`
	Artifacts   []artifactJSON  `json:"artifacts,omitempty" jsonschema:"files that were made or changed for it"`
	NextSteps   *[]string       `json:"next_steps,omitempty" jsonschema:"what is to be done next, in place of what was there"`
	Version     int64           `json:"version,omitempty" jsonschema:"the version that the change was decided on; the change is refused if the goal has another by now"`
	Why         string          `json:"why,omitempty" jsonschema:"the reason, for the goal's history"`
}

type milestoneJSON struct {
	Description string `json:"description"`
	Status      string `json:"status,omitempty" jsonschema:"pending, in-progress or completed"`
}

type decisionJSON struct {
	Description string `json:"description"`
	Rationale   string `json:"rationale,omitempty"`
	Locked      bool   `json:"locked,omitempty" jsonschema:"it can never be changed again"`
}

type artifactJSON struct {
	Path   string `json:"path"`
	Type   string `json:"type,omitempty" jsonschema:"what it is; file where it is left out"`
	Action string `json:"action" jsonschema:"created, modified or deleted"`
}

type setGoalOutput struct {
	Session string `json:"session_id"`
	Changed bool   `json:"changed" jsonschema:"false where everything was so already"`
	Goal    any    `json:"goal" jsonschema:"the goal as it is now"`
}

func (s *Server) setGoal(ctx context.Context, c caller, in setGoalInput) (setGoalOutput, error) {
	if in.ID == "" && in.Title == nil {
		return setGoalOutput{}, invalid.New("id", "neither an id nor a title is given", "call goals for ids, or give a title to begin a goal")
	}
	session, err := c.engine.Session(ctx, s.session(in.Session))
	if err != nil {
		return setGoalOutput{}, err
	}
	if in.ID != "" && in.Title == nil {
		// A change without a title would be refused as a goal that is begun without one.
		state, err := session.Intentions(ctx, true)
		if err != nil {
			return setGoalOutput{}, err
		}
		if _, there := state.Goal(in.ID); !there {
			return setGoalOutput{}, invalid.New("id", "there is no goal "+quoted(in.ID), "call goals with all set for ids, or give a title to begin it")
		}
	}
	staged, err := session.Intend(ctx, cortex.Changes{Goals: []cortex.GoalChange{in.change()}})
	if err != nil {
		return setGoalOutput{}, asGiven(err)
	}
	out := setGoalOutput{Session: session.ID(), Changed: len(staged.Rows) > 0}
	for _, row := range staged.Rows {
		out.Goal = json.RawMessage(row.Doc)
	}
	if !out.Changed {
		for g := range staged.Next.EachGoal() {
			if g.ID == in.ID || in.ID == "" && g.Title == *in.Title {
				out.Goal = json.RawMessage(g.AppendJSON(nil))
			}
		}
	}
	return out, nil
}

// asGiven is an error about the one change of a goal that set_goal makes, with the field named as set_goal has it: its lists are what
// a change adds or sets.
func asGiven(err error) error {
	var refused *turnstone.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	_, field, _ := strings.Cut(refused.Field, ".")
	own := strings.TrimPrefix(strings.TrimPrefix(field, "add_"), "set_")
	told := &turnstone.RefusedError{Field: own}
	for _, reason := range refused.Reasons {
		told.Reasons = append(told.Reasons, strings.Replace(reason, field+": ", own+": ", 1))
	}
	return told
}

func (in setGoalInput) change() cortex.GoalChange {
	change := cortex.GoalChange{
		ID: in.ID, Version: in.Version, By: cortex.ActorAgent, Why: in.Why, Title: in.Title, Description: in.Description,
		Priority: (*cortex.Priority)(in.Priority), Status: (*cortex.GoalStatus)(in.Status), Progress: in.Progress, Parent: in.Parent,
		NextSteps: in.NextSteps,
	}
	for _, m := range in.Milestones {
		change.AddMilestones = append(change.AddMilestones, cortex.Milestone{Description: m.Description, Status: cortex.MilestoneStatus(m.Status)})
	}
	for _, d := range in.Decisions {
		change.AddDecisions = append(change.AddDecisions, cortex.Decision(d))
	}
	for _, f := range in.Artifacts {
		change.AddArtifacts = append(change.AddArtifacts, cortex.Artifact{Path: f.Path, Type: f.Type, Action: cortex.ArtifactAction(f.Action)})
	}
	return change
}
