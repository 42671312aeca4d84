package client

import (
	"context"
	"net/http"
	"time"
)

// Goal is what a session is to reach.
type Goal struct {
	ID          string      `json:"id"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	Priority    string      `json:"priority"`
	Status      string      `json:"status"`   // "active", "paused", "blocked", "completed" or "abandoned"
	Progress    float64     `json:"progress"` // from 0 to 1
	Parent      string      `json:"parent"`
	Milestones  []Milestone `json:"milestones"`
	Decisions   []Decision  `json:"decisions"`
	Artifacts   []Artifact  `json:"artifacts"`
	NextSteps   []string    `json:"next_steps"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
	Version     int64       `json:"version"` // counts the changes from 1 on
}

// Milestone is a step of a goal, named by its description.
type Milestone struct {
	Description string `json:"description"`
	Status      string `json:"status,omitempty"` // "pending", "in-progress" or "completed"
}

// Decision is what was decided for a goal, named by its description.
type Decision struct {
	Description string `json:"description"`
	Rationale   string `json:"rationale,omitempty"`
	Locked      bool   `json:"locked,omitempty"` // it can neither be unlocked nor changed nor removed
}

// Artifact is a file that belongs to a goal, named by its path.
type Artifact struct {
	Path   string `json:"path"`
	Type   string `json:"type,omitempty"`
	Action string `json:"action,omitempty"` // "created", "modified" or "deleted"
}

// GoalChange is a change of a goal, or a new one. What is empty stays as it is.
type GoalChange struct {
	ID            string      `json:"id,omitempty"`
	Version       int64       `json:"version,omitempty"` // the one that the change was decided on; refused if there is another by now
	By            string      `json:"by,omitempty"`      // "agent" by default, "user" or "system"
	Why           string      `json:"why,omitempty"`
	Title         string      `json:"title,omitempty"`
	Description   string      `json:"description,omitempty"`
	Priority      string      `json:"priority,omitempty"`
	Status        string      `json:"status,omitempty"`
	Parent        string      `json:"parent,omitempty"`
	AddMilestones []Milestone `json:"add_milestones,omitempty"`
	SetMilestones []Milestone `json:"set_milestones,omitempty"`
	AddDecisions  []Decision  `json:"add_decisions,omitempty"`
	Lock          []string    `json:"lock,omitempty"` // decisions that are locked, for good
	AddArtifacts  []Artifact  `json:"add_artifacts,omitempty"`
	NextSteps     []string    `json:"next_steps,omitempty"` // in the place of those that there are
}

// Goals are the session's goals that are not finished.
func (s *Session) Goals(ctx context.Context) ([]Goal, error) {
	found, err := ask[list[Goal]](ctx, s.client, call{method: http.MethodGet, path: path("/sessions/%s/goals", s.id), again: true})
	return found.Items, err
}

// Goal is the goal of an id.
func (s *Session) Goal(ctx context.Context, id string) (Goal, error) {
	return ask[Goal](ctx, s.client, call{method: http.MethodGet, path: path("/sessions/%s/goals/%s", s.id, id), again: true})
}

// ChangeGoal makes a goal or changes the one of that id or, where none is given, of that title. [NotLegal] where it may
// not be changed like that.
func (s *Session) ChangeGoal(ctx context.Context, change GoalChange) (Goal, error) {
	return ask[Goal](ctx, s.client, call{method: http.MethodPost, path: path("/sessions/%s/goals", s.id), in: change})
}
