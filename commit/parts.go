package commit

import (
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/turn"
)

// parts are what the run has for the four targets, in the order they are written.
func (r *run) parts() []part {
	all := &struct { // made at once
		history historyPart
		memory  memoryPart
		cortex  cortexPart
		scratch scratchPart
		list    [4]part
	}{
		history: historyPart{
			drafts: r.drafts, sealed: r.sealed, opened: r.openedAt, openedBy: r.openedBy,
			summaryID: r.summaryID, summary: r.lasting(), decided: r.citations(), believe: r.exchange.Believe,
		},
		memory:  memoryPart{items: r.selected.Kept, selected: &r.selected, archive: r.selected.Archive},
		cortex:  cortexPart{changes: r.intentions, ids: r.idsIn, base: r.base.intentions, staged: r.stagedIn},
		scratch: scratchPart{changes: r.scratch, clear: r.clear, ids: r.idsOn, base: r.situation.Page, staged: r.stagedOn},
	}
	all.list = [4]part{&all.history, &all.memory, &all.cortex, &all.scratch}
	return all.list[:]
}

// lasting is the summary for the history. What got no reply once more is summed up there already: who tries for hours
// would fill the log with it.
func (r *run) lasting() memory.Summary {
	if r.exchange.Again && !slices.ContainsFunc(r.situation.Turns, func(t Said) bool { return t.Role == turn.Agent }) {
		return memory.Summary{}
	}
	return r.summary
}

// decodePart makes a part of its payload.
func decodePart(target Target, payload string) (part, error) {
	switch target {
	case History:
		h, err := historyPartFields.Decode(payload)
		if err != nil {
			return nil, err
		}
		for _, d := range h.drafts {
			sealed, err := d.Seal(boundless)
			if err != nil {
				return nil, err
			}
			h.sealed = append(h.sealed, sealed)
		}
		return &h, nil
	case Memory:
		m, err := memoryPartFields.Decode(payload)
		return &m, err
	case Cortex:
		c := &cortexPart{}
		text, err := cutTexts(payload, map[string]*[]string{"ids": &c.ids})
		if err != nil {
			return nil, err
		}
		c.changes, err = cortex.DecodeChanges(text)
		return c, err
	case Scratch:
		s := &scratchPart{}
		text, err := cutTexts(payload, map[string]*[]string{"ids": &s.ids, "clear_too": &s.clear})
		if err != nil {
			return nil, err
		}
		s.changes, err = scratch.DecodeChanges(text)
		return s, err
	}
	return nil, fmt.Errorf("%q is not a target", target)
}
