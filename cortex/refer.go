package cortex

import "slices"

// lineUp is what is known of the changes of goals while they are staged, so that one may be part of a goal that a later change makes.
type lineUp struct {
	goals  []GoalChange
	at     int          // the change whose turn it is
	ahead  map[int]bool // changes behind it that were staged before their turn
	makers map[string]int
	making []string // goals that wait for their parents to be made, each for the one behind it
}

// makeParent stages the change that makes the goal which this one is to be part of, where that is still to come.
func (w *work) makeParent(c *GoalChange) {
	if c.Parent == nil || *c.Parent == "" {
		return
	}
	if _, known := w.next.goal(*c.Parent); known {
		return
	}
	if w.makers == nil {
		w.ahead, w.makers = make(map[int]bool), make(map[string]int)
		for i, g := range slices.Backward(w.goals) {
			if g.ID != "" && g.Title != nil {
				w.makers[g.ID] = i
			}
		}
	}
	i, made := w.makers[*c.Parent]
	if !made || i <= w.at || w.ahead[i] {
		return
	}
	w.ahead[i] = true
	w.making = append(w.making, c.ID)
	w.stageGoal(i)
	w.making = w.making[:len(w.making)-1]
}

// placed refuses a parent that is not there or leads back to the goal. What a goal was part of before it may stay part of. A parent
// further up that is not in the state, being finished or in a store from before it was asked for, ends the way.
func (w *work) placed(g *Goal, before string) error {
	if g.Parent == before || g.Parent == "" {
		return nil
	}
	circle := fieldErrorf("parent", "name a goal that is not part of it", "goal %q cannot be part of %q", g.ID, g.Parent)
	if slices.Contains(w.making, g.Parent) && w.refer("parent", g.Parent) != nil {
		return circle // each waits for the other to be made
	}
	if err := w.refer("parent", g.Parent); err != nil && g.Parent != g.ID {
		return err
	}
	for id, steps := g.Parent, 0; id != "" && steps <= len(w.next.goals); steps++ {
		if id == g.ID {
			return circle
		}
		i, ok := w.next.goal(id)
		if !ok {
			return nil
		}
		id = w.next.goals[i].Parent
	}
	return nil
}

// refer refuses the id of a goal that is not there.
func (w *work) refer(field, id string) error {
	if _, known := w.next.goal(id); known || id == "" {
		return nil
	}
	return fieldErrorf(field, "list the goals, with those that are finished, and give the id of one, or make it with the same changes",
		"there is no goal %q", id)
}
