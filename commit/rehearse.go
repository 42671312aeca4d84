package commit

import (
	"context"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// foretell refuses what the log would refuse once what waits before it is written: when it is tried again nobody hears of that any
// more. The turns themselves stand in the export.
func (h *historyPart) foretell(ctx context.Context, _ *Pipeline, at *place) error {
	return rehearse(ctx, at.tx, at.info, at.before, h.sealed)
}

// rehearse refuses turns that the log would refuse once what waits before them is written, as far as it ever will be.
func rehearse(ctx context.Context, tx store.Tx, info turn.SessionInfo, before *standing, turns []turn.Sealed) error {
	log := turn.NewTrial(tx.Log(), info)
	if before.waiting[History] {
		histories, err := waitingHistories(ctx, tx, info.Key)
		if err != nil {
			return err
		}
		for _, d := range histories {
			part, err := decodePart(History, d.Payload)
			if err != nil {
				continue // it will be given up
			}
			if err := log.Extend(ctx, part.(*historyPart).sealed...); err != nil {
				continue // so will this
			}
			log.Skip() // its summary
		}
	}
	return ofTurns(log.Extend(ctx, turns...))
}
