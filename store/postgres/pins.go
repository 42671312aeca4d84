package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/prompt"
)

// InsertPin implements [prompt.Rows].
func (r promptRows) InsertPin(ctx context.Context, tenant string, segment int64, p prompt.PinRow) error {
	pinned := int64(0)
	if p.Pinned {
		pinned = 1
	}
	return r.insert(ctx, fmt.Sprintf("pin %d", p.Number), prompt.ErrStale,
		`INSERT INTO pins (tenant, segment, number, after_seq, seq, pinned, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		tenant, segment, p.Number, p.AfterSeq, p.Seq, pinned, p.At.UnixMicro())
}

func scanPin(row pgx.Row) (p prompt.PinRow, err error) {
	var pinned int64
	err = row.Scan(&p.Number, &p.AfterSeq, &p.Seq, &pinned, (*stamp)(&p.At))
	p.Pinned = pinned == 1
	return p, err
}

// Pins implements [prompt.Rows].
func (r promptRows) Pins(ctx context.Context, tenant string, spans []span.Span) ([]prompt.PinRow, error) {
	segments, ends := along(spans)
	return list(ctx, r.tx, scanPin, pinsSQL, tenant, segments, ends)
}

// PutMaterial implements [prompt.Rows].
func (r promptRows) PutMaterial(ctx context.Context, tenant, sha256, text string, at time.Time) error {
	return r.write(ctx, "material "+sha256,
		`INSERT INTO materials (tenant, sha256, text, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
		tenant, sha256, text, at.UnixMicro())
}

// Material implements [prompt.Rows].
func (r promptRows) Material(ctx context.Context, tenant, sha256 string) (string, error) {
	return found(one(ctx, r.tx, func(row pgx.Row) (text string, err error) {
		err = row.Scan(&text)
		return text, err
	}, `SELECT text FROM materials WHERE tenant = $1 AND sha256 = $2`, tenant, sha256))
}
