package commit

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/scratch"
)

// parts are what the run has for the four targets, in the order they are written.
func (r *run) parts() []part {
	return []part{
		&historyPart{
			drafts: r.drafts, sealed: r.sealed, opened: r.openedAt, openedBy: r.openedBy,
			summaryID: r.summaryID, summary: r.summary, decided: r.citations(), believe: r.exchange.Believe,
		},
		&memoryPart{items: r.selected.Kept, selected: &r.selected, archive: r.selected.Archive},
		&cortexPart{changes: r.intentions, base: r.base.intentions, staged: r.stagedIn},
		&scratchPart{changes: r.scratch, base: r.base.page, staged: r.stagedOn},
	}
}

// decodePart makes a part of its payload.
func decodePart(p *Pipeline, target Target, payload string) (part, error) {
	switch target {
	case History:
		h, err := historyPartFields.Decode(payload)
		if err != nil {
			return nil, err
		}
		for _, d := range h.drafts {
			sealed, err := d.Seal(p.config.Limits)
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
		changes, err := cortex.DecodeChanges(payload)
		return &cortexPart{changes: changes}, err
	case Scratch:
		changes, err := scratch.DecodeChanges(payload)
		return &scratchPart{changes: changes}, err
	}
	return nil, fmt.Errorf("%q is not a target", target)
}
