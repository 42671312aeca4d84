package sqlite

import (
	"context"

	"github.com/turnstone-dev/turnstone/turn"
)

// InsertBookmark implements [turn.SessionRows].
func (r logRows) InsertBookmark(ctx context.Context, key turn.Key, b turn.Bookmark) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	err := r.c.Prepare(`INSERT INTO bookmarks (tenant, session_id, name, seq, created_at) VALUES (?, ?, ?, ?, ?)`).
		Text(key.Tenant).Text(key.Session).Text(b.Name).Int(b.Seq).Int(micros(b.At)).Run()
	if taken(err) {
		return turn.ErrExists
	}
	return r.fail(err)
}

// Bookmarks implements [turn.SessionRows].
func (r logRows) Bookmarks(ctx context.Context, key turn.Key) ([]turn.Bookmark, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	q := r.c.Prepare(`SELECT name, seq, created_at FROM bookmarks WHERE tenant = ? AND session_id = ? ORDER BY name`).
		Text(key.Tenant).Text(key.Session)
	var marks []turn.Bookmark
	for {
		more, err := q.Step()
		if err != nil {
			return nil, r.fail(err)
		}
		if !more {
			return marks, nil
		}
		marks = append(marks, turn.Bookmark{Name: q.ReadText(), Seq: q.ReadInt(), At: fromMicros(q.ReadInt())})
	}
}

// Lease implements [turn.SessionRows].
func (r logRows) Lease(ctx context.Context, key turn.Key) (turn.Lease, error) {
	if err := r.reading(ctx); err != nil {
		return turn.Lease{}, err
	}
	q := r.c.Prepare(`SELECT token, until FROM leases WHERE tenant = ? AND session_id = ?`).
		Text(key.Tenant).Text(key.Session)
	held, err := q.Step()
	if err != nil || !held {
		return turn.Lease{}, r.fail(err)
	}
	defer q.Close()
	return turn.Lease{Token: q.ReadText(), Until: fromMicros(q.ReadInt())}, nil
}

// LockLease implements [turn.SessionRows]. There is one writer: its transaction keeps others out.
func (r logRows) LockLease(ctx context.Context, key turn.Key) (l turn.Lease, err error) {
	if err := r.writing(ctx); err != nil {
		return l, err
	}
	q := r.c.Prepare(`SELECT token, until FROM sessions LEFT JOIN leases USING (tenant, session_id)
		WHERE tenant = ? AND session_id = ?`).Text(key.Tenant).Text(key.Session)
	found, err := q.Step()
	if err != nil {
		return l, r.fail(err)
	}
	if !found {
		return l, turn.ErrNotFound
	}
	defer q.Close()
	if !q.IsNull() {
		l = turn.Lease{Token: q.ReadText(), Until: fromMicros(q.ReadInt())}
	}
	return l, nil
}

// SetLease implements [turn.SessionRows].
func (r logRows) SetLease(ctx context.Context, key turn.Key, l turn.Lease) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	if l == (turn.Lease{}) {
		return r.fail(r.c.Prepare(`DELETE FROM leases WHERE tenant = ? AND session_id = ?`).
			Text(key.Tenant).Text(key.Session).Run())
	}
	return r.fail(r.c.Prepare(`INSERT OR REPLACE INTO leases (tenant, session_id, token, until) VALUES (?, ?, ?, ?)`).
		Text(key.Tenant).Text(key.Session).Text(l.Token).Int(micros(l.Until)).Run())
}
