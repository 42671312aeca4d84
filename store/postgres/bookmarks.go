package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/turn"
)

// InsertBookmark implements [turn.SessionRows].
func (r logRows) InsertBookmark(ctx context.Context, key turn.Key, b turn.Bookmark) error {
	added, err := r.exec(ctx,
		`INSERT INTO bookmarks (tenant, session_id, name, seq, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
		key.Tenant, key.Session, b.Name, b.Seq, b.At.UnixMicro())
	if err == nil && added == 0 {
		err = turn.ErrExists
	}
	return err
}

// Bookmarks implements [turn.SessionRows].
func (r logRows) Bookmarks(ctx context.Context, key turn.Key) (list []turn.Bookmark, err error) {
	err = r.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			var b turn.Bookmark
			var at int64
			if err := rows.Scan(&b.Name, &b.Seq, &at); err != nil {
				return err
			}
			b.At = fromMicros(at)
			list = append(list, b)
		}
		return nil
	}, `SELECT name, seq, created_at FROM bookmarks WHERE tenant = $1 AND session_id = $2 ORDER BY name`,
		key.Tenant, key.Session)
	return list, err
}

// Lease implements [turn.SessionRows].
func (r logRows) Lease(ctx context.Context, key turn.Key) (l turn.Lease, err error) {
	err = r.row(ctx, func(row pgx.Row) error {
		var until int64
		err := row.Scan(&l.Token, &until)
		l.Until = fromMicros(until)
		return err
	}, `SELECT token, until FROM leases WHERE tenant = $1 AND session_id = $2`, key.Tenant, key.Session)
	if errors.Is(err, pgx.ErrNoRows) {
		return turn.Lease{}, nil
	}
	return l, err
}

// LockLease implements [turn.SessionRows]. The lease is read when the session is locked: in one statement it would be as it
// was before the wait.
func (r logRows) LockLease(ctx context.Context, key turn.Key) (turn.Lease, error) {
	if _, err := r.LockSession(ctx, key); err != nil {
		return turn.Lease{}, err
	}
	return r.Lease(ctx, key)
}

// SetLease implements [turn.SessionRows].
func (r logRows) SetLease(ctx context.Context, key turn.Key, l turn.Lease) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	if l == (turn.Lease{}) {
		r.later("lease of "+key.Session, `DELETE FROM leases WHERE tenant = $1 AND session_id = $2`, key.Tenant, key.Session)
		return nil
	}
	r.later("lease of "+key.Session,
		`INSERT INTO leases (tenant, session_id, token, until) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant, session_id) DO UPDATE SET token = excluded.token, until = excluded.until`,
		key.Tenant, key.Session, l.Token, l.Until.UnixMicro())
	return nil
}
