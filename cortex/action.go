package cortex

import (
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/record"
)

// EscalateAfter is how long a reminder that was sent may stay unanswered.
const EscalateAfter = 24 * time.Hour

// ActionType is what kind of action is pending, and so what may become of it.
type ActionType string

// The types of actions. A type that is none of them is taken as a user task.
const (
	AgentTask       ActionType = "agent_task"
	Research        ActionType = "research"
	UserTask        ActionType = "user_task"
	ApprovalRequest ActionType = "approval_request"
	Reminder        ActionType = "reminder"
	FollowUp        ActionType = "follow_up"
	PendingDecision ActionType = "decision"
	BackgroundJob   ActionType = "background_job"
	Blocker         ActionType = "blocker"
)

// ActionStatus is where an action stands. Which statuses there are depends on its type.
type ActionStatus string

// The statuses of actions.
const (
	ActionOpen                 ActionStatus = "open"
	ActionInProgress           ActionStatus = "in_progress"
	ActionAwaitingConfirmation ActionStatus = "awaiting_confirmation"
	ActionScheduled            ActionStatus = "scheduled"
	ActionSent                 ActionStatus = "sent"
	ActionRunning              ActionStatus = "running"
	ActionDone                 ActionStatus = "done"
	ActionApproved             ActionStatus = "approved"
	ActionRejected             ActionStatus = "rejected"
	ActionEscalated            ActionStatus = "escalated"
	ActionDecided              ActionStatus = "decided"
	ActionSucceeded            ActionStatus = "succeeded"
	ActionFailed               ActionStatus = "failed"
	ActionResolved             ActionStatus = "resolved"
	ActionWaived               ActionStatus = "waived"
	ActionCancelled            ActionStatus = "cancelled"
)

// completions are the statuses that mean the action was carried out, not merely ended.
var completions = []ActionStatus{
	ActionDone, ActionApproved, ActionRejected, ActionDecided, ActionSucceeded, ActionResolved, ActionWaived,
}

// Owner is whose action it is.
type Owner string

// The owners.
const (
	OwnerAgent Owner = "agent"
	OwnerUser  Owner = "user"
)

var owners = []Owner{OwnerAgent, OwnerUser}

// PendingAction is something that is to be done, by the agent or by the user.
type PendingAction struct {
	ID    string
	Type  ActionType
	Owner Owner
	Title string
	// Status is one of those that the type's machine knows.
	Status ActionStatus
	// DueAt is zero where it is due at no certain time.
	DueAt time.Time
	// GoalID is the goal it serves, or empty.
	GoalID string
	// Blocking says that the goal cannot go on before it is done.
	Blocking bool
	// RequiresConfirmation says that only the user can complete it. User tasks and approval requests
	// always do.
	RequiresConfirmation bool
	// Evidence says how one knows that it was done: results, turn ids, addresses.
	Evidence  []string
	CreatedAt time.Time
	UpdatedAt time.Time
	// StatusAt is when it came to its status.
	StatusAt time.Time
	// Version counts the changes from 1 on.
	Version int64
}

// Live reports whether something may still become of the action.
func (a PendingAction) Live() bool { return !final(string(a.Type), string(a.Status)) }

// Completed reports whether the action was carried out. One that was cancelled, failed, was escalated or
// became something scheduled was not.
func (a PendingAction) Completed() bool { return slices.Contains(completions, a.Status) && !a.Live() }

// clone returns an action that shares no memory with a.
func (a PendingAction) clone() PendingAction {
	a.Evidence = slices.Clone(a.Evidence)
	return a
}

func (a *PendingAction) check() error {
	if err := ids.CheckName("id", a.ID); err != nil {
		return err
	}
	if err := oneOf("type", a.Type, actionTypes); err != nil {
		return err
	}
	if err := oneOf("owner", a.Owner, owners); err != nil {
		return err
	}
	if err := record.CheckLine("title", a.Title, MaxLine); err != nil {
		return err
	}
	if err := checkStatus(string(a.Type), a.Status); err != nil {
		return err
	}
	if err := record.CheckTime("due_at", a.DueAt); err != nil {
		return err
	}
	if a.GoalID != "" {
		if err := ids.CheckName("goal_id", a.GoalID); err != nil {
			return err
		}
	}
	if !a.RequiresConfirmation && machineOf(string(a.Type)).confirm {
		return fieldErrorf("requires_confirmation", "make it true", "every %s does", a.Type)
	}
	return checkLines("evidence", a.Evidence, MaxEvidence)
}
