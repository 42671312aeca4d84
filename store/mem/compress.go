package mem

import (
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/span"
)

// compressRows is the transaction as checkpoints see it.
type compressRows struct{ *tx }

// breaker is what is known of a session's failed passes.
type breaker struct {
	doc string
	at  time.Time
}

// InsertCheckpoint implements [compress.Rows].
func (r compressRows) InsertCheckpoint(ctx context.Context, tenant string, segment int64, row compress.Row) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	rows := &r.segment(tenant, segment).checkpoints
	i, taken := slices.BinarySearchFunc(*rows, row, compress.Row.Compare)
	if taken {
		return compress.ErrStale
	}
	set(r.tx, rows, insertAt(*rows, i, row))
	return nil
}

// Checkpoint implements [compress.Rows].
func (r compressRows) Checkpoint(ctx context.Context, tenant string, spans []span.Span, number, version int64) (compress.Row, error) {
	if err := r.reading(ctx); err != nil {
		return compress.Row{}, err
	}
	for _, along := range slices.Backward(spans) {
		rows := r.checkpoints(tenant, along.Segment)
		i, there := slices.BinarySearchFunc(rows, compress.Row{Number: number, Version: version}, compress.Row.Compare)
		if there && rows[i].AfterSeq <= along.To {
			return rows[i], nil
		}
	}
	return compress.Row{}, compress.ErrNotFound
}

// checkpoints returns those of a segment, by number and version.
func (r compressRows) checkpoints(tenant string, segment int64) []compress.Row {
	if s := r.data.segment(tenant, segment); s != nil {
		return s.checkpoints
	}
	return nil
}

// Checkpoints implements [compress.Rows].
func (r compressRows) Checkpoints(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]compress.Row, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []compress.Row
	for _, along := range spans {
		for _, row := range r.checkpoints(tenant, along.Segment) {
			if row.Number > after && row.AfterSeq <= along.To {
				found = append(found, row)
			}
		}
	}
	return compress.FirstNumbers(found, limit), nil
}

// LastNumber implements [compress.Rows].
func (r compressRows) LastNumber(ctx context.Context, tenant string, spans []span.Span) (highest int64, err error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	for _, along := range spans {
		for _, row := range slices.Backward(r.checkpoints(tenant, along.Segment)) {
			if row.AfterSeq <= along.To {
				highest = max(highest, row.Number)
				break
			}
		}
	}
	return highest, nil
}

// PutBreaker implements [compress.Rows].
func (r compressRows) PutBreaker(ctx context.Context, tenant string, segment int64, doc string, at time.Time) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	put(r.tx, r.data.breakers, segmentKey{tenant, segment}, breaker{doc, at})
	return nil
}

// Breaker implements [compress.Rows].
func (r compressRows) Breaker(ctx context.Context, tenant string, segment int64) (doc string, ok bool, err error) {
	if err := r.reading(ctx); err != nil {
		return "", false, err
	}
	b, ok := r.data.breakers[segmentKey{tenant, segment}]
	return b.doc, ok, nil
}
