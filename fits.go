package turnstone

import (
	"context"
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Fits refuses settings that no prompt of the model can begin with, or with which none can end with a message of the user's that has
// those texts for its parts, whatever was said before: ahead of making a session, or keeping anything, for a call that has no chance.
// Results of tools with the call that they answer take as much at least.
// It returns how many tokens are left of the window, at least. A context of 0 is as in [PromptOptions]. An error that names the field
// says what is wrong with the settings, and a *[budget.OverBudgetError] where the tokens go of what alone is too much.
func (e *Engine) Fits(ctx context.Context, model string, context int, settings prompt.Settings, said ...string) (room int, err error) {
	if err := settings.Check(); err != nil {
		return 0, err
	}
	window, err := e.windowOf(model, context)
	if err != nil {
		return 0, err
	}
	if room = window.Usable - window.Reserve - most(&settings, said); room >= 0 {
		return room, nil
	}
	sealed, err := settings.Seal()
	if err != nil {
		return 0, err
	}
	nobodys := turn.SessionInfo{Key: turn.Key{Tenant: e.config.Tenant, Session: e.newID()}}
	turns, message := saidAlone{}, e.newID()
	for _, text := range said {
		nobodys.Head++
		turns.said = append(turns.said, turn.Turn{
			ID: e.newID(), Seq: nobodys.Head, MessageID: message, Role: turn.User, Form: turn.FormText, Kind: turn.KindTurn, Content: turn.Text{Text: text},
		})
	}
	e.shared.counters.prepare(ctx, model)
	err = e.store.View(ctx, func(tx store.Tx) error {
		counter, err := e.shared.counters.of(ctx, tx, e.config.Tenant, model)
		if err != nil {
			return err
		}
		rows := promptRows(tx)
		turns.TurnRows, rows.Turns = rows.Turns, turns
		compiled, err := prompt.Compile(ctx, rows, prompt.Request{
			Session: nobodys, Settings: &sealed, Default: e.shared.defaults, Model: model, Window: window, Counter: counter,
			Compression: budget.Compression{Off: true},
		}, nil)
		if err == nil {
			room = compiled.Prompt.Account.Free()
		}
		return err
	})
	return max(room, 0), err
}

// saidAlone are the turns of a session that is in no store.
type saidAlone struct {
	turn.TurnRows
	said []turn.Turn
}

// Scan implements [turn.TurnRows] for what a prompt asks that shows all there is.
func (s saidAlone) Scan(_ context.Context, _ string, span turn.Span, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	turns := slices.DeleteFunc(slices.Clone(s.said), func(t turn.Turn) bool { return t.Seq < span.From || t.Seq > span.To })
	if f.Newest {
		slices.Reverse(turns)
	}
	return turns[:min(len(turns), limit)], nil
}

// most is how many tokens settings and a message can have, without counting them: a token has a byte at least, and what stands
// around settings is less than as much again.
func most(s *prompt.Settings, said []string) int {
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
	bytes *= 2
	for _, text := range said {
		bytes += around + len(text)
	}
	return bytes
}
