package sqlite

import (
	"cmp"
	"context"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// InsertEpoch implements [prompt.Rows].
func (r promptRows) InsertEpoch(ctx context.Context, tenant string, segment int64, e prompt.EpochRow) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	err := r.c.Prepare(`INSERT INTO epochs (tenant, segment, number, after_seq, created_at, doc) VALUES (?, ?, ?, ?, ?, ?)`).
		Text(tenant).Int(segment).Int(e.Number).Int(e.AfterSeq).Int(micros(e.At)).Text(e.Doc).Run()
	if taken(err) {
		return prompt.ErrStale
	}
	if err != nil {
		return r.fail(err)
	}
	return r.end(tenant, segment, "epochs", e.AfterSeq, e.Number)
}

const epochColumns = `number, after_seq, created_at, doc`

func readEpoch(q *lite.Stmt) prompt.EpochRow {
	return prompt.EpochRow{Number: q.ReadInt(), AfterSeq: q.ReadInt(), At: fromMicros(q.ReadInt()), Doc: q.ReadText()}
}

func epochNumber(e prompt.EpochRow) int64 { return e.Number }

// LastEpoch implements [prompt.Rows].
func (r promptRows) LastEpoch(ctx context.Context, tenant string, spans []span.Span) (prompt.EpochRow, error) {
	return last(ctx, r, spans, readEpoch, epochNumber, func(s span.Span) *lite.Stmt {
		return r.c.Prepare(`SELECT ` + epochColumns + ` FROM epochs WHERE tenant = ?1 AND segment = ?2 AND number = (SELECT number FROM prompt_ends
			WHERE tenant = ?1 AND segment = ?2 AND kind = 'epochs' AND end_seq <= ?3 ORDER BY end_seq DESC LIMIT 1)`).
			Text(tenant).Int(s.Segment).Int(s.To)
	})
}

// Epoch implements [prompt.Rows].
func (r promptRows) Epoch(ctx context.Context, tenant string, spans []span.Span, number int64) (prompt.EpochRow, error) {
	return last(ctx, r, spans, readEpoch, epochNumber, func(s span.Span) *lite.Stmt {
		return r.c.Prepare(`SELECT ` + epochColumns + ` FROM epochs WHERE tenant = ? AND segment = ? AND number = ? AND after_seq <= ?`).
			Text(tenant).Int(s.Segment).Int(number).Int(s.To)
	})
}

// Epochs implements [prompt.Rows].
func (r promptRows) Epochs(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]prompt.EpochRow, error) {
	return page(ctx, r, spans, limit, readEpoch, epochNumber, func(s span.Span) *lite.Stmt {
		return r.c.Prepare(`SELECT ` + epochColumns + ` FROM epochs WHERE tenant = ? AND segment = ? AND number > ? AND after_seq <= ?
			ORDER BY number LIMIT ?`).Text(tenant).Int(s.Segment).Int(after).Int(s.To).Int(int64(limit))
	})
}

// last runs a statement of at most one row for each span and returns the row with the highest number, the
// one of the newest span where several have it.
func last[R any](
	ctx context.Context, r promptRows, spans []span.Span, read func(*lite.Stmt) R, number func(R) int64, along func(span.Span) *lite.Stmt,
) (highest R, err error) {
	if err := r.reading(ctx); err != nil {
		return highest, err
	}
	found := false
	for _, s := range slices.Backward(spans) {
		row, ok, err := one(r.tx, along(s), read)
		if err != nil {
			return highest, err
		}
		if ok && (!found || number(row) > number(highest)) {
			highest, found = row, true
		}
	}
	if !found {
		return highest, prompt.ErrNotFound
	}
	return highest, nil
}

// page runs a statement for each span and returns up to limit of the rows, by number.
func page[R any](
	ctx context.Context, r promptRows, spans []span.Span, limit int, read func(*lite.Stmt) R, number func(R) int64, along func(span.Span) *lite.Stmt,
) ([]R, error) {
	if err := r.reading(ctx); err != nil || limit <= 0 {
		return nil, err
	}
	var rows []R
	for _, s := range spans {
		found, err := all(r.tx, along(s), read)
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	slices.SortStableFunc(rows, func(a, b R) int { return cmp.Compare(number(a), number(b)) })
	return rows[:min(limit, len(rows))], nil
}
