package cortex

import (
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/record"
)

// Actor is who makes a change.
type Actor string

// The actors. A change that names none is the agent's, who may do the least.
const (
	ActorAgent  Actor = "agent"
	ActorUser   Actor = "user"
	ActorSystem Actor = "system"
)

var actors = []Actor{ActorAgent, ActorUser, ActorSystem}

// Changes are what is to become of goals and actions. They are applied in their order, goals first.
type Changes struct {
	Goals   []GoalChange
	Actions []ActionChange
}

// GoalChange changes one goal, or creates it where there is none of that id. What is nil or empty is
// left as it is. It is applied whole or not at all.
type GoalChange struct {
	// ID names the goal. An empty id is the live goal of that title, or else a new goal with an id of
	// its own.
	ID string
	// Version, if not 0, is the version the change was decided on: the change is refused if the
	// goal has another by now.
	Version int64
	By      Actor
	TurnID  string // the turn in which it was decided, or empty
	Why     string

	Title       *string // required to create
	Description *string
	Priority    *Priority
	Status      *GoalStatus
	Progress    *float64
	Parent      *string
	// Milestones and decisions are known by their descriptions, in any case and with any white space between the words.
	//
	// AddMilestones adds those that the goal lacks, pending unless they say otherwise, and sets the
	// status of those it has where one is given.
	AddMilestones []Milestone
	// SetMilestones sets the status of milestones that the goal has.
	SetMilestones []Milestone
	// AddDecisions adds those that the goal lacks. One that it has is given the rationale and the
	// lock of the addition, where that has them.
	AddDecisions []Decision
	// SetDecisions changes decisions that the goal has and RemoveDecisions drops them, by
	// description: those that are not locked.
	SetDecisions    []DecisionChange
	RemoveDecisions []string
	// Lock locks decisions, by description, for good.
	Lock []string
	// AddArtifacts adds those that the goal lacks and sets type and action of those it has.
	AddArtifacts []Artifact
	// NextSteps replaces the next steps.
	NextSteps *[]string
}

// DecisionChange changes the decision of that description. What is nil is left as it is.
type DecisionChange struct {
	Description string
	Rename      *string
	Rationale   *string
	Locked      *bool
}

// ActionChange changes one action, or creates it where there is none of that id. What is nil or empty is
// left as it is. It is applied whole or not at all.
type ActionChange struct {
	// ID names the action. An empty id creates one with an id of its own.
	ID string
	// Version, if not 0, is the version the change was decided on: the change is refused if the
	// action has another by now.
	Version int64
	By      Actor
	TurnID  string // the turn in which it was decided, or empty
	Why     string

	// Type never changes. One that is unknown, or none, creates a user task that requires
	// confirmation.
	Type                 *ActionType
	Owner                *Owner
	Title                *string // required to create
	Status               *ActionStatus
	DueAt                *time.Time // the zero time: no longer due
	GoalID               *string
	Blocking             *bool
	RequiresConfirmation *bool
	// AddEvidence adds what the action lacks.
	AddEvidence []string
}

// origin is what both kinds of change say about themselves.
type origin struct {
	id      string
	version int64
	by      Actor
	turnID  string
	why     string
}

func (c *GoalChange) origin() origin   { return origin{c.ID, c.Version, c.By, c.TurnID, c.Why} }
func (c *ActionChange) origin() origin { return origin{c.ID, c.Version, c.By, c.TurnID, c.Why} }

// check holds the origin against the rules and against the version there is; 0 is none.
func (o *origin) check(version int64) error {
	if o.by == "" {
		o.by = ActorAgent
	}
	if err := oneOf("by", o.by, actors); err != nil {
		return err
	}
	if o.turnID != "" {
		if err := ids.CheckName("turn_id", o.turnID); err != nil {
			return err
		}
	}
	if err := record.CheckText("why", o.why, MaxText); err != nil {
		return err
	}
	switch {
	case o.version == 0 || o.version == version:
		return nil
	case version == 0:
		return fieldErrorf("version", "leave it out to create one", "there is none of id %q to have version %d", o.id, o.version)
	}
	return fieldErrorf("version", "read it again and decide anew", "it is at version %d by now, not %d", version, o.version)
}

// nobody says, of a change that names a goal or an action, that there is no such one.
func nobody(what, id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf(", and there is no %s %q to change", what, id)
}
