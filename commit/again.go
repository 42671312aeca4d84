package commit

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// UsedError says that the name of an exchange, its export id, is another's. It is a [turn.ErrConflict].
type UsedError struct {
	Name string // "export_id 01J…", or what the caller calls it
	Why  string
}

func (e *UsedError) Error() string {
	return fmt.Sprintf("%s %s: %s; use a new one", e.Name, e.Why, turn.ErrConflict)
}

// Unwrap returns turn.ErrConflict.
func (e *UsedError) Unwrap() error { return turn.ErrConflict }

// remedy is what to do about an exchange that was committed already.
func remedy(e event.Export) string {
	if State(e.Status) == Failed {
		return "it failed: give again as true to answer it now"
	}
	return "try again under that export_id"
}

// tried is mayTryAgain before anybody is asked for a reply.
func (p *Pipeline) tried(ctx context.Context, r *run) error {
	if !r.exchange.Again {
		return nil
	}
	return p.store.View(ctx, func(tx store.Tx) error { return mayTryAgain(ctx, tx, r.situation.Session, r) })
}

// mayTryAgain refuses to try an exchange again that did not fail, or behind which others were committed: their turns would be told as its
// own. Who holds the lease knows of both.
func mayTryAgain(ctx context.Context, tx store.Tx, info turn.SessionInfo, r *run) error {
	if !r.exchange.Again || r.exchange.Lease != "" {
		return nil
	}
	exports, err := tx.Outbox().ExportsOf(ctx, info.Tenant, r.openedBy)
	if err != nil {
		return err
	}
	for _, e := range exports {
		if e.Session == info.Session && State(e.Status) != Failed {
			return fmt.Errorf("the exchange that turn %s opened did not fail, as export %s: %w; leave again out", r.openedBy, e.ID, turn.ErrConflict)
		}
	}
	summaries, err := found(ctx, tx, info, turn.Query{Kind: turn.KindSummary, From: r.openedAt + 1, Limit: MaxTurns})
	if err != nil {
		return err
	}
	for i := range summaries {
		if s := &summaries[i]; s.MessageID == "" && s.Covers.From > r.openedAt {
			return fmt.Errorf("another exchange, of turns %d–%d, was committed since turn %s: %w; say it once more as a new turn",
				s.Covers.From, s.Covers.To, r.openedBy, turn.ErrConflict)
		}
	}
	return nil
}
