package turnstone

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// Export returns the StateExport of that export id, or of the exchange that a turn of that id opened: in the session where
// it was said, where it opened one in forks too.
// event.ErrNotFound where there is none, or it is no longer kept.
func (e *Engine) Export(ctx context.Context, id string) (export commit.StateExport, err error) {
	err = e.store.View(ctx, func(tx store.Tx) error {
		row, err := findExport(ctx, tx, e.config.Tenant, id)
		if err != nil {
			return err
		}
		export, err = commit.Whole(ctx, tx, row)
		return err
	})
	return export, err
}

func findExport(ctx context.Context, tx store.Tx, tenant, id string) (event.Export, error) {
	row, err := tx.Outbox().Export(ctx, tenant, id)
	if !errors.Is(err, event.ErrNotFound) {
		return row, err
	}
	rows, err := tx.Outbox().ExportsOf(ctx, tenant, id)
	if err != nil {
		return event.Export{}, err
	}
	if len(rows) == 0 {
		return event.Export{}, fmt.Errorf("%s is neither an export nor a turn that opened an exchange: %w", id, event.ErrNotFound)
	}
	row = rows[0]
	for _, r := range rows[1:] {
		if r.Segment <= row.Segment { // of one segment it was tried again: what came of it in the end
			row = r
		}
	}
	return row, nil
}

// Trace returns what happened in the exchange that the turn of that id opened, however often it was tried, or whose export
// has that id. Of a turn that opened exchanges in forks too, it is that of the session where it was said, and tells of the
// others. turn.ErrNotFound where nothing is known of it.
func (e *Engine) Trace(ctx context.Context, id string) (t trace.TurnTrace, err error) {
	err = e.store.View(ctx, func(tx store.Tx) error {
		parts, err := commit.Traces(ctx, tx, e.config.Tenant, id)
		if err != nil {
			return err
		}
		if len(parts) == 0 {
			if parts, err = tracesOfExport(ctx, tx, e.config.Tenant, id); err != nil {
				return err
			}
		}
		t, err = join(parts, id)
		return err
	})
	return t, err
}

// tracesOfExport returns the parts of the traces that the turn of an export opened in its session.
func tracesOfExport(ctx context.Context, tx store.Tx, tenant, id string) ([]trace.Part, error) {
	row, err := tx.Outbox().Export(ctx, tenant, id)
	if errors.Is(err, event.ErrNotFound) {
		return nil, fmt.Errorf("trace of %s: give the id of a turn that opened an exchange, or of an export: %w", id, turn.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	parts, err := commit.Traces(ctx, tx, tenant, row.TurnID)
	if err != nil {
		return nil, err
	}
	parts = slices.DeleteFunc(parts, func(p trace.Part) bool { return p.Segment != row.Segment })
	if len(parts) == 0 {
		return nil, fmt.Errorf("trace of %s is no longer kept: %w", id, turn.ErrNotFound)
	}
	return parts, nil
}

// join makes one trace of the parts of the first segment that knows the turn: of those of an export, where some are. It tells
// of the exchanges in other segments.
func join(parts []trace.Part, export string) (trace.TurnTrace, error) {
	var pieces, own []trace.TurnTrace
	var others []trace.Exchange
	for _, p := range parts {
		piece, err := trace.Decode(p.Body)
		if err != nil {
			return trace.TurnTrace{}, fmt.Errorf("part %s: %w", p.ID, err)
		}
		if p.Segment != parts[0].Segment {
			others = append(others, trace.Exchange{Session: piece.Session, ExportID: piece.ExportID})
			continue
		}
		if pieces = append(pieces, piece); piece.ExportID == export {
			own = append(own, piece)
		}
	}
	if len(own) > 0 {
		pieces = own
	}
	whole := trace.Join(pieces...)
	whole.Elsewhere = elsewhere(others, pieces)
	return whole, nil
}

// elsewhere is each of the exchanges once whose export none of the pieces tells of: those of an imported session have the ids of its
// original.
func elsewhere(others []trace.Exchange, pieces []trace.TurnTrace) (distinct []trace.Exchange) {
	for _, other := range others {
		told := slices.ContainsFunc(pieces, func(p trace.TurnTrace) bool { return p.ExportID == other.ExportID })
		if !told && !slices.Contains(distinct, other) {
			distinct = append(distinct, other)
		}
	}
	return distinct
}

// Subscribe has a daemon handle every export of every tenant, in order for each session, at least
// once, until the subscription or the engine is closed or ctx ends. A daemon is known by its name and
// goes on where it stopped. See [bus.Handler] and [bus.Options].
func (e *Engine) Subscribe(ctx context.Context, daemon string, h bus.Handler, o bus.Options) (*bus.Subscription, error) {
	if h == nil {
		return nil, invalid.New("handler", "is nil", "give the function that handles exports")
	}
	return e.shared.bus.Subscribe(ctx, daemon, h, o)
}

// Publish hands everything that waits in the outbox to the daemons' bus now. Nobody needs to call it:
// it is done in the background soon after each commit. Where another bus publishes, see [Engine.Publisher], it does nothing.
func (e *Engine) Publish(ctx context.Context) error { return e.shared.relay.Flush(ctx) }

// Publisher is the name of the bus that publishes the store, empty for the one inside the process, see Config.Bus, and how many
// exports wait for it.
func (e *Engine) Publisher(ctx context.Context) (bus string, waiting int64, err error) {
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		if bus, err = tx.Outbox().Bus(ctx); err != nil {
			return err
		}
		waiting, err = tx.Outbox().CountWaiting(ctx)
		return err
	})
	return bus, waiting, err
}

// DeadLetters returns up to limit exports of the tenant that daemons could not handle, newest first;
// those of one daemon if its name is not empty.
func (e *Engine) DeadLetters(ctx context.Context, daemon string, limit int) (letters []event.Letter, err error) {
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		letters, err = tx.Outbox().Letters(ctx, e.config.Tenant, daemon, limit)
		return err
	})
	return letters, err
}

// CountDeferrals returns how many targets of commits of all tenants could not be written yet.
func (e *Engine) CountDeferrals(ctx context.Context) (n int64, err error) {
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		n, err = tx.Outbox().CountDeferrals(ctx)
		return err
	})
	return n, err
}

// Deferrals returns the targets of the tenant's commits that could not be written yet, oldest first.
func (e *Engine) Deferrals(ctx context.Context) (list []event.Deferral, err error) {
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		list, err = tx.Outbox().Deferrals(ctx, e.config.Tenant)
		return err
	})
	return list, err
}
