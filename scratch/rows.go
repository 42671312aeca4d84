package scratch

import (
	"context"
	"fmt"
	"time"
)

// Row is an observation as a store keeps it.
type Row struct {
	ID     string
	Type   string
	Status Status
	Doc    string    // the whole observation, JSON
	At     time.Time // when it was last changed
	// Expires is the end of its day while it is live, of its week once archived.
	Expires time.Time
}

// AsOf returns the row as it is at that time: one whose day is over was archived when it ended, whether or not
// a sweep came by since. Kept is false where its week is over too.
func (r Row) AsOf(now time.Time) (_ Row, kept bool, err error) {
	switch {
	case r.Expires.After(now):
		return r, true, nil
	case r.Status == Archived, !r.Expires.Add(ArchivedRetention).After(now):
		return r, false, nil
	}
	o, err := r.observation()
	if err != nil {
		return r, false, err
	}
	o, kept = o.at(now)
	return o.row(), kept, nil
}

// observation reads the row.
func (r Row) observation() (Observation, error) {
	o, err := DecodeObservation(r.Doc)
	if err == nil && (o.ID != r.ID || o.Status != r.Status) {
		err = fmt.Errorf("the row holds %q, which is %s", o.ID, o.Status)
	}
	if err != nil {
		return o, fmt.Errorf("observation %s: %w", r.ID, err)
	}
	return o, nil
}

// Placed is a row and whose it is.
type Placed struct {
	Tenant  string
	Segment int64
	Row
}

// Rows is what a store keeps of scratch pages, inside one of its transactions.
type Rows interface {
	// PutObservation writes the observation in place of one with its id: the last write wins.
	PutObservation(ctx context.Context, tenant string, segment int64, r Row) error
	// Observation returns the observation of that id; ok is false where there is none.
	Observation(ctx context.Context, tenant string, segment int64, id string) (r Row, ok bool, err error)
	// Observations returns those of a session that are kept at now, by id and as they were written: what
	// expires later, and what is written as live and expired less than [ArchivedRetention] before now. With
	// live it returns only what is not archived and expires later, and its cost does not depend on how many
	// are archived.
	Observations(ctx context.Context, tenant string, segment int64, now time.Time, live bool) ([]Row, error)
	// ExpiredObservations returns up to limit observations of all sessions that are not archived and expired
	// at or before now, those first that expired first. One that somebody else is writing is left out, and
	// nobody else writes those that are returned until the update ends.
	ExpiredObservations(ctx context.Context, now time.Time, limit int) ([]Placed, error)
	// SweepObservations deletes up to limit observations of all sessions that are archived and expired at or
	// before now.
	SweepObservations(ctx context.Context, now time.Time, limit int) (int64, error)
}
