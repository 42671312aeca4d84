package trace

import (
	"context"
	"time"
)

// Part is one piece of a turn's trace as a store keeps it. The first one is written when the exchange is
// published, what happens later (tries of what was put off, what daemons did) follows in parts of its
// own.
type Part struct {
	TurnID  string
	Segment int64
	ID      string // a ULID: parts are in the order of their ids
	At      time.Time
	Body    string // JSON
}

// Rows is what a store keeps of traces, inside one of its transactions.
type Rows interface {
	// InsertParts adds parts; one that is there already under its turn and id stays as it is.
	InsertParts(ctx context.Context, tenant string, parts ...Part) error
	// Parts returns the parts of a turn's trace by segment and id: where a session was imported next
	// to its original, two segments know the turn.
	Parts(ctx context.Context, tenant, turnID string) ([]Part, error)
	// PartsOf returns the parts of a segment by turn id and id. Those of a turn that is not in the segment
	// may be left out.
	PartsOf(ctx context.Context, tenant string, segment int64) ([]Part, error)
	// SweepParts deletes up to limit parts, of all tenants, that were written before the time.
	SweepParts(ctx context.Context, before time.Time, limit int) (int64, error)
}

// OfTenant is a part and whose it is.
type OfTenant struct {
	Tenant string
	Part
}

// Insert adds parts, those of one tenant that follow each other at once.
func Insert(ctx context.Context, rows Rows, parts []OfTenant) error {
	some := make([]Part, 0, len(parts))
	for i, p := range parts {
		some = append(some, p.Part)
		if i+1 < len(parts) && parts[i+1].Tenant == p.Tenant {
			continue
		}
		if err := rows.InsertParts(ctx, p.Tenant, some...); err != nil {
			return err
		}
		some = some[:0]
	}
	return nil
}
