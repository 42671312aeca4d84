package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// The bounds of one piece of an import: others write between two of them.
const (
	PieceRows  = 500
	PieceBytes = 4 << 20
)

// StagedImport writes a new session in several updates. Until the last of them nobody sees it: it stands under [turn.ImportKey], with a lease. A
// session of one piece is written in one update.
type StagedImport struct {
	store   store.Store
	session turn.SessionInfo
	insert  func(context.Context, store.Tx, turn.SessionInfo) (turn.SessionInfo, error)
	staged  turn.Key // zero until something is written
	token   string
}

// NewStagedImport begins to write a session, of which nothing is written yet. Insert writes its first rows.
func NewStagedImport(st store.Store, session turn.SessionInfo, insert func(context.Context, store.Tx, turn.SessionInfo) (turn.SessionInfo, error)) *StagedImport {
	return &StagedImport{store: st, session: session, insert: insert, token: ids.New(nil).Next(time.Now())}
}

// Write runs fn in an update. It is given the session with the key and segment that it is written under now; after the last piece it
// has the id that it was to have. turn.ErrExists if that is taken.
func (p *StagedImport) Write(ctx context.Context, last bool, fn func(store.Tx, turn.SessionInfo) error) error {
	var now turn.SessionInfo
	err := p.store.Update(ctx, func(tx store.Tx) (err error) {
		if now, err = p.open(ctx, tx, last); err != nil {
			return err
		}
		if err := fn(tx, now); err != nil || !last || !now.Importing() {
			return err
		}
		if err := turn.Release(ctx, tx.Log(), now.Key, p.token); err != nil {
			return err
		}
		return tx.Log().Rename(ctx, now.Key, p.session.Session)
	})
	if err != nil {
		return err
	}
	p.session.Segment = now.Segment
	if !last {
		p.staged = now.Key
	}
	return nil
}

// open is the session as it stands before a piece.
func (p *StagedImport) open(ctx context.Context, tx store.Tx, last bool) (turn.SessionInfo, error) {
	if p.staged != (turn.Key{}) {
		if _, err := turn.Renew(ctx, tx.Log(), p.staged, p.token, tx.Now()); err != nil {
			return turn.SessionInfo{}, err
		}
		return tx.Log().LockSession(ctx, p.staged)
	}
	s := p.session
	if last {
		return p.insert(ctx, tx, s)
	}
	if _, err := tx.Log().Session(ctx, s.Key); err == nil {
		return s, turn.ErrExists
	} else if !errors.Is(err, turn.ErrNotFound) {
		return s, err
	}
	s.Key, s.Head = turn.ImportKey(s.Tenant, p.token), 0
	s, err := p.insert(ctx, tx, s)
	if err == nil {
		_, err = turn.Acquire(ctx, tx.Log(), s.Key, p.token, tx.Now())
	}
	return s, err
}

// Drop deletes what was written, after an error. What it cannot delete [SweepImports] does.
func (p *StagedImport) Drop(ctx context.Context) error {
	if p.staged == (turn.Key{}) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), turn.LeaseTime)
	defer cancel()
	return drop(ctx, p.store, p.staged, p.token, p.session.Segment)
}

// sweepAfter is how long ago the lease of an import ran out that is swept: it is not renewed while the whole is examined.
const sweepAfter = time.Hour

// SweepImports deletes what is left of imports into a tenant whose programs died an hour ago, and returns how many they were.
func SweepImports(ctx context.Context, st store.Store, tenant string) (swept int64, err error) {
	var left []turn.SessionInfo
	err = st.View(ctx, func(tx store.Tx) (err error) {
		staged, err := tx.Log().Sessions(ctx, turn.SessionFilter{Tenant: tenant, Importing: true, Limit: PieceRows})
		for _, s := range staged {
			lease, err := tx.Log().Lease(ctx, s.Key)
			if err != nil {
				return err
			}
			if lease.Until.Add(sweepAfter).Before(tx.Now()) {
				left = append(left, s)
			}
		}
		return err
	})
	for _, s := range left {
		var held *turn.LeaseHeldError
		switch err := drop(ctx, st, s.Key, ids.New(nil).Next(time.Now()), s.Segment); {
		case err == nil:
			swept++
		case errors.As(err, &held), errors.Is(err, turn.ErrNotFound), errors.Is(err, turn.ErrLeaseLost):
		default:
			return swept, fmt.Errorf("what is left of an import: %w", err)
		}
	}
	return swept, err
}

// drop deletes a session that is being imported, a piece in each update. Nobody else has the lease meanwhile.
func drop(ctx context.Context, st store.Store, key turn.Key, token string, segment int64) error {
	for _, table := range slices.Backward(store.Schema) {
		among := store.Among{Segments: []int64{segment}}
		switch {
		case table.Name == "sessions" || table.Name == "leases":
			among = store.Among{Sessions: []string{key.Session}}
		case table.Position("segment") < 0 || table.Name == "memory_items" || table.Name == "spans":
			continue // the last piece writes items
		}
		among.Limit = PieceRows
		for deleted := PieceRows; deleted == PieceRows; {
			err := st.Update(ctx, func(tx store.Tx) (err error) {
				if table.Name != "sessions" {
					if _, err := turn.Acquire(ctx, tx.Log(), key, token, tx.Now()); err != nil {
						return err
					}
				}
				deleted, err = tx.Forgetting().Rewrite(ctx, key.Tenant, table.Name, among, func([]any) (store.Verdict, error) { return store.Delete, nil })
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
