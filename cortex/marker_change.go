package cortex

// markerWhy is the reason that changes from markers give.
const markerWhy = "marked in the reply"

// MarkerChanges returns what the markers of an exchange change: one change for each, so that one that is
// refused does not hinder the others. They are about the active goal, the zero Goal where there is
// none; one that ends it comes last, since the rest of the reply is still about it. A [GOAL] marker of
// another title begins that goal, and the markers after it are part of the change that does. The next
// steps come together and replace the ones before. Markers that are about no goal are left out. A change
// names the turn of its marker.
func MarkerChanges(markers []Marker, active Goal) []GoalChange {
	active = active.clone()
	var changes, ends []GoalChange
	var steps *[]string // of the goal that the markers are about
	begun := -1         // the change that creates it
	for _, m := range markers {
		if m.Kind == MarkGoal && !sameWords(m.Text, active.Title) {
			begun, steps, active = len(changes), nil, Goal{Title: m.Text}
			changes = append(changes, GoalChange{By: ActorAgent, TurnID: m.TurnID, Why: markerWhy, Title: &m.Text})
		}
		if active.ID == "" && begun < 0 {
			continue
		}
		own := GoalChange{ID: active.ID, By: ActorAgent, TurnID: m.TurnID, Why: markerWhy}
		c := &own
		if begun >= 0 && !m.unlocks(&active) {
			c = &changes[begun]
		} else if begun >= 0 {
			// It is going to be refused, which must not keep the goal from beginning.
			title := active.Title
			own.Title = &title
		}
		if m.Kind == MarkNext && steps != nil {
			*steps = appendNew(*steps, m.Text)
			continue
		}
		if m.Kind == MarkNext {
			steps = &[]string{m.Text}
			c.NextSteps = steps
		}
		said := m.addTo(c, &active)
		switch {
		case c != &own || !said && m.Kind != MarkNext:
		case own.Status != nil && final(goalMachine, string(*own.Status)):
			ends = append(ends, own)
		default:
			changes = append(changes, own)
		}
	}
	return append(changes, ends...)
}

// addTo writes into c what the marker says of goal g, and reports whether it says anything. G learns
// the names, for the markers after it.
func (m *Marker) addTo(c *GoalChange, g *Goal) bool {
	switch m.Kind {
	case MarkGoal:
		if m.Status != "" {
			status := GoalStatus(m.Status)
			c.Status = &status
		}
		return m.Status != ""
	case MarkMilestone:
		milestone := Milestone{Description: g.milestoneLike(m.Text), Status: MilestoneStatus(m.Status)}
		c.AddMilestones = append(c.AddMilestones, milestone)
		g.Milestones = append(g.Milestones, milestone)
	case MarkDecision:
		description := g.decisionLike(m.Text)
		if m.unlocks(g) {
			no := false
			c.SetDecisions = append(c.SetDecisions, DecisionChange{Description: description, Locked: &no})
		} else {
			decision := Decision{Description: description, Locked: m.Status == statusLocked}
			c.AddDecisions = append(c.AddDecisions, decision)
			g.Decisions = append(g.Decisions, decision)
		}
	case MarkArtifact:
		c.AddArtifacts = append(c.AddArtifacts, Artifact{Path: m.Text, Action: ArtifactAction(m.Status)})
	default:
		return false
	}
	return true
}

// unlocks reports whether the marker wants to unlock a decision of the goal.
func (m *Marker) unlocks(g *Goal) bool {
	return m.Kind == MarkDecision && m.Status == statusUnlocked && g.decision(g.decisionLike(m.Text)) >= 0
}

// milestoneLike returns the description of the goal's milestone that the text names: models write the
// same words in another case.
func (g *Goal) milestoneLike(text string) string {
	if i := g.milestone(text); i >= 0 {
		return g.Milestones[i].Description
	}
	return text
}

// decisionLike is milestoneLike for decisions.
func (g *Goal) decisionLike(text string) string {
	if i := g.decision(text); i >= 0 {
		return g.Decisions[i].Description
	}
	return text
}

func appendNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}
