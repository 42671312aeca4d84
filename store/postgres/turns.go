package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

const turnColumns = `t.segment, t.seq, t.turn_id, t.role, t.form, t.kind, t.content, t.created_at, t.unit_seq,
	t.message_id, t.idempotency_key, t.covers_from, t.covers_to, t.meta`

func scanTurn(row pgx.Row) (turn.Stored, error) {
	var s turn.Stored
	var content string
	var created int64
	var kind, message, key, meta *string
	var unit, from, to *int64
	err := row.Scan(&s.Segment, &s.Seq, &s.ID, &s.Role, &s.Form, &kind, &content, &created, &unit,
		&message, &key, &from, &to, &meta)
	if err != nil {
		return s, err
	}
	s.Kind = turn.Kind(orElse(kind, string(turn.KindTurn)))
	s.CreatedAt, s.Unit = fromMicros(created), orElse(unit, 0)
	s.MessageID, s.IdempotencyKey = orElse(message, ""), orElse(key, "")
	s.Covers = turn.Range{From: orElse(from, 0), To: orElse(to, 0)}
	if s.Content, err = turn.DecodeContent(s.Role, s.Form, content); err != nil {
		return s, fmt.Errorf("%w: content of turn %d: %w", store.ErrCorrupt, s.Seq, err)
	}
	if meta != nil {
		if s.Meta, err = turn.DecodeMeta(*meta); err != nil {
			return s, fmt.Errorf("%w: meta of turn %d: %w", store.ErrCorrupt, s.Seq, err)
		}
	}
	return s, nil
}

func orElse[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// turns reads whole turns.
func (r logRows) turns(ctx context.Context, sql string, args ...any) (list []turn.Turn, err error) {
	err = r.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			s, err := scanTurn(rows)
			if err != nil {
				return err
			}
			list = append(list, s.Turn)
		}
		return nil
	}, sql, args...)
	return list, err
}

const insertTurn = `INSERT INTO turns (tenant, segment, seq, turn_id, role, form, kind, content, created_at, unit_seq,
	message_id, idempotency_key, covers_from, covers_to, meta)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`

// maxQueued bounds what is queued of one turn, since it travels with COMMIT, which only has so much
// time and cannot be broken off.
const maxQueued = 64 << 10

// InsertTurns implements [turn.TurnRows]. The next turn of a session whose lock is held is queued: its
// seq is free, so only an id that is taken can stand in its way, and that is then the error of
// whatever sends the queue, at the latest of the update.
func (r logRows) InsertTurns(ctx context.Context, tenant string, segment int64, rows ...turn.Row) error {
	for i := range rows {
		err := r.writing(ctx)
		if err == nil {
			err = r.insertTurn(ctx, tenant, segment, &rows[i])
		}
		if err != nil {
			return fmt.Errorf("append turn %d: %w", rows[i].Seq, err)
		}
	}
	return nil
}

func (r logRows) insertTurn(ctx context.Context, tenant string, segment int64, t *turn.Row) error {
	var kind string
	if t.Kind != turn.KindTurn {
		kind = string(t.Kind)
	}
	var meta any
	if t.Meta != (turn.Meta{}) {
		meta = string(t.Meta.AppendJSON(nil))
	}
	args := []any{
		tenant, segment, t.Seq, t.ID, string(t.Role), string(t.Form), orNull(kind), t.Encoded.String(),
		t.CreatedAt.UnixMicro(), orNull(t.Unit), orNull(t.MessageID), orNull(t.IdempotencyKey),
		orNull(t.Covers.From), orNull(t.Covers.To), meta,
	}
	r.wrote(segmentKey{tenant, segment})
	if l := r.segmentLock(tenant, segment); l != nil && t.Seq >= l.free && t.Encoded.Len() <= maxQueued {
		l.free = t.Seq + 1
		r.later(fmt.Sprintf("append turn %d", t.Seq), insertTurn, args...)
		return nil
	}
	added, err := r.exec(ctx, insertTurn+` ON CONFLICT DO NOTHING`, args...)
	if err == nil && added == 0 {
		err = turn.ErrConflict
	}
	return err
}

func (t *tx) segmentLock(tenant string, segment int64) *sessionLock {
	for _, l := range t.locks {
		if l.info.Tenant == tenant && l.info.Segment == segment {
			return l
		}
	}
	return nil
}

// wrote notes that a segment has turns for the full-text index.
func (t *tx) wrote(k segmentKey) {
	if n := len(t.written); n == 0 || t.written[n-1] != k {
		t.written = append(t.written, k)
	}
}

// TurnsByID implements [turn.TurnRows].
func (r logRows) TurnsByID(ctx context.Context, tenant, id string) ([]turn.Stored, error) {
	return r.stored(ctx, `SELECT `+turnColumns+` FROM turns t WHERE t.tenant = $1 AND t.turn_id = $2 ORDER BY t.segment`, tenant, id)
}

// TurnsAt implements [turn.TurnRows].
func (r logRows) TurnsAt(ctx context.Context, tenant string, places []turn.Place) ([]turn.Stored, error) {
	segments, seqs := make([]int64, len(places)), make([]int64, len(places))
	for i, at := range places {
		segments[i], seqs[i] = at.Segment, at.Seq
	}
	// OFFSET 0 has each looked up by its key; see textHits.
	return r.stored(ctx, `SELECT t.* FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS p (segment, seq, n),
		LATERAL (SELECT `+turnColumns+` FROM turns t WHERE t.tenant = $1 AND t.segment = p.segment AND t.seq = p.seq OFFSET 0) t
		ORDER BY p.n`, tenant, segments, seqs)
}

// stored is turns with their segments.
func (r logRows) stored(ctx context.Context, sql string, args ...any) (list []turn.Stored, err error) {
	err = r.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			s, err := scanTurn(rows)
			if err != nil {
				return err
			}
			list = append(list, s)
		}
		return nil
	}, sql, args...)
	return list, err
}

// TurnByKey implements [turn.TurnRows].
func (r logRows) TurnByKey(ctx context.Context, tenant string, segment int64, key string) (t turn.Turn, found bool, err error) {
	err = r.row(ctx, func(row pgx.Row) error {
		s, err := scanTurn(row)
		t = s.Turn
		return err
	}, `SELECT `+turnColumns+` FROM turns t WHERE t.tenant = $1 AND t.segment = $2 AND t.idempotency_key = $3`,
		tenant, segment, key)
	if errors.Is(err, pgx.ErrNoRows) {
		return turn.Turn{}, false, nil
	}
	return t, err == nil, err
}

// The filter is written so that one statement serves every filter: only the range of seqs and, for
// utterances, the literal condition of the partial index decide which index is walked.
const (
	scanTurns = `SELECT ` + turnColumns + ` FROM turns t
		WHERE t.tenant = $1 AND t.segment = $2 AND t.seq BETWEEN $3 AND $4` + rowFilter
	rowFilter = ` AND ($5 = '' OR t.role = $5) AND ($6 = '' OR t.form = $6) AND ($7 = '' OR coalesce(t.kind, 'turn') = $7)
		AND t.created_at >= $8 AND t.created_at < $9`
	onlyUtterances = ` AND t.role IN ('user', 'agent') AND t.form IN ('text', 'speech')`
	oldestFirst    = ` ORDER BY t.seq LIMIT $10`
	newestFirst    = ` ORDER BY t.seq DESC LIMIT $10`
)

// filterArgs are $3 to $10 of a statement with rowFilter.
func filterArgs(s turn.Span, f turn.RowFilter, limit int) []any {
	return []any{
		s.From, s.To, string(f.Role), string(f.Form), string(f.Kind),
		micros(f.Since, -1<<63), micros(f.Until, 1<<63-1), int64(max(limit, 0)),
	}
}

func micros(t time.Time, unbounded int64) int64 {
	if t.IsZero() {
		return unbounded
	}
	return t.UnixMicro()
}

// Scan implements [turn.TurnRows].
func (r logRows) Scan(ctx context.Context, tenant string, s turn.Span, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	return r.turns(ctx, scanSQL(f), append([]any{tenant, s.Segment}, filterArgs(s, f, limit)...)...)
}

func scanSQL(f turn.RowFilter) string {
	sql := scanTurns
	if f.Utterances {
		sql += onlyUtterances
	}
	if f.Newest {
		return sql + newestFirst
	}
	return sql + oldestFirst
}

// Units implements [turn.TurnRows].
func (r logRows) Units(ctx context.Context, tenant string, segment, first, last int64) ([]turn.Turn, error) {
	return r.turns(ctx, `SELECT `+turnColumns+` FROM turns t
		WHERE t.tenant = $1 AND t.segment = $2 AND t.unit_seq BETWEEN $3 AND $4 ORDER BY t.seq`,
		tenant, segment, first, last)
}

// Straddling implements [turn.TurnRows].
func (r logRows) Straddling(ctx context.Context, tenant string, segment, seq int64) (unit int64, err error) {
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&unit) },
		`SELECT coalesce(min(unit_seq), 0) FROM turns WHERE tenant = $1 AND segment = $2 AND unit_seq <= $3 AND seq > $3`,
		tenant, segment, seq)
	return unit, err
}
