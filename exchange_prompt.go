package turnstone

import (
	"cmp"
	"context"
	"errors"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Compile implements [agent.Conversation].
func (e *exchange) Compile(ctx context.Context, o agent.Offer) (llm.Request, error) {
	if err := e.keepLast(ctx); err != nil {
		return llm.Request{}, err
	}
	p := e.opening.early.made(o)
	e.opening.early, e.opening.asked = nil, p
	if p == nil {
		<-e.opening.done
		p = e.ready.made(o)
		e.ready = nil
	}
	if p == nil {
		// What has to leave may just be leaving: making the same pass once more would take longer.
		e.session.engine.shared.underway.wait(ctx, e.session.key)
		var err error
		if p, err = e.keptPrompt(ctx, o); err != nil {
			return llm.Request{}, err
		}
		if p.Opened != "" && p.Passes > 0 && e.recallLeft(ctx) {
			why := p.Opened
			if p, err = e.keptPrompt(ctx, o); err != nil {
				return llm.Request{}, err
			}
			p.Opened = cmp.Or(p.Opened, why)
		}
		e.session.engine.shared.projections.entry(e.session.key).model.Store(e.model)
	}
	r, err := e.session.Request(ctx, p)
	if errors.Is(err, turn.ErrNotFound) && e.opening.asked != nil {
		<-e.opening.done // a picture of the input is in no store before
		r, err = e.session.Request(ctx, p)
	}
	if err != nil {
		return llm.Request{}, err
	}
	e.prompt, e.offer, e.asked = p, o, e.session.engine.config.Clock()
	e.draft.reset(e.session.engine.newID(), p)
	e.recalled.in(p)
	return r, nil
}

// keptPrompt compiles a prompt of who holds the lease, and keeps it.
func (e *exchange) keptPrompt(ctx context.Context, o agent.Offer) (*prompt.Prompt, error) {
	options := e.promptOptions(o)
	options.lease = func(ctx context.Context, tx store.Tx) error {
		return turn.CheckLease(ctx, tx.Log(), e.session.key, e.lease.token)
	}
	p, err := e.session.Prompt(ctx, options)
	if errors.Is(err, errRecalledGone) {
		e.recalled.hits = nil // forgotten since they were found: the model must not see them
		options.Late, options.recalled = e.options.late, nil
		p, err = e.session.Prompt(ctx, options)
	}
	return p, err
}
