package commit

import (
	"context"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/trace"
)

// notify is phase 5: the export is in the outbox, so all that is left to do is to wake the relay. The
// follow-up context is refreshed here too, since where it lives is no part of the update: it is gone
// with the session anyway.
func (p *Pipeline) notify(ctx context.Context, r *run, w *writing) {
	if w.repeated != nil {
		return
	}
	if len(w.deferred) > 0 {
		p.worker.wake(p.retryAfter(1))
	}
	if p.config.Persisted != nil {
		r.call("relay", p.config.Persisted)
	}
	if err := p.followUp(ctx, r); err != nil {
		r.trace.Note(trace.Failure, "follow-up context: "+err.Error())
	}
}

func (p *Pipeline) followUp(ctx context.Context, r *run) error {
	key := dialogue.LightKey{Tenant: r.key.Tenant, Session: r.key.Session}
	light := p.store.Light()
	if r.exchange.FollowUp != nil {
		return light.Store(ctx, key, *r.exchange.FollowUp)
	}
	if r.situation.Input == "" {
		return nil
	}
	c, _, err := light.Retrieve(ctx, key)
	if err != nil {
		return err
	}
	c.LastUserMessage = &r.situation.Input
	return light.Store(ctx, key, c)
}
