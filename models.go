package turnstone

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Models are the models that the engine knows, in their order; see [Engine.Profile].
func (e *Engine) Models() []budget.Profile { return e.config.Profiles.All() }

// Count counts the tokens of a text for a model as its prompts are counted, by what was learned of the model so far; without
// what its template puts around a message.
func (e *Engine) Count(ctx context.Context, model, text string) (count budget.Count, err error) {
	if err := (&turn.SessionInfo{Model: model}).CheckInfo(); err != nil {
		return count, err
	}
	e.shared.counters.prepare(ctx, model)
	var counter *budget.Counter
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		counter, err = e.shared.counters.of(ctx, tx, e.config.Tenant, model)
		return err
	})
	if err != nil {
		return count, fmt.Errorf("count for %s: %w", model, err)
	}
	return counter.Tokens(counter.Text(text)), nil
}
