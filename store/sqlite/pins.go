package sqlite

import (
	"context"
	"math"
	"time"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// InsertPin implements [prompt.Rows].
func (r promptRows) InsertPin(ctx context.Context, tenant string, segment int64, p prompt.PinRow) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	pinned := int64(0)
	if p.Pinned {
		pinned = 1
	}
	err := r.c.Prepare(`INSERT INTO pins (tenant, segment, number, after_seq, seq, pinned, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`).
		Text(tenant).Int(segment).Int(p.Number).Int(p.AfterSeq).Int(p.Seq).Int(pinned).Int(micros(p.At)).Run()
	if taken(err) {
		return prompt.ErrStale
	}
	return r.fail(err)
}

func readPin(q *lite.Stmt) prompt.PinRow {
	return prompt.PinRow{
		Number: q.ReadInt(), AfterSeq: q.ReadInt(), Seq: q.ReadInt(), Pinned: q.ReadInt() != 0, At: fromMicros(q.ReadInt()),
	}
}

// Pins implements [prompt.Rows].
func (r promptRows) Pins(ctx context.Context, tenant string, spans []span.Span) ([]prompt.PinRow, error) {
	number := func(p prompt.PinRow) int64 { return p.Number }
	return page(ctx, r, spans, math.MaxInt, readPin, number, func(s span.Span) *lite.Stmt {
		return r.c.Prepare(`SELECT number, after_seq, seq, pinned, created_at FROM pins
			WHERE tenant = ? AND segment = ? AND after_seq <= ? ORDER BY number`).Text(tenant).Int(s.Segment).Int(s.To)
	})
}

// PutMaterial implements [prompt.Rows].
func (r promptRows) PutMaterial(ctx context.Context, tenant, sha256, text string, at time.Time) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return r.fail(r.c.Prepare(`INSERT INTO materials (tenant, sha256, created_at, text) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`).
		Text(tenant).Text(sha256).Int(micros(at)).Text(text).Run())
}

// Material implements [prompt.Rows].
func (r promptRows) Material(ctx context.Context, tenant, sha256 string) (string, error) {
	if err := r.reading(ctx); err != nil {
		return "", err
	}
	text, ok, err := one(r.tx, r.c.Prepare(`SELECT text FROM materials WHERE tenant = ? AND sha256 = ?`).Text(tenant).Text(sha256),
		func(q *lite.Stmt) string { return q.ReadText() })
	if err == nil && !ok {
		err = prompt.ErrNotFound
	}
	return text, err
}
