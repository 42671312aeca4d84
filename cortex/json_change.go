package cortex

import (
	"math"
	"time"

	"github.com/turnstone-dev/turnstone/internal/record"
)

var decisionChangeFields = record.Fields[DecisionChange]{
	record.Value("description", func(d *DecisionChange) *string { return &d.Description }, record.Text[string]()),
	record.Optional("rename", func(d *DecisionChange) **string { return &d.Rename }, record.Text[string]()),
	record.Optional("rationale", func(d *DecisionChange) **string { return &d.Rationale }, record.Text[string]()),
	record.Optional("locked", func(d *DecisionChange) **bool { return &d.Locked }, record.Bool()),
}

var goalChangeFields = record.Fields[GoalChange]{
	record.Value("id", func(c *GoalChange) *string { return &c.ID }, record.Text[string]()),
	record.Value("version", func(c *GoalChange) *int64 { return &c.Version }, record.Int()),
	record.Value("by", func(c *GoalChange) *Actor { return &c.By }, record.Text[Actor]()),
	record.Value("turn_id", func(c *GoalChange) *string { return &c.TurnID }, record.Text[string]()),
	record.Value("why", func(c *GoalChange) *string { return &c.Why }, record.Text[string]()),
	record.Optional("title", func(c *GoalChange) **string { return &c.Title }, record.Text[string]()),
	record.Optional("description", func(c *GoalChange) **string { return &c.Description }, record.Text[string]()),
	record.Optional("priority", func(c *GoalChange) **Priority { return &c.Priority }, record.Text[Priority]()),
	record.Optional("status", func(c *GoalChange) **GoalStatus { return &c.Status }, record.Text[GoalStatus]()),
	record.Optional("progress", func(c *GoalChange) **float64 { return &c.Progress }, record.Float()),
	record.Optional("parent", func(c *GoalChange) **string { return &c.Parent }, record.Text[string]()),
	record.List("add_milestones", func(c *GoalChange) *[]Milestone { return &c.AddMilestones }, record.Of(milestoneFields)),
	record.List("set_milestones", func(c *GoalChange) *[]Milestone { return &c.SetMilestones }, record.Of(milestoneFields)),
	record.List("add_decisions", func(c *GoalChange) *[]Decision { return &c.AddDecisions }, record.Of(decisionFields)),
	record.List("set_decisions", func(c *GoalChange) *[]DecisionChange { return &c.SetDecisions }, record.Of(decisionChangeFields)),
	record.List("remove_decisions", func(c *GoalChange) *[]string { return &c.RemoveDecisions }, record.Text[string]()),
	record.List("lock", func(c *GoalChange) *[]string { return &c.Lock }, record.Text[string]()),
	record.List("add_artifacts", func(c *GoalChange) *[]Artifact { return &c.AddArtifacts }, record.Of(artifactFields)),
	record.Optional("next_steps", func(c *GoalChange) **[]string { return &c.NextSteps }, record.ListOf(record.Text[string]())),
}

var actionChangeFields = record.Fields[ActionChange]{
	record.Value("id", func(c *ActionChange) *string { return &c.ID }, record.Text[string]()),
	record.Value("version", func(c *ActionChange) *int64 { return &c.Version }, record.Int()),
	record.Value("by", func(c *ActionChange) *Actor { return &c.By }, record.Text[Actor]()),
	record.Value("turn_id", func(c *ActionChange) *string { return &c.TurnID }, record.Text[string]()),
	record.Value("why", func(c *ActionChange) *string { return &c.Why }, record.Text[string]()),
	record.Optional("type", func(c *ActionChange) **ActionType { return &c.Type }, record.Text[ActionType]()),
	record.Optional("owner", func(c *ActionChange) **Owner { return &c.Owner }, record.Text[Owner]()),
	record.Optional("title", func(c *ActionChange) **string { return &c.Title }, record.Text[string]()),
	record.Optional("status", func(c *ActionChange) **ActionStatus { return &c.Status }, record.Text[ActionStatus]()),
	record.Optional("due_at", func(c *ActionChange) **time.Time { return &c.DueAt }, record.Time()),
	record.Optional("goal_id", func(c *ActionChange) **string { return &c.GoalID }, record.Text[string]()),
	record.Optional("blocking", func(c *ActionChange) **bool { return &c.Blocking }, record.Bool()),
	record.Optional("requires_confirmation", func(c *ActionChange) **bool { return &c.RequiresConfirmation }, record.Bool()),
	record.List("add_evidence", func(c *ActionChange) *[]string { return &c.AddEvidence }, record.Text[string]()),
}

var changesFields = record.Fields[Changes]{
	record.List("goals", func(c *Changes) *[]GoalChange { return &c.Goals }, record.Of(goalChangeFields)),
	record.List("actions", func(c *Changes) *[]ActionChange { return &c.Actions }, record.Of(actionChangeFields)),
}

// AppendJSON appends the changes as one JSON object. What is nil or empty is left out. Text must be valid
// UTF-8 and numbers finite; whether a change is legal shows when it is staged.
func (c Changes) AppendJSON(dst []byte) []byte { return changesFields.Append(dst, &c) }

// DecodeChanges reads what [Changes.AppendJSON] wrote. Unknown and ill-typed fields are refused with
// a *[FieldError] that names the place.
func DecodeChanges(data string) (Changes, error) { return changesFields.Decode(data) }

// MarshalJSON is [Changes.AppendJSON].
func (c Changes) MarshalJSON() ([]byte, error) {
	for i, g := range c.Goals {
		if err := g.finite(); err != nil {
			return nil, record.Within(record.Indexed("goals", i), err)
		}
	}
	return c.AppendJSON(nil), nil
}

// UnmarshalJSON is [DecodeChanges].
func (c *Changes) UnmarshalJSON(data []byte) (err error) {
	*c, err = DecodeChanges(string(data))
	return err
}

// MarshalJSON returns the change's JSON, without what is nil or empty.
func (c GoalChange) MarshalJSON() ([]byte, error) {
	if err := c.finite(); err != nil {
		return nil, err
	}
	return goalChangeFields.Append(nil, &c), nil
}

// UnmarshalJSON reads a change. Unknown and ill-typed fields are refused with a *[FieldError].
func (c *GoalChange) UnmarshalJSON(data []byte) (err error) {
	*c, err = goalChangeFields.Decode(string(data))
	return err
}

// MarshalJSON returns the change's JSON, without what is nil or empty.
func (c ActionChange) MarshalJSON() ([]byte, error) { return actionChangeFields.Append(nil, &c), nil }

// UnmarshalJSON reads a change. Unknown and ill-typed fields are refused with a *[FieldError].
func (c *ActionChange) UnmarshalJSON(data []byte) (err error) {
	*c, err = actionChangeFields.Decode(string(data))
	return err
}

// finite refuses the numbers that JSON cannot write.
func (c *GoalChange) finite() error {
	if c.Progress != nil && (math.IsNaN(*c.Progress) || math.IsInf(*c.Progress, 0)) {
		return fieldErrorf("progress", "give a number from 0 to 1", "%v is out of range", *c.Progress)
	}
	return nil
}
