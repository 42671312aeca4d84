package scratch

import (
	"cmp"
	"slices"
)

// Storable returns the changes that [DecodeChanges] would read again, and refuses the others, which hold text that is not UTF-8 or
// numbers and times that no JSON has: they are legal nowhere. It is for who keeps changes to stage them later.
func (c Changes) Storable() (Changes, []Refusal) {
	var w work
	c.Put = slices.DeleteFunc(slices.Clone(c.Put), func(put Change) bool {
		err := cmp.Or(put.finite(), changeFields.CheckStorable(&put))
		if err != nil {
			w.refusePut("", &put, err)
		}
		return err != nil
	})
	c.Archive = slices.DeleteFunc(slices.Clone(c.Archive), func(id string) bool {
		err := changesFields.CheckStorable(&Changes{Archive: []string{id}})
		if err != nil {
			w.refuse(Refusal{ID: id, Change: archiveChange(id)}, err)
		}
		return err != nil
	})
	// All or nothing, as when it is staged.
	if err := changesFields.CheckStorable(&Changes{Clear: c.Clear}); err != nil {
		w.refuse(Refusal{Change: clearChange(c.Clear)}, err)
		c.Clear = nil
	}
	return c, w.staged.Refused
}
