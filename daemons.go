package turnstone

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

// Daemons returns how far each daemon has come that reads exports from the store, by name, and the
// number of the export that was published last: 0 where there is none.
func (e *Engine) Daemons(ctx context.Context) (marks []event.Mark, last int64, err error) {
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		if last, err = tx.Outbox().LastPublished(ctx); err != nil {
			return err
		}
		marks, err = tx.Outbox().Marks(ctx)
		return err
	})
	return marks, last, err
}

// Published looks at up to limit exports of all tenants that were published with a number greater than
// after, and returns those that are still kept, in that order, and the number to go on after. It is
// for those who only look on: a daemon has what it did recorded, see [Engine.Subscribe]. In the place of an export that cannot be read,
// since it is damaged or a newer program wrote it, stands what is known of it, see [commit.Unreadable].
func (e *Engine) Published(ctx context.Context, after int64, limit int) (messages []event.Message, through int64, err error) {
	through = after
	err = e.store.View(ctx, func(tx store.Tx) error {
		exports, err := tx.Outbox().Published(ctx, after, limit)
		if err != nil {
			return err
		}
		for _, row := range exports {
			found, err := seen(ctx, tx, row)
			if err != nil {
				return err
			}
			messages, through = append(messages, found...), row.Sent
		}
		return nil
	})
	return messages, through, err
}

// PublishedAfter is [Engine.Published] for a tenant, which is told nothing of the others: up to limit exports of its own
// that were published after the one of that id, or all of them after an empty one, those that are still kept, and the id
// to go on after. After an id that the tenant has no export of, since it was swept, come all that are kept.
func (e *Engine) PublishedAfter(ctx context.Context, after string, limit int) (messages []event.Message, through string, err error) {
	tenant := e.config.Tenant
	err = e.store.View(ctx, func(tx store.Tx) error {
		messages, through = nil, after
		from, err := tx.Outbox().Export(ctx, tenant, after)
		if err != nil && !errors.Is(err, event.ErrNotFound) {
			return fmt.Errorf("published export %s: %w", after, err)
		}
		passed := false // over all that is not kept from the first on
		for number := from.Sent; ; {
			rows, err := tx.Outbox().PublishedOf(ctx, tenant, number, limit)
			if err != nil {
				return err
			}
			before := len(messages)
			for _, row := range rows {
				if len(messages) == limit {
					return nil
				}
				found, err := seen(ctx, tx, row)
				if err != nil {
					return err
				}
				messages, through, number = append(messages, found...), row.ID, row.Sent
			}
			if len(messages) >= limit || len(rows) < limit {
				return nil
			}
			if len(messages) > before || passed {
				continue
			}
			swept, err := tx.Outbox().SweptThrough(ctx)
			if err != nil {
				return err
			}
			number, passed = max(number, swept), true
		}
	})
	if err != nil {
		return nil, after, err
	}
	return messages, through, nil
}

// seen is the message of an export for those who look on: none where it is no longer kept. What they cannot read must not keep them
// from what comes behind it.
func seen(ctx context.Context, tx store.Tx, row event.Export) ([]event.Message, error) {
	found, err := commit.Messages(ctx, tx, []event.Export{row})
	switch {
	case err == nil:
		return found, nil
	case row.Body == "":
		return nil, nil
	case bus.Away(err):
		return nil, err
	}
	// Where the store goes on answering, the error is about the export.
	if _, away := tx.Outbox().LastPublished(ctx); away != nil {
		return nil, err
	}
	return []event.Message{commit.Unreadable(row, err)}, nil
}
