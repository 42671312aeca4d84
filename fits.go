package turnstone

import (
	"context"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Fits refuses settings that no prompt of the model can begin with, whatever was said: before a session is made, or anything is kept, for a call
// that has no chance. A context of 0 is as in [PromptOptions]. An error that names the field says what is
// wrong with the settings, and a *[budget.OverBudgetError] where the tokens go of those that alone are too much.
func (e *Engine) Fits(ctx context.Context, model string, context int, settings prompt.Settings) error {
	if err := settings.Check(); err != nil {
		return err
	}
	window, err := e.windowOf(model, context)
	if err != nil {
		return err
	}
	if roomy(&settings, window.Usable-window.Reserve) {
		return nil
	}
	sealed, err := settings.Seal()
	if err != nil {
		return err
	}
	e.shared.counters.prepare(ctx, model)
	return e.store.View(ctx, func(tx store.Tx) error {
		counter, err := e.shared.counters.of(ctx, tx, e.config.Tenant, model)
		if err != nil {
			return err
		}
		nobodys := turn.SessionInfo{Key: turn.Key{Tenant: e.config.Tenant, Session: e.newID()}}
		_, err = prompt.Compile(ctx, promptRows(tx), prompt.Request{
			Session: nobodys, Settings: &sealed, Default: e.shared.defaults, Model: model, Window: window, Counter: counter,
		}, nil)
		return err
	})
}

// roomy reports whether settings fit into so many tokens without counting them: a token has a byte at least, and what stands around
// them is less than as much again.
func roomy(s *prompt.Settings, tokens int) bool {
	const around = 256 // of each text
	bytes := around + len(s.System)
	for _, texts := range [][]string{s.Mandates, s.Checks} {
		for _, text := range texts {
			bytes += around + len(text)
		}
	}
	for _, materials := range [][]prompt.Material{s.Skills, s.Sticky} {
		for _, m := range materials {
			bytes += around + len(m.Name) + len(m.Text)
		}
	}
	for _, tool := range s.Tools {
		bytes += around + len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}
	return 2*bytes <= tokens
}
