package cortex

import (
	"time"

	"github.com/turnstone-dev/turnstone/internal/record"
)

var milestoneFields = record.Fields[Milestone]{
	record.Value("description", func(m *Milestone) *string { return &m.Description }, record.Text[string]()),
	record.Value("status", func(m *Milestone) *MilestoneStatus { return &m.Status }, record.Text[MilestoneStatus]()),
}

var decisionFields = record.Fields[Decision]{
	record.Value("description", func(d *Decision) *string { return &d.Description }, record.Text[string]()),
	record.Value("rationale", func(d *Decision) *string { return &d.Rationale }, record.Text[string]()),
	record.Value("locked", func(d *Decision) *bool { return &d.Locked }, record.Bool()),
}

var artifactFields = record.Fields[Artifact]{
	record.Value("path", func(a *Artifact) *string { return &a.Path }, record.Text[string]()),
	record.Value("type", func(a *Artifact) *string { return &a.Type }, record.Text[string]()),
	record.Value("action", func(a *Artifact) *ArtifactAction { return &a.Action }, record.Text[ArtifactAction]()),
}

var goalFields = record.Fields[Goal]{
	record.Value("id", func(g *Goal) *string { return &g.ID }, record.Text[string]()),
	record.Value("title", func(g *Goal) *string { return &g.Title }, record.Text[string]()),
	record.Value("description", func(g *Goal) *string { return &g.Description }, record.Text[string]()),
	record.Value("priority", func(g *Goal) *Priority { return &g.Priority }, record.Text[Priority]()),
	record.Value("status", func(g *Goal) *GoalStatus { return &g.Status }, record.Text[GoalStatus]()),
	record.Value("progress", func(g *Goal) *float64 { return &g.Progress }, record.Float()).Always(),
	record.Value("parent", func(g *Goal) *string { return &g.Parent }, record.Text[string]()),
	record.List("milestones", func(g *Goal) *[]Milestone { return &g.Milestones }, record.Of(milestoneFields)),
	record.List("decisions", func(g *Goal) *[]Decision { return &g.Decisions }, record.Of(decisionFields)),
	record.List("artifacts", func(g *Goal) *[]Artifact { return &g.Artifacts }, record.Of(artifactFields)),
	record.List("next_steps", func(g *Goal) *[]string { return &g.NextSteps }, record.Text[string]()),
	record.Value("created_at", func(g *Goal) *time.Time { return &g.CreatedAt }, record.Time()),
	record.Value("updated_at", func(g *Goal) *time.Time { return &g.UpdatedAt }, record.Time()),
	record.Value("completed_at", func(g *Goal) *time.Time { return &g.CompletedAt }, record.Time()),
	record.Value("version", func(g *Goal) *int64 { return &g.Version }, record.Int()),
}

var actionFields = record.Fields[PendingAction]{
	record.Value("id", func(a *PendingAction) *string { return &a.ID }, record.Text[string]()),
	record.Value("type", func(a *PendingAction) *ActionType { return &a.Type }, record.Text[ActionType]()),
	record.Value("owner", func(a *PendingAction) *Owner { return &a.Owner }, record.Text[Owner]()),
	record.Value("title", func(a *PendingAction) *string { return &a.Title }, record.Text[string]()),
	record.Value("status", func(a *PendingAction) *ActionStatus { return &a.Status }, record.Text[ActionStatus]()),
	record.Value("due_at", func(a *PendingAction) *time.Time { return &a.DueAt }, record.Time()),
	record.Value("goal_id", func(a *PendingAction) *string { return &a.GoalID }, record.Text[string]()),
	record.Value("blocking", func(a *PendingAction) *bool { return &a.Blocking }, record.Bool()),
	record.Value("requires_confirmation", func(a *PendingAction) *bool { return &a.RequiresConfirmation }, record.Bool()),
	record.List("evidence", func(a *PendingAction) *[]string { return &a.Evidence }, record.Text[string]()),
	record.Value("created_at", func(a *PendingAction) *time.Time { return &a.CreatedAt }, record.Time()),
	record.Value("updated_at", func(a *PendingAction) *time.Time { return &a.UpdatedAt }, record.Time()),
	record.Value("status_at", func(a *PendingAction) *time.Time { return &a.StatusAt }, record.Time()),
	record.Value("version", func(a *PendingAction) *int64 { return &a.Version }, record.Int()),
}

// AppendJSON appends the goal as one JSON object. Equal goals give equal text; what is empty is left
// out. The goal must be legal, as every goal that this package hands out is.
func (g Goal) AppendJSON(dst []byte) []byte { return g.append(dst) }

// append appends what goalFields would: see [record.AppendName].
func (g *Goal) append(dst []byte) []byte {
	dst = append(dst, '{')
	dst = record.AppendText(dst, "id", g.ID)
	dst = record.AppendText(dst, "title", g.Title)
	dst = record.AppendText(dst, "description", g.Description)
	dst = record.AppendText(dst, "priority", g.Priority)
	dst = record.AppendText(dst, "status", g.Status)
	dst = record.AppendFloat(dst, "progress", g.Progress)
	dst = record.AppendText(dst, "parent", g.Parent)
	for i := range g.Milestones {
		dst = milestoneFields.Append(record.AppendElement(dst, "milestones", i), &g.Milestones[i])
	}
	dst = record.EndList(dst, len(g.Milestones))
	for i := range g.Decisions {
		dst = decisionFields.Append(record.AppendElement(dst, "decisions", i), &g.Decisions[i])
	}
	dst = record.EndList(dst, len(g.Decisions))
	for i := range g.Artifacts {
		dst = artifactFields.Append(record.AppendElement(dst, "artifacts", i), &g.Artifacts[i])
	}
	dst = record.EndList(dst, len(g.Artifacts))
	dst = record.AppendTexts(dst, "next_steps", g.NextSteps)
	dst = record.AppendTime(dst, "created_at", g.CreatedAt)
	dst = record.AppendTime(dst, "updated_at", g.UpdatedAt)
	dst = record.AppendTime(dst, "completed_at", g.CompletedAt)
	dst = record.AppendInt(dst, "version", g.Version)
	return append(dst, '}')
}

// AppendJSON appends the action as one JSON object, like [Goal.AppendJSON].
func (a PendingAction) AppendJSON(dst []byte) []byte { return actionFields.Append(dst, &a) }

// DecodeGoal reads what [Goal.AppendJSON] wrote. Unknown fields and a goal that breaks a rule are
// refused with a *[FieldError] that names the place.
func DecodeGoal(data string) (Goal, error) {
	g, err := goalFields.Decode(data)
	if err == nil {
		err = g.check()
	}
	if err != nil {
		return Goal{}, err
	}
	return g, nil
}

// DecodeAction reads what [PendingAction.AppendJSON] wrote, like [DecodeGoal].
func DecodeAction(data string) (PendingAction, error) {
	a, err := actionFields.Decode(data)
	if err == nil {
		err = a.check()
	}
	if err != nil {
		return PendingAction{}, err
	}
	return a, nil
}

// MarshalJSON is [Goal.AppendJSON] for a goal that breaks no rule.
func (g Goal) MarshalJSON() ([]byte, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	return g.AppendJSON(nil), nil
}

// UnmarshalJSON is [DecodeGoal].
func (g *Goal) UnmarshalJSON(data []byte) (err error) {
	*g, err = DecodeGoal(string(data))
	return err
}

// MarshalJSON is [PendingAction.AppendJSON] for an action that breaks no rule.
func (a PendingAction) MarshalJSON() ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	return a.AppendJSON(nil), nil
}

// UnmarshalJSON is [DecodeAction].
func (a *PendingAction) UnmarshalJSON(data []byte) (err error) {
	*a, err = DecodeAction(string(data))
	return err
}
