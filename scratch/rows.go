package scratch

import (
	"context"
	"time"
)

// Row is an observation as a store keeps it.
type Row struct {
	ID     string
	Type   string
	Status Status
	Doc    string    // the whole observation, JSON
	At     time.Time // when it was last changed
	// Expires is when it is swept: the end of its day while it is live, of its week once archived.
	Expires time.Time
}

// Rows is what a store keeps of scratch pages, inside one of its transactions.
type Rows interface {
	// PutObservation writes the observation in place of one with its id: the last write wins.
	PutObservation(ctx context.Context, tenant string, segment int64, r Row) error
	// Observation returns the observation of that id; ok is false where there is none.
	Observation(ctx context.Context, tenant string, segment int64, id string) (r Row, ok bool, err error)
	// Observations returns those of a session that expire after now, by id; with live only those
	// that are not archived. Its cost does not depend on how many are archived if live is set.
	Observations(ctx context.Context, tenant string, segment int64, now time.Time, live bool) ([]Row, error)
	// SweepObservations deletes up to limit observations of all sessions that expired at or before now.
	SweepObservations(ctx context.Context, now time.Time, limit int) (int64, error)
}
