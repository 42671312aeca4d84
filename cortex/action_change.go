package cortex

import (
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// apply changes a and returns what it did to it. Of the evidence that a has with others it writes only to a copy. Without
// a step nothing changed; after an error a is of no use.
func (c *ActionChange) apply(a *PendingAction, by Actor, now time.Time) (diff, error) {
	if err := c.checkEvidence(); err != nil {
		return nil, err
	}
	var d diff
	if a.Status == "" {
		if c.Title == nil {
			return nil, fieldErrorf("title", "give one to create it, or the id of an action there is", "is missing%s", nobody("action", c.ID))
		}
		if err := c.begin(a, &d, now); err != nil {
			return nil, err
		}
	} else if c.Type != nil && *c.Type != a.Type {
		return nil, fieldErrorf("type", "create another action", "action %q is of type %s and stays so", a.ID, a.Type)
	}
	finished := !a.Live()
	// What the actor may do depends on whose the action was, not on whom the change gives it to.
	if err := c.applyStatus(a, &d, by, now); err != nil {
		return nil, err
	}
	if err := c.applyRights(a, &d, by); err != nil {
		return nil, err
	}
	set(&d, "title", &a.Title, c.Title)
	set(&d, "goal_id", &a.GoalID, c.GoalID)
	flag(&d, "blocking", &a.Blocking, c.Blocking)
	if c.DueAt != nil {
		if due := c.DueAt.UTC().Truncate(time.Microsecond); !due.Equal(a.DueAt) {
			d.note("due_at", moment(a.DueAt), moment(due))
			a.DueAt = due
		}
	}
	a.Evidence = slices.Clip(a.Evidence)
	for _, e := range c.AddEvidence {
		if !slices.Contains(a.Evidence, e) {
			d.note("evidence", "", e)
			a.Evidence = append(a.Evidence, e)
		}
	}
	if finished && len(d) > 0 {
		return nil, fieldErrorf("id", "create another action", "action %q is %s and stays as it is", a.ID, a.Status)
	}
	return d, a.check()
}

// checkEvidence is as checkLists of goals.
func (c *ActionChange) checkEvidence() error {
	if err := checkCount("add_evidence", len(c.AddEvidence), MaxEvidence); err != nil {
		return err
	}
	for i, e := range c.AddEvidence {
		if err := record.CheckLine(record.Indexed("add_evidence", i), e, MaxLine); err != nil {
			return err
		}
	}
	return nil
}

// begin makes an action what its type says it is at first.
func (c *ActionChange) begin(a *PendingAction, d *diff, now time.Time) error {
	var typ ActionType
	if c.Type != nil {
		typ = *c.Type
		if err := record.CheckText("type", string(typ), MaxLine); err != nil {
			return err
		}
	}
	said := typ
	if !slices.Contains(actionTypes, typ) {
		typ = UserTask
	}
	m := machineOf(string(typ))
	a.Type, a.Owner, a.RequiresConfirmation = typ, m.owner, m.confirm
	a.Status, a.StatusAt, a.CreatedAt = ActionStatus(m.first()), now, now
	if c.Owner != nil {
		a.Owner = *c.Owner
	}
	if said == typ {
		said = ""
	}
	d.note("type", string(said), string(typ))
	d.note("owner", "", string(a.Owner))
	d.note("status", "", string(a.Status))
	return nil
}

func (c *ActionChange) applyStatus(a *PendingAction, d *diff, by Actor, now time.Time) error {
	if c.Status == nil || *c.Status == a.Status {
		return nil
	}
	if err := move(string(a.Type), a.Status, *c.Status); err != nil {
		return err
	}
	if slices.Contains(completions, *c.Status) {
		switch {
		case a.RequiresConfirmation && by != ActorUser:
			return fieldErrorf("status", "let the user acknowledge it", "action %q becomes %s by the user alone", a.ID, *c.Status)
		case a.Owner == OwnerUser && by == ActorAgent:
			return fieldErrorf("status", "let the user say so", "action %q is the user's, the agent cannot make it %s", a.ID, *c.Status)
		}
	}
	set(d, "status", &a.Status, c.Status)
	a.StatusAt = now
	return nil
}

// applyRights changes who may complete the action. The agent may not take that from the user.
func (c *ActionChange) applyRights(a *PendingAction, d *diff, by Actor) error {
	if c.Owner != nil && *c.Owner != a.Owner && a.Owner == OwnerUser && by == ActorAgent {
		return fieldErrorf("owner", "let the user hand it over", "action %q is the user's", a.ID)
	}
	if c.RequiresConfirmation != nil && !*c.RequiresConfirmation && a.RequiresConfirmation {
		if machineOf(string(a.Type)).confirm {
			return fieldErrorf("requires_confirmation", "leave it out", "every %s does", a.Type)
		}
		if by != ActorUser {
			return fieldErrorf("requires_confirmation", "let the user take it back", "action %q waits for the user", a.ID)
		}
	}
	set(d, "owner", &a.Owner, c.Owner)
	flag(d, "requires_confirmation", &a.RequiresConfirmation, c.RequiresConfirmation)
	return nil
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(strictjson.TimeFormat)
}
