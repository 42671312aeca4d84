package cortex

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/turnstone-dev/turnstone/internal/record"
)

// newGoal is a goal as it is before the change that creates it.
func newGoal(id string, now time.Time) Goal {
	return Goal{ID: id, Priority: PriorityMedium, CreatedAt: now}
}

// apply changes g and returns what it did to it. Of the lists that g has with others it writes only to copies. Without a
// step nothing changed; after an error g is of no use.
func (c *GoalChange) apply(g *Goal, now time.Time) (diff, error) {
	if err := c.checkLists(); err != nil {
		return nil, err
	}
	created := g.Status == ""
	if created && c.Title == nil {
		return nil, fieldErrorf("title", "give one to create it, or the id of a goal there is", "is missing%s", nobody("goal", c.ID))
	}
	var d diff
	if created {
		g.Status = GoalStatus(machineOf(goalMachine).first())
		d.note("status", "", string(g.Status))
	}
	finished := !g.Status.live()
	set(&d, "title", &g.Title, c.Title)
	set(&d, "description", &g.Description, c.Description)
	set(&d, "priority", &g.Priority, c.Priority)
	set(&d, "parent", &g.Parent, c.Parent)
	if err := c.applyMilestones(g, &d); err != nil {
		return nil, err
	}
	if err := c.applyDecisions(g, &d); err != nil {
		return nil, err
	}
	c.applyArtifacts(g, &d)
	if c.NextSteps != nil && !slices.Equal(g.NextSteps, *c.NextSteps) {
		d.note("next_steps", strconv.Itoa(len(g.NextSteps)), strconv.Itoa(len(*c.NextSteps)))
		g.NextSteps = slices.Clone(*c.NextSteps)
	}
	if c.Status != nil && *c.Status != g.Status {
		if err := move(goalMachine, g.Status, *c.Status); err != nil {
			return nil, err
		}
		set(&d, "status", &g.Status, c.Status)
		if g.Status == GoalCompleted {
			g.CompletedAt = now
		}
	}
	c.applyProgress(g, &d)
	if finished && len(d) > 0 {
		return nil, fieldErrorf("id", "create another goal", "goal %q is %s and stays as it is", g.ID, g.Status)
	}
	return d, g.check()
}

// checkLists comes before any of them is looked for in the goal: a change may list as much as a request holds, and what is wrong
// in it is named as it stands there.
func (c *GoalChange) checkLists() error {
	for _, list := range [...]struct {
		field   string
		n, most int
	}{
		{"add_milestones", len(c.AddMilestones), MaxMilestones}, {"set_milestones", len(c.SetMilestones), MaxMilestones},
		{"add_decisions", len(c.AddDecisions), MaxDecisions}, {"set_decisions", len(c.SetDecisions), MaxDecisions},
		{"remove_decisions", len(c.RemoveDecisions), MaxDecisions}, {"lock", len(c.Lock), MaxDecisions},
		{"add_artifacts", len(c.AddArtifacts), MaxArtifacts},
	} {
		if err := checkCount(list.field, list.n, list.most); err != nil {
			return err
		}
	}
	for i, m := range c.AddMilestones {
		m.Status = cmp.Or(m.Status, MilestonePending)
		if err := m.check(); err != nil {
			return record.Within(record.Indexed("add_milestones", i), err)
		}
	}
	for i, d := range c.AddDecisions {
		if err := d.check(); err != nil {
			return record.Within(record.Indexed("add_decisions", i), err)
		}
	}
	for i, a := range c.AddArtifacts {
		a.Type = cmp.Or(a.Type, fileArtifact)
		if err := a.check(); err != nil {
			return record.Within(record.Indexed("add_artifacts", i), err)
		}
	}
	return nil
}

func checkCount(field string, n, most int) error {
	if n > most {
		return fieldErrorf(field, fmt.Sprintf("give at most %d", most), "there are %d", n)
	}
	return nil
}

func (c *GoalChange) applyMilestones(g *Goal, d *diff) error {
	if len(c.AddMilestones)+len(c.SetMilestones) == 0 {
		return nil
	}
	g.Milestones = slices.Clone(g.Milestones)
	put := func(m Milestone, i int) {
		if i < 0 {
			m.Status = cmp.Or(m.Status, MilestonePending)
			g.Milestones = append(g.Milestones, m)
			d.note(element("milestones", m.Description), "", string(m.Status))
		} else if m.Status != "" {
			set(d, element("milestones", g.Milestones[i].Description), &g.Milestones[i].Status, &m.Status)
		}
	}
	for _, m := range c.AddMilestones {
		put(m, g.milestone(m.Description))
	}
	for n, m := range c.SetMilestones {
		i := g.milestone(m.Description)
		if i < 0 {
			return fieldErrorf(record.Indexed("set_milestones", n), "add it, or use a description there is",
				"the goal has no milestone %q", excerpt(m.Description))
		}
		if err := m.check(); err != nil {
			return record.Within(record.Indexed("set_milestones", n), err)
		}
		put(m, i)
	}
	return nil
}

func (c *GoalChange) applyDecisions(g *Goal, d *diff) error {
	if len(c.AddDecisions)+len(c.SetDecisions)+len(c.RemoveDecisions)+len(c.Lock) == 0 {
		return nil
	}
	g.Decisions = slices.Clone(g.Decisions)
	for n, add := range c.AddDecisions {
		i := g.decision(add.Description)
		if i < 0 {
			d.note(element("decisions", add.Description), "", locked(add.Locked))
			g.Decisions = append(g.Decisions, add)
			continue
		}
		change := DecisionChange{Description: add.Description}
		if add.Rationale != "" {
			change.Rationale = &add.Rationale
		}
		if add.Locked {
			change.Locked = &add.Locked
		}
		if err := change.apply(g, d); err != nil {
			return record.Within(record.Indexed("add_decisions", n), err)
		}
	}
	for n, change := range c.SetDecisions {
		if err := change.apply(g, d); err != nil {
			return record.Within(record.Indexed("set_decisions", n), err)
		}
	}
	for n, description := range c.RemoveDecisions {
		i := g.decision(description)
		if i < 0 {
			continue
		}
		if g.Decisions[i].Locked {
			return record.Within(record.Indexed("remove_decisions", n), lockedError(g.Decisions[i].Description))
		}
		d.note(element("decisions", g.Decisions[i].Description), locked(false), "removed")
		g.Decisions = slices.Delete(g.Decisions, i, i+1)
	}
	yes := true
	for n, description := range c.Lock {
		change := DecisionChange{Description: description, Locked: &yes}
		if err := change.apply(g, d); err != nil {
			return record.Within(record.Indexed("lock", n), err)
		}
	}
	return c.checkRenamed(g)
}

// checkRenamed refuses a new description that another decision has, in whatever case: not both would be found by it.
func (c *GoalChange) checkRenamed(g *Goal) error {
	for n, change := range c.SetDecisions {
		if change.Rename == nil {
			continue
		}
		name := *change.Rename
		i := g.decision(name)
		if i < 0 || g.Decisions[i].Description != name {
			continue // renamed again, or removed
		}
		for other := range g.Decisions {
			if other != i && sameWords(g.Decisions[other].Description, name) {
				return record.Within(record.Indexed("set_decisions", n),
					fieldErrorf("rename", "use other words", "the goal has the decision %q already", excerpt(g.Decisions[other].Description)))
			}
		}
	}
	return nil
}

func (c *DecisionChange) apply(g *Goal, d *diff) error {
	i := g.decision(c.Description)
	if i < 0 {
		return fieldErrorf("description", "add it, or use a description there is", "the goal has no decision %q", excerpt(c.Description))
	}
	was := g.Decisions[i]
	now := was
	name := element("decisions", was.Description)
	var steps diff
	set(&steps, name+".description", &now.Description, c.Rename)
	set(&steps, name+".rationale", &now.Rationale, c.Rationale)
	if c.Locked != nil && *c.Locked != was.Locked {
		steps.note(name, locked(was.Locked), locked(*c.Locked))
		now.Locked = *c.Locked
	}
	if was.Locked && now != was {
		return lockedError(was.Description)
	}
	*d = append(*d, steps...)
	g.Decisions[i] = now
	return nil
}

func locked(yes bool) string {
	if yes {
		return "locked"
	}
	return "open"
}

func lockedError(description string) error {
	return fieldErrorf("", "add another decision that says what is different", "decision %q is locked and stays as it is", excerpt(description))
}

func (c *GoalChange) applyArtifacts(g *Goal, d *diff) {
	if len(c.AddArtifacts) == 0 {
		return
	}
	g.Artifacts = slices.Clone(g.Artifacts)
	for _, a := range c.AddArtifacts {
		i := g.artifact(a.Path)
		if i < 0 {
			a.Type = cmp.Or(a.Type, fileArtifact)
			g.Artifacts = append(g.Artifacts, a)
			d.note(element("artifacts", a.Path), "", string(a.Action))
			continue
		}
		if a.Type != "" {
			set(d, element("artifacts", a.Path)+".type", &g.Artifacts[i].Type, &a.Type)
		}
		set(d, element("artifacts", a.Path), &g.Artifacts[i].Action, &a.Action)
	}
}

// applyProgress sets the progress that the change gives, or else what follows from the milestones
// where it touched them and from the status where it completed the goal.
func (c *GoalChange) applyProgress(g *Goal, d *diff) {
	to := g.Progress
	switch {
	case c.Progress != nil:
		to = *c.Progress
	case c.Status != nil && g.Status == GoalCompleted:
		to = 1
	case len(c.AddMilestones)+len(c.SetMilestones) > 0:
		done := 0
		for _, m := range g.Milestones {
			if m.Status == MilestoneCompleted {
				done++
			}
		}
		to = float64(done) / float64(max(len(g.Milestones), 1))
	}
	if to != g.Progress {
		number := func(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) }
		d.note("progress", number(g.Progress), number(to))
		g.Progress = to
	}
}
