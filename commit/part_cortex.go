package commit

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// cortexPart is what is to become of goals and actions.
type cortexPart struct {
	changes cortex.Changes
	// staged is what the changes come to on top of base, so that nothing is staged again where base is
	// still what is there.
	base   *cortex.State
	staged cortex.Staged
	update CortexUpdate // what the export tells of staged
	ids    []string     // for what the changes create
}

func (c *cortexPart) target() Target { return Cortex }

func (c *cortexPart) empty() bool { return len(c.changes.Goals)+len(c.changes.Actions) == 0 }

func (c *cortexPart) storable() (part, []Refusal) {
	kept := *c
	changes, refused := c.changes.Storable()
	kept.changes = changes
	if len(refused) > 0 {
		kept.base = nil // nobody staged what is left
		kept.ids = kept.ids[:unnamedIn(changes)]
	}
	return &kept, refusalsIn(refused)
}

func (c *cortexPart) payload() []byte { return appendTexts(c.changes.AppendJSON(nil), "ids", c.ids) }

// stage stages the changes on what is there, if that is not what they were staged on.
func (c *cortexPart) stage(ctx context.Context, p *Pipeline, at *place) (cortex.Staged, CortexUpdate, error) {
	info := &at.info
	state, err := at.before.intentions.Including(ctx, at.tx.Cortex(), info.Tenant, info.Lineage(info.Head), c.changes)
	if err != nil || state == c.base {
		return c.staged, c.update, err
	}
	// What nobody asked for cannot be refused either.
	changes := c.changes
	changes.Actions = slices.DeleteFunc(slices.Clone(changes.Actions), state.Moot)
	staged := state.Stage(changes, at.now, p.given(c.ids))
	return staged, describeIntentions(&staged), nil
}

func (c *cortexPart) foretell(ctx context.Context, p *Pipeline, at *place) (err error) {
	_, at.cortex, err = c.stage(ctx, p, at)
	return err
}

func (c *cortexPart) apply(ctx context.Context, p *Pipeline, at *place) error {
	staged, update, err := c.stage(ctx, p, at)
	if err != nil {
		return err
	}
	info := &at.info
	if err := cortex.Write(ctx, at.tx.Cortex(), info.Tenant, info.Segment, at.said(), staged); err != nil {
		return err
	}
	if err := p.announceEscalated(ctx, at.tx, info.Key, staged); err != nil {
		return err
	}
	c.written(at, &staged, &update)
	return nil
}

// written notes what was written.
func (c *cortexPart) written(at *place, staged *cortex.Staged, update *CortexUpdate) {
	at.next.intentions = staged.Next
	at.cortex, at.stagedIn = *update, *staged
	at.refused = append(at.refused, refusalsIn(staged.Refused)...)
}

func refusalsIn(refused []cortex.Refusal) (list []Refusal) {
	for _, r := range refused {
		list = append(list, Refusal{What: named(string(r.Kind), r.ID, string(r.Change)), Reason: r.Reason})
	}
	return list
}

// describeIntentions tells of the staged versions in the order of their changes.
func describeIntentions(staged *cortex.Staged) CortexUpdate {
	u := CortexUpdate{CompletedGoals: staged.CompletedGoals, CompletedActions: staged.CompletedActions}
	for i := range staged.Rows {
		row, list := &staged.Rows[i], &u.UpdatedGoals
		if row.Kind == cortex.KindAction {
			list = &u.UpdatedActions
		}
		*list = append(*list, Update{ID: row.ID, Change: staged.Updates[i].Text})
	}
	return u
}

// named says which goal, action or observation a change is about: by its id or, for a new one, by what it
// is called.
func named(kind, id, change string) string {
	if id != "" {
		return kind + " " + id
	}
	called := ""
	err := strictjson.Object(change, func(name string, v strictjson.Raw) (err error) {
		if name == "title" || name == "content" {
			called, err = v.String()
		}
		return err
	})
	if err != nil || called == "" {
		return kind
	}
	return fmt.Sprintf("%s %q", kind, firstLine(called))
}
