package cortex

import (
	"cmp"
	"slices"
)

// Storable returns the changes that [DecodeChanges] would read again, and refuses the others, which hold text that is not UTF-8 or
// numbers and times that no JSON has: they are legal nowhere. It is for who keeps changes to stage them later.
func (c Changes) Storable() (Changes, []Refusal) {
	var w work
	c.Goals = slices.DeleteFunc(slices.Clone(c.Goals), func(g GoalChange) bool {
		err := cmp.Or(g.finite(), goalChangeFields.CheckStorable(&g))
		if err != nil {
			w.refuseGoal("", g.ID, &g, err)
		}
		return err != nil
	})
	c.Actions = slices.DeleteFunc(slices.Clone(c.Actions), func(a ActionChange) bool {
		err := actionChangeFields.CheckStorable(&a)
		if err != nil {
			w.refuseAction("", &a, err)
		}
		return err != nil
	})
	return c, w.refused
}
