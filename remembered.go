package turnstone

import (
	"context"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Remembered is one page of what was remembered.
type Remembered struct {
	Items []RememberedItem
	Next  string // the cursor of the next page, empty on the last
}

// RememberedItem is an item of episodic memory and whose it is.
type RememberedItem struct {
	memory.Episode
	Owner memory.Owner
	// Archived is set where the item made room for more important ones.
	Archived bool
}

// Remembered searches the memory of the whole tenant. Items that have expired are never found.
func (e *Engine) Remembered(ctx context.Context, q memory.Search) (page Remembered, err error) {
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		page, err = remembered(ctx, tx, e.config.Tenant, 0, q)
		return err
	})
	return page, err
}

// Remembered searches what was remembered of the session.
func (s *Session) Remembered(ctx context.Context, q memory.Search) (page Remembered, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		page, err = remembered(ctx, tx, s.key.Tenant, info.Segment, q)
		return err
	})
	return page, err
}

func remembered(ctx context.Context, tx store.Tx, tenant string, segment int64, q memory.Search) (Remembered, error) {
	filter, err := q.Compile(tenant, segment, tx.Now())
	if err != nil {
		return Remembered{}, err
	}
	rows, err := tx.Memory().Items(ctx, filter)
	if err != nil {
		return Remembered{}, err
	}
	page := Remembered{Next: filter.Next(rows)}
	for _, r := range rows {
		item, owner, err := memory.FromRow(r)
		if err != nil {
			return Remembered{}, err
		}
		page.Items = append(page.Items, RememberedItem{Episode: item, Owner: owner, Archived: !r.Archived.IsZero()})
	}
	return page, nil
}

// ForgetItems removes items of memory, and them from what is found by a search, and returns how many there
// were. What was said in the log stays.
func (e *Engine) ForgetItems(ctx context.Context, ids ...string) (forgotten int, err error) {
	err = e.store.Update(ctx, func(tx store.Tx) error {
		e.shared.pipeline.Forgot(tx)
		forgotten, err = tx.Memory().DeleteItems(ctx, e.config.Tenant, ids)
		return err
	})
	return forgotten, err
}

// Digest returns the session's rolling summary, key topics and decision log.
func (s *Session) Digest(ctx context.Context) (d memory.Digest, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		d, err = commit.LoadDigest(ctx, tx, info)
		return err
	})
	return d, err
}
