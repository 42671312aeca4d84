package commit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
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

// ExportIDOf is the export id of the exchange that an idempotency key names in a session: the same for the same key, wherever it is asked.
func ExportIDOf(session, key string) string {
	return ids.Derived(time.Unix(0, 0), session, key)
}

// keyUnused refuses the idempotency key of an exchange under which a turn was appended or said: a key names one request of the session.
func (r *run) keyUnused(ctx context.Context, tx store.Tx) error {
	if r.exchange.Key == "" {
		return nil
	}
	info, err := tx.Log().Session(ctx, r.key)
	if errors.Is(err, turn.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	first, found, err := tx.Log().TurnByKey(ctx, info.Tenant, info.Segment, r.exchange.Key)
	if err == nil && found {
		err = &UsedError{Name: r.exchange.name(), Why: fmt.Sprintf("was used for turn %d", first.Seq)}
	}
	return err
}

// Unwrap returns turn.ErrConflict.
func (e *UsedError) Unwrap() error { return turn.ErrConflict }
