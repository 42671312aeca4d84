package commit

import (
	"slices"

	"github.com/turnstone-dev/turnstone/event"
)

// nameAsTold has what a part creates get the ids that the export told daemons of when the part was put off. Where the
// export's body is gone there are none.
func nameAsTold(p part, e event.Export) {
	o, err := outboxedFields.Decode(e.Body)
	if err != nil {
		return
	}
	switch p := p.(type) {
	case *cortexPart:
		p.told = idsOf(o.export.Cortex.UpdatedGoals, o.export.Cortex.UpdatedActions)
	case *scratchPart:
		p.told = idsOf(o.export.Scratch.Updated)
	}
}

func idsOf(lists ...[]Update) (ids []string) {
	for _, u := range slices.Concat(lists...) {
		ids = append(ids, u.ID)
	}
	return ids
}

// idsAsTold hands out the ids that were told and that nothing has yet, in their order, and then new ones.
func idsAsTold(told []string, taken func(id string) bool, newID func() string) func() string {
	free := slices.DeleteFunc(slices.Clone(told), taken)
	return func() string {
		if len(free) == 0 {
			return newID()
		}
		id := free[0]
		free = free[1:]
		return id
	}
}
