package commit

import (
	"time"

	"github.com/turnstone-dev/turnstone/memory"
)

// SchemaVersion is the version of the StateExport that this program writes. Every version ever
// written stays readable.
const SchemaVersion = 1

// StateExport is what an exchange changed, packaged for daemons. It never changes once committed. Its
// JSON is described by docs/state-export.schema.json.
type StateExport struct {
	ExportID  string
	TurnID    string // of the input that opened the exchange
	AgentID   string
	Timestamp time.Time

	Tenant  string
	Session string
	User    string
	TurnIDs []string // every turn the exchange wrote
	Status  State

	Turn         TurnSummary
	Episodes     []memory.Episode
	Cortex       CortexUpdate
	Scratch      ScratchUpdate
	Conversation ConversationUpdate
	Evaluation   Evaluation
	Metadata     Metadata
	// Dropped is what was not remembered and why, the first of it; DroppedMore counts the rest.
	Dropped     []memory.Dropped
	DroppedMore int64
	// Missing names what was there when the export was made and has been forgotten or expired since.
	Missing []string
}

// TurnSummary is the exchange in short.
type TurnSummary struct {
	Duration          time.Duration
	UserInput         string
	AssistantResponse string
	Urgency           Urgency
	Success           bool
}

// Urgency is how much a turn presses.
type Urgency string

// The three urgencies.
const (
	High   Urgency = "HIGH"
	Medium Urgency = "MEDIUM"
	Low    Urgency = "LOW"
)

// CortexUpdate is what changed in goals and actions. Completed ones are among the updated, too.
type CortexUpdate struct {
	CompletedGoals   []string
	UpdatedGoals     []Update
	CompletedActions []string
	UpdatedActions   []Update
}

// ScratchUpdate is what changed on the scratch page.
type ScratchUpdate struct {
	Archived []string
	Updated  []Update
	Cleared  []string
}

// Update is what became of one goal, action or observation.
type Update struct {
	ID string
	// Change is raw JSON: of a goal or an action its new version and who changed what in it, of an
	// observation the whole of it.
	Change string
}

// ConversationUpdate is what the conversation history gained.
type ConversationUpdate struct {
	UserInput         string
	AssistantResponse string
	TurnSummary       string
}

// Evaluation is what was made of the exchange.
type Evaluation struct {
	Issues         []Issue
	FollowUpNeeded bool
	Lessons        []string
	Patterns       []string
}

// Metadata is what the exchange took.
type Metadata struct {
	DaemonsActivated []string
	ToolsExecuted    []string
	Errors           []string
	// Warnings are those of the exchange and, of each goal, action or observation with which a change did not agree, what
	// stood against it.
	Warnings    []string
	BudgetUsed  int64
	BudgetTotal int64
}
