package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/turnstone-dev/turnstone/turn"
)

// logRows is the transaction as the log sees it.
type logRows struct{ *tx }

// segmentKey names a segment.
type segmentKey struct {
	tenant  string
	segment int64
}

// sessionLock is what the transaction knows of a session row that it holds locked. Nobody else can
// change the row, so what was read once stays true and need not be asked for again.
type sessionLock struct {
	info turn.SessionInfo
	// free is the first seq that no turn of the session's segment has: seq is assigned under this
	// lock only.
	free int64
}

func (t *tx) lock(key turn.Key) *sessionLock {
	for _, l := range t.locks {
		if l.info.Key == key {
			return l
		}
	}
	return nil
}

const sessionColumns = `s.tenant, s.session_id, s.segment, s.user_id, s.title, s.model, s.mode, s.status, s.parent_id,
	s.fork_seq, s.head_seq, s.created_at, s.last_activity, coalesce(s.files, ''),
	(SELECT array_agg(ARRAY[p.segment, p.from_seq, p.to_seq] ORDER BY p.position)
		FROM spans p WHERE p.tenant = s.tenant AND p.heir = s.segment)`

func scanSession(row pgx.Row) (turn.SessionInfo, error) {
	var s turn.SessionInfo
	var parent *string
	var created, active int64
	var spans pgtype.Array[int64]
	err := row.Scan(&s.Tenant, &s.Session, &s.Segment, &s.User, &s.Title, &s.Model, &s.Mode, &s.Status, &parent,
		&s.ForkSeq, &s.Head, &created, &active, &s.Files, &spans)
	if err != nil {
		return s, err
	}
	if parent != nil {
		s.Parent = *parent
	}
	s.CreatedAt, s.LastActivity = fromMicros(created), fromMicros(active)
	for v := range slices.Chunk(spans.Elements, 3) {
		s.Inherited = append(s.Inherited, turn.Span{Segment: v[0], From: v[1], To: v[2]})
	}
	return s, nil
}

// noRows is the log's error for a row that is not there.
func noRows(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return turn.ErrNotFound
	}
	return err
}

func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

// orNull is the value as a column that keeps nothing as NULL.
func orNull[T comparable](v T) any {
	var none T
	if v == none {
		return nil
	}
	return v
}

// InsertSession implements [turn.SessionRows].
func (r logRows) InsertSession(ctx context.Context, s turn.SessionInfo) (segment int64, err error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&segment) },
		`INSERT INTO sessions (tenant, session_id, user_id, title, model, mode, status, parent_id,
			fork_seq, head_seq, created_at, last_activity, files)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT (tenant, session_id) DO NOTHING RETURNING segment`,
		s.Tenant, s.Session, s.User, s.Title, s.Model, s.Mode, string(s.Status), orNull(s.Parent),
		s.ForkSeq, s.Head, s.CreatedAt.UnixMicro(), s.LastActivity.UnixMicro(), orNull(s.Files))
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, turn.ErrExists
	}
	if err != nil {
		return 0, err
	}
	for position, in := range s.Inherited {
		r.later("spans of session "+s.Session,
			`INSERT INTO spans (tenant, heir, position, segment, from_seq, to_seq) VALUES ($1, $2, $3, $4, $5, $6)`,
			s.Tenant, segment, int64(position), in.Segment, in.From, in.To)
	}
	return segment, nil
}

// Session implements [turn.SessionRows].
func (r logRows) Session(ctx context.Context, key turn.Key) (turn.SessionInfo, error) {
	return r.session(ctx, key, `SELECT `+sessionColumns+` FROM sessions s WHERE s.tenant = $1 AND s.session_id = $2`)
}

// LockSession implements [turn.SessionRows]. Who waits for the lock reads the row as the holder
// left it: READ COMMITTED looks at it again after the wait.
func (r logRows) LockSession(ctx context.Context, key turn.Key) (turn.SessionInfo, error) {
	if err := r.writing(ctx); err != nil {
		return turn.SessionInfo{}, err
	}
	if l := r.lock(key); l != nil {
		s := l.info
		s.Inherited = slices.Clone(s.Inherited)
		return s, nil
	}
	s, err := r.session(ctx, key,
		`SELECT `+sessionColumns+` FROM sessions s WHERE s.tenant = $1 AND s.session_id = $2 FOR UPDATE OF s`)
	if err != nil {
		return s, err
	}
	kept := s
	kept.Inherited = slices.Clone(s.Inherited)
	r.locks = append(r.locks, &sessionLock{info: kept, free: s.Head + 1})
	return s, nil
}

func (r logRows) session(ctx context.Context, key turn.Key, sql string) (s turn.SessionInfo, err error) {
	err = r.row(ctx, func(row pgx.Row) (err error) {
		s, err = scanSession(row)
		return err
	}, sql, key.Tenant, key.Session)
	return s, noRows(err)
}

// UpdateSession implements [turn.SessionRows].
func (r logRows) UpdateSession(ctx context.Context, s turn.SessionInfo) error {
	return r.change(ctx, s.Key, func(kept *turn.SessionInfo) {
		kept.User, kept.Title, kept.Model, kept.Mode = s.User, s.Title, s.Model, s.Mode
		kept.Status, kept.Head, kept.LastActivity, kept.Files = s.Status, s.Head, s.LastActivity, s.Files
	}, `UPDATE sessions SET user_id = $3, title = $4, model = $5, mode = $6, status = $7, head_seq = $8, last_activity = $9, files = $10
		WHERE tenant = $1 AND session_id = $2`,
		s.Tenant, s.Session, s.User, s.Title, s.Model, s.Mode, string(s.Status), s.Head, s.LastActivity.UnixMicro(), orNull(s.Files))
}

// Advance implements [turn.SessionRows].
func (r logRows) Advance(ctx context.Context, key turn.Key, head int64, at time.Time) error {
	return r.change(ctx, key, func(kept *turn.SessionInfo) {
		kept.Head, kept.LastActivity, kept.Status = head, at, turn.Active
	}, `UPDATE sessions SET head_seq = $3, last_activity = $4, status = 'active' WHERE tenant = $1 AND session_id = $2`,
		key.Tenant, key.Session, head, at.UnixMicro())
}

// Rename implements [turn.SessionRows].
func (r logRows) Rename(ctx context.Context, key turn.Key, id string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	if _, err := r.LockSession(ctx, key); err != nil {
		return err
	}
	changed, err := r.exec(ctx, `UPDATE sessions SET session_id = $3 WHERE tenant = $1 AND session_id = $2
		AND NOT EXISTS (SELECT FROM sessions WHERE tenant = $1 AND session_id = $3)`, key.Tenant, key.Session, id)
	if err == nil && changed == 0 {
		return turn.ErrExists
	}
	r.lock(key).info.Session = id
	return err
}

// change writes to a session row. That of a locked session is there for certain, so nobody waits.
func (r logRows) change(ctx context.Context, key turn.Key, edit func(*turn.SessionInfo), sql string, args ...any) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	if l := r.lock(key); l != nil {
		edit(&l.info)
		r.later("session "+key.Session, sql, args...)
		return nil
	}
	changed, err := r.exec(ctx, sql, args...)
	if err == nil && changed == 0 {
		err = turn.ErrNotFound
	}
	return err
}

// Tenants implements [turn.SessionRows]: a step of the index for each, however many sessions they have.
func (r logRows) Tenants(ctx context.Context) ([]string, error) {
	return list(ctx, r.tx, func(row pgx.Row) (tenant string, err error) {
		err = row.Scan(&tenant)
		return tenant, err
	}, `WITH RECURSIVE t(tenant) AS (
			SELECT min(tenant) FROM sessions
			UNION ALL SELECT (SELECT min(s.tenant) FROM sessions s WHERE s.tenant > t.tenant) FROM t WHERE t.tenant IS NOT NULL)
		SELECT tenant FROM t WHERE tenant IS NOT NULL`)
}

// Sessions implements [turn.SessionRows]. Segments become visible out of order when sessions are made
// at the same time: one that was made while a reader turned pages may be missing from them.
func (r logRows) Sessions(ctx context.Context, f turn.SessionFilter) (list []turn.SessionInfo, err error) {
	var idle, before any
	if !f.IdleSince.IsZero() {
		idle = f.IdleSince.UnixMicro()
	}
	if f.Before > 0 {
		before = f.Before
	}
	err = r.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			s, err := scanSession(rows)
			if err != nil {
				return err
			}
			list = append(list, s)
		}
		return nil
	}, `SELECT `+sessionColumns+` FROM sessions s
		WHERE s.tenant = $1 AND s.segment < coalesce($2::bigint, 9223372036854775807)
			AND ($3 = '' OR s.user_id = $3) AND ($4 = '' OR s.status = $4)
			AND ($5::bigint IS NULL OR s.last_activity <= $5) AND starts_with(s.session_id, 'import ') = $7
		ORDER BY s.segment DESC LIMIT $6`,
		f.Tenant, before, f.User, string(f.Status), idle, int64(max(f.Limit, 0)), f.Importing)
	return list, err
}
