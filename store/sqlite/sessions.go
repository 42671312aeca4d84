package sqlite

import (
	"context"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
	"github.com/turnstone-dev/turnstone/turn"
)

// InsertSession implements [turn.SessionRows].
func (r logRows) InsertSession(ctx context.Context, s turn.SessionInfo) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	err := r.c.Prepare(`INSERT INTO sessions (tenant, session_id, user_id, title, model, mode, status, parent_id,
		fork_seq, head_seq, created_at, last_activity, files) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).
		Text(s.Tenant).Text(s.Session).Text(s.User).Text(s.Title).Text(s.Model).Text(s.Mode).Text(string(s.Status)).
		TextOrNull(s.Parent).Int(s.ForkSeq).Int(s.Head).Int(micros(s.CreatedAt)).Int(micros(s.LastActivity)).TextOrNull(s.Files).Run()
	if taken(err) {
		return 0, turn.ErrExists
	}
	if err != nil {
		return 0, r.fail(err)
	}
	segment := r.c.LastInsertID()
	for i, in := range s.Inherited {
		err := r.c.Prepare(`INSERT INTO spans (tenant, heir, position, segment, from_seq, to_seq) VALUES (?, ?, ?, ?, ?, ?)`).
			Text(s.Tenant).Int(segment).Int(int64(i)).Int(in.Segment).Int(in.From).Int(in.To).Run()
		if err != nil {
			return 0, r.fail(err)
		}
	}
	return segment, nil
}

const sessionColumns = `segment, session_id, user_id, title, model, mode, status, parent_id,
	fork_seq, head_seq, created_at, last_activity, files`

func readSession(q *lite.Stmt, tenant string) turn.SessionInfo {
	s := turn.SessionInfo{Segment: q.ReadInt(), Key: turn.Key{Tenant: tenant, Session: q.ReadText()}}
	s.User, s.Title, s.Model, s.Mode = q.ReadText(), q.ReadText(), q.ReadText(), q.ReadText()
	s.Status, s.Parent = turn.Status(word(q.ReadRaw())), q.ReadText()
	s.ForkSeq, s.Head = q.ReadInt(), q.ReadInt()
	s.CreatedAt, s.LastActivity = fromMicros(q.ReadInt()), fromMicros(q.ReadInt())
	s.Files = q.ReadText()
	return s
}

// Session implements [turn.SessionRows].
func (r logRows) Session(ctx context.Context, key turn.Key) (turn.SessionInfo, error) {
	if err := r.reading(ctx); err != nil {
		return turn.SessionInfo{}, err
	}
	return r.session(key)
}

// LockSession implements [turn.SessionRows]. There is one writer: its transaction keeps others out.
func (r logRows) LockSession(ctx context.Context, key turn.Key) (turn.SessionInfo, error) {
	if err := r.writing(ctx); err != nil {
		return turn.SessionInfo{}, err
	}
	return r.session(key)
}

func (r logRows) session(key turn.Key) (turn.SessionInfo, error) {
	q := r.c.Prepare(`SELECT ` + sessionColumns + ` FROM sessions WHERE tenant = ? AND session_id = ?`).
		Text(key.Tenant).Text(key.Session)
	found, err := q.Step()
	if err != nil {
		return turn.SessionInfo{}, r.fail(err)
	}
	if !found {
		return turn.SessionInfo{}, turn.ErrNotFound
	}
	s := readSession(q, key.Tenant)
	q.Close()
	return s, r.inherited(&s)
}

// inherited fills in the spans of a fork.
func (r logRows) inherited(s *turn.SessionInfo) error {
	if s.Parent == "" {
		return nil
	}
	q := r.c.Prepare(`SELECT segment, from_seq, to_seq FROM spans WHERE tenant = ? AND heir = ? ORDER BY position`).
		Text(s.Tenant).Int(s.Segment)
	for {
		more, err := q.Step()
		if err != nil || !more {
			return r.fail(err)
		}
		s.Inherited = append(s.Inherited, turn.Span{Segment: q.ReadInt(), From: q.ReadInt(), To: q.ReadInt()})
	}
}

// UpdateSession implements [turn.SessionRows].
func (r logRows) UpdateSession(ctx context.Context, s turn.SessionInfo) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return r.one(r.c.Prepare(`UPDATE sessions SET user_id = ?, title = ?, model = ?, mode = ?, status = ?,
		head_seq = ?, last_activity = ?, files = ? WHERE tenant = ? AND session_id = ?`).
		Text(s.User).Text(s.Title).Text(s.Model).Text(s.Mode).Text(string(s.Status)).
		Int(s.Head).Int(micros(s.LastActivity)).TextOrNull(s.Files).Text(s.Tenant).Text(s.Session))
}

// Advance implements [turn.SessionRows].
func (r logRows) Advance(ctx context.Context, key turn.Key, head int64, at time.Time) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return r.one(r.c.Prepare(`UPDATE sessions SET head_seq = ?, last_activity = ?, status = 'active'
		WHERE tenant = ? AND session_id = ?`).
		Int(head).Int(micros(at)).Text(key.Tenant).Text(key.Session))
}

// Rename implements [turn.SessionRows].
func (r logRows) Rename(ctx context.Context, key turn.Key, id string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	q := r.c.Prepare(`UPDATE sessions SET session_id = ? WHERE tenant = ? AND session_id = ?`).Text(id).Text(key.Tenant).Text(key.Session)
	if err := q.Run(); taken(err) {
		return turn.ErrExists
	} else if err != nil {
		return r.fail(err)
	}
	if r.c.Changes() == 0 {
		return turn.ErrNotFound
	}
	return nil
}

// one runs a statement that must change a row.
func (r logRows) one(q *lite.Stmt) error {
	if err := q.Run(); err != nil {
		return r.fail(err)
	}
	if r.c.Changes() == 0 {
		return turn.ErrNotFound
	}
	return nil
}

// Tenants implements [turn.SessionRows]: a step of the index for each, however many sessions they have.
func (r logRows) Tenants(ctx context.Context) ([]string, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`WITH RECURSIVE t(tenant) AS (
			SELECT min(tenant) FROM sessions
			UNION ALL SELECT (SELECT min(s.tenant) FROM sessions s WHERE s.tenant > t.tenant) FROM t WHERE t.tenant IS NOT NULL)
		SELECT tenant FROM t WHERE tenant IS NOT NULL`), func(q *lite.Stmt) string { return q.ReadText() })
}

// Sessions implements [turn.SessionRows].
func (r logRows) Sessions(ctx context.Context, f turn.SessionFilter) ([]turn.SessionInfo, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var sql strings.Builder
	sql.WriteString(`SELECT ` + sessionColumns + ` FROM sessions WHERE tenant = ?`)
	if f.Importing {
		sql.WriteString(` AND session_id GLOB 'import *'`)
	} else {
		sql.WriteString(` AND session_id NOT GLOB 'import *'`)
	}
	if f.User != "" {
		sql.WriteString(` AND user_id = ?`)
	}
	if f.Before > 0 {
		sql.WriteString(` AND segment < ?`)
	}
	if f.Status != "" {
		sql.WriteString(` AND status = ?`)
	}
	if !f.IdleSince.IsZero() {
		sql.WriteString(` AND last_activity <= ?`)
	}
	sql.WriteString(` ORDER BY segment DESC LIMIT ?`)
	q := r.c.Prepare(sql.String()).Text(f.Tenant)
	if f.User != "" {
		q.Text(f.User)
	}
	if f.Before > 0 {
		q.Int(f.Before)
	}
	if f.Status != "" {
		q.Text(string(f.Status))
	}
	if !f.IdleSince.IsZero() {
		q.Int(micros(f.IdleSince))
	}
	q.Int(int64(max(f.Limit, 0)))
	var found []turn.SessionInfo
	for {
		more, err := q.Step()
		if err != nil {
			return nil, r.fail(err)
		}
		if !more {
			break
		}
		found = append(found, readSession(q, f.Tenant))
	}
	for i := range found {
		if err := r.inherited(&found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}
