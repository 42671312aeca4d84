package cortex

import (
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/redact"
)

// Bounds of what a session may intend. A goal is written whole with every change of it.
const (
	// MaxGoals and MaxActions are how many of them may be live in a session.
	MaxGoals   = 256
	MaxActions = 1024
	// MaxMilestones, MaxDecisions, MaxArtifacts and MaxNextSteps are how many a goal may have.
	MaxMilestones = 64
	MaxDecisions  = 64
	MaxArtifacts  = 256
	MaxNextSteps  = 64
	// MaxEvidence is how many pieces of evidence an action may have.
	MaxEvidence = 64
	// MaxLine bounds, in bytes, what stands on one line: titles, paths and the like.
	MaxLine = 2 << 10
	// MaxText bounds descriptions, rationales and reasons.
	MaxText = 16 << 10
)

// Priority says which goal comes first.
type Priority string

// The priorities. A goal is of medium priority unless it says otherwise.
const (
	PriorityHigh   Priority = "high"
	PriorityMedium Priority = "medium"
	PriorityLow    Priority = "low"
)

// priorities, the highest first.
var priorities = []Priority{PriorityHigh, PriorityMedium, PriorityLow}

// GoalStatus is where a goal stands.
type GoalStatus string

// The statuses of goals. A goal that is completed or abandoned stays so.
const (
	GoalActive    GoalStatus = "active"
	GoalPaused    GoalStatus = "paused"
	GoalBlocked   GoalStatus = "blocked"
	GoalCompleted GoalStatus = "completed"
	GoalAbandoned GoalStatus = "abandoned"
)

// Goal is something a session works towards.
type Goal struct {
	ID          string
	Title       string
	Description string
	Priority    Priority
	Status      GoalStatus
	// Progress is between 0 and 1. It follows the milestones unless a change sets it.
	Progress float64
	// Parent is the goal this one is a part of, or empty.
	Parent     string
	Milestones []Milestone
	Decisions  []Decision
	Artifacts  []Artifact
	// NextSteps are what is to be done next, in that order.
	NextSteps []string
	CreatedAt time.Time
	UpdatedAt time.Time
	// CompletedAt is zero until the goal is completed.
	CompletedAt time.Time
	// Version counts the changes from 1 on.
	Version int64
}

// MilestoneStatus is how far a milestone is. Any may follow any.
type MilestoneStatus string

// The statuses of milestones.
const (
	MilestonePending    MilestoneStatus = "pending"
	MilestoneInProgress MilestoneStatus = "in-progress"
	MilestoneCompleted  MilestoneStatus = "completed"
)

var milestoneStatuses = []MilestoneStatus{MilestonePending, MilestoneInProgress, MilestoneCompleted}

// Milestone is a goal checkpoint: one of the steps that lead to a goal. Its description names it
// within the goal and never changes; only its status does.
type Milestone struct {
	Description string
	Status      MilestoneStatus
}

// Decision is something that was decided on the way to a goal. Its description names it within the
// goal. Once locked it can neither be unlocked nor changed nor removed.
type Decision struct {
	Description string
	Rationale   string
	Locked      bool
}

// ArtifactAction is what was done to an artifact last.
type ArtifactAction string

// What can be done to an artifact.
const (
	ArtifactCreated  ArtifactAction = "created"
	ArtifactModified ArtifactAction = "modified"
	ArtifactDeleted  ArtifactAction = "deleted"
)

var artifactActions = []ArtifactAction{ArtifactCreated, ArtifactModified, ArtifactDeleted}

// Artifact is something made or changed for a goal, mostly a file. Its path names it within the goal.
type Artifact struct {
	Path string
	// Type is the caller's own word for what it is; "file" if it says nothing.
	Type   string
	Action ArtifactAction
}

// fileArtifact is the type of an artifact that says none.
const fileArtifact = "file"

// Live reports whether the goal is neither completed nor abandoned.
func (g Goal) Live() bool { return g.Status.live() }

func (s GoalStatus) live() bool { return !final(goalMachine, string(s)) }

// Decision returns the decision of that description, as a [GoalChange] finds it.
func (g Goal) Decision(description string) (Decision, bool) {
	if i := g.decision(description); i >= 0 {
		return g.Decisions[i], true
	}
	return Decision{}, false
}

func (g *Goal) milestone(description string) int {
	return alike(g.Milestones, description, func(m *Milestone) string { return m.Description })
}

func (g *Goal) decision(description string) int {
	return alike(g.Decisions, description, func(d *Decision) string { return d.Description })
}

// alike finds the one of a description, or else the first of the same words in another case: a goal may have both from
// before there was one rule.
func alike[E any](list []E, description string, of func(*E) string) int {
	like := -1
	for i := range list {
		have := of(&list[i])
		if have == description {
			return i
		}
		if like < 0 && sameWords(have, description) {
			like = i
		}
	}
	return like
}

func (g *Goal) artifact(path string) int {
	return slices.IndexFunc(g.Artifacts, func(a Artifact) bool { return a.Path == path })
}

// clone returns a goal that shares no memory with g.
func (g Goal) clone() Goal {
	g.Milestones = slices.Clone(g.Milestones)
	g.Decisions = slices.Clone(g.Decisions)
	g.Artifacts = slices.Clone(g.Artifacts)
	g.NextSteps = slices.Clone(g.NextSteps)
	return g
}

func (g *Goal) check() error {
	if err := ids.CheckName("id", g.ID); err != nil {
		return err
	}
	if err := record.CheckLine("title", g.Title, MaxLine); err != nil {
		return err
	}
	if err := record.CheckText("description", g.Description, MaxText); err != nil {
		return err
	}
	if err := oneOf("priority", g.Priority, priorities); err != nil {
		return err
	}
	if err := checkStatus(goalMachine, g.Status); err != nil {
		return err
	}
	// Written so that NaN is refused too.
	if !(g.Progress >= 0 && g.Progress <= 1) {
		return fieldErrorf("progress", "give a number from 0 to 1", "%v is out of range", g.Progress)
	}
	if g.Parent != "" {
		if err := ids.CheckName("parent", g.Parent); err != nil {
			return err
		}
	}
	return g.checkLists()
}

func (g *Goal) checkLists() error {
	if err := record.CheckList("milestones", g.Milestones, MaxMilestones, func(m Milestone) string { return m.Description }, Milestone.check); err != nil {
		return err
	}
	if err := record.CheckList("decisions", g.Decisions, MaxDecisions, func(d Decision) string { return d.Description }, Decision.check); err != nil {
		return err
	}
	if err := record.CheckList("artifacts", g.Artifacts, MaxArtifacts, func(a Artifact) string { return a.Path }, Artifact.check); err != nil {
		return err
	}
	return checkLines("next_steps", g.NextSteps, MaxNextSteps)
}

func (m Milestone) check() error {
	if err := record.CheckLine("description", m.Description, MaxLine); err != nil {
		return err
	}
	return oneOf("status", m.Status, milestoneStatuses)
}

func (d Decision) check() error {
	if err := record.CheckLine("description", d.Description, MaxLine); err != nil {
		return err
	}
	return record.CheckText("rationale", d.Rationale, MaxText)
}

func (a Artifact) check() error {
	if err := record.CheckLine("path", a.Path, MaxLine); err != nil {
		return err
	}
	if err := record.CheckLine("type", a.Type, MaxLine); err != nil {
		return err
	}
	return oneOf("action", a.Action, artifactActions)
}

func checkLines(field string, lines []string, limit int) error {
	return record.CheckList(field, lines, limit, func(s string) string { return s },
		func(s string) error { return record.CheckLine("", s, MaxLine) })
}

// Forgotten reports whether nothing is left of what the goal said: its words were forgotten, and nobody gave it others.
func (g *Goal) Forgotten() bool {
	if !redact.IsMark(g.Title) || !silent(g.Description) {
		return false
	}
	for _, m := range g.Milestones {
		if !silent(m.Description) {
			return false
		}
	}
	for _, d := range g.Decisions {
		if !silent(d.Description) || !silent(d.Rationale) {
			return false
		}
	}
	for _, a := range g.Artifacts {
		if !silent(a.Path) {
			return false
		}
	}
	return !slices.ContainsFunc(g.NextSteps, func(step string) bool { return !silent(step) })
}

func silent(text string) bool { return text == "" || redact.IsMark(text) }
