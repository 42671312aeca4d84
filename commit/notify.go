package commit

import (
	"context"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
)

// notify is phase 5: the export is in the outbox, so all that is left to do is to wake the relay.
func (p *Pipeline) notify(r *run, w *writing) {
	if w.repeated != nil {
		return
	}
	if len(w.deferred) > 0 {
		p.worker.wake(p.retryAfter(1))
	}
	if p.config.Persisted != nil {
		r.call("relay", p.config.Persisted)
	}
}

// followUp refreshes the follow-up context in the update of the commit. It has no savepoint, which would cost a
// round trip: where it cannot be written, the update is done again without it.
func (r *run) followUp(ctx context.Context, tx store.Tx) error {
	key := dialogue.LightKey{Tenant: r.key.Tenant, Session: r.key.Session}
	switch {
	case r.unkept:
	case r.exchange.FollowUp != nil:
		return tx.Light().StoreLight(ctx, key, *r.exchange.FollowUp)
	case r.situation.Input != "":
		return tx.Light().HearLight(ctx, key, r.situation.Input)
	}
	return nil
}
