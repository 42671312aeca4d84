package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// InsertCheckpoint implements [compress.Rows].
func (r compressRows) InsertCheckpoint(ctx context.Context, tenant string, segment int64, row compress.Row) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	err := r.c.Prepare(`INSERT INTO checkpoints (tenant, segment, number, version, after_seq, created_at, doc) VALUES (?, ?, ?, ?, ?, ?, ?)`).
		Text(tenant).Int(segment).Int(row.Number).Int(row.Version).Int(row.AfterSeq).Int(micros(row.At)).Text(row.Doc).Run()
	if taken(err) {
		return compress.ErrStale
	}
	if err != nil {
		return r.fail(err)
	}
	return promptRows(r).end(tenant, segment, "checkpoints", row.AfterSeq, row.Number)
}

// endCheckpoints fills prompt_ends from the checkpoints. A number has several versions: the first of them
// is where it comes along.
const endCheckpoints = `INSERT OR REPLACE INTO prompt_ends (tenant, segment, kind, end_seq, number)
	SELECT tenant, segment, 'checkpoints', end_seq, number FROM (SELECT *, min(end_seq) OVER
		(PARTITION BY tenant, segment ORDER BY number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS later
		FROM (SELECT tenant, segment, number, min(after_seq) AS end_seq FROM checkpoints GROUP BY tenant, segment, number))
	WHERE later IS NULL OR end_seq < later`

const checkpointColumns = `number, version, after_seq, created_at, doc`

func readCheckpoint(q *lite.Stmt) compress.Row {
	return compress.Row{Number: q.ReadInt(), Version: q.ReadInt(), AfterSeq: q.ReadInt(), At: fromMicros(q.ReadInt()), Doc: q.ReadText()}
}

// Checkpoint implements [compress.Rows].
func (r compressRows) Checkpoint(ctx context.Context, tenant string, spans []span.Span, number, version int64) (compress.Row, error) {
	if err := r.reading(ctx); err != nil {
		return compress.Row{}, err
	}
	for _, s := range slices.Backward(spans) {
		row, ok, err := one(r.tx, r.c.Prepare(`SELECT `+checkpointColumns+` FROM checkpoints
			WHERE tenant = ? AND segment = ? AND number = ? AND version = ? AND after_seq <= ?`).
			Text(tenant).Int(s.Segment).Int(number).Int(version).Int(s.To), readCheckpoint)
		if ok || err != nil {
			return row, err
		}
	}
	return compress.Row{}, compress.ErrNotFound
}

// Checkpoints implements [compress.Rows].
func (r compressRows) Checkpoints(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]compress.Row, error) {
	if err := r.reading(ctx); err != nil || limit <= 0 {
		return nil, err
	}
	var rows []compress.Row
	for _, s := range spans {
		// Up to the limit's number of this span; where it has fewer, all.
		found, err := all(r.tx, r.c.Prepare(`SELECT `+checkpointColumns+` FROM checkpoints
			WHERE tenant = ?1 AND segment = ?2 AND number > ?3 AND after_seq <= ?4 AND number <= coalesce((SELECT DISTINCT number FROM checkpoints
				WHERE tenant = ?1 AND segment = ?2 AND number > ?3 AND after_seq <= ?4 ORDER BY number LIMIT 1 OFFSET ?5), 9223372036854775807)
			ORDER BY number, version`).
			Text(tenant).Int(s.Segment).Int(after).Int(s.To).Int(int64(limit)-1), readCheckpoint)
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return compress.FirstNumbers(rows, limit), nil
}

// LastNumber implements [compress.Rows].
func (r compressRows) LastNumber(ctx context.Context, tenant string, spans []span.Span) (highest int64, err error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	for _, s := range spans {
		number, _, err := one(r.tx, r.c.Prepare(`SELECT number FROM prompt_ends
			WHERE tenant = ? AND segment = ? AND kind = 'checkpoints' AND end_seq <= ? ORDER BY end_seq DESC LIMIT 1`).
			Text(tenant).Int(s.Segment).Int(s.To), readInt)
		if err != nil {
			return 0, err
		}
		highest = max(highest, number)
	}
	return highest, nil
}

// PutBreaker implements [compress.Rows].
func (r compressRows) PutBreaker(ctx context.Context, tenant string, segment int64, doc string, at time.Time) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return r.fail(r.c.Prepare(`INSERT INTO breakers (tenant, segment, changed_at, doc) VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET changed_at = excluded.changed_at, doc = excluded.doc`).
		Text(tenant).Int(segment).Int(micros(at)).Text(doc).Run())
}

// Breaker implements [compress.Rows].
func (r compressRows) Breaker(ctx context.Context, tenant string, segment int64) (doc string, ok bool, err error) {
	if err := r.reading(ctx); err != nil {
		return "", false, err
	}
	return one(r.tx, r.c.Prepare(`SELECT doc FROM breakers WHERE tenant = ? AND segment = ?`).Text(tenant).Int(segment),
		func(q *lite.Stmt) string { return q.ReadText() })
}
