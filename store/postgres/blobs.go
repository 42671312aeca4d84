package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/turn"
)

// PutBlob implements [turn.BlobRows].
func (r logRows) PutBlob(ctx context.Context, tenant string, b turn.Blob, at time.Time, segment, seq int64) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	wanted, err := r.exec(ctx, `UPDATE blobs SET wanted_at = $3 WHERE tenant = $1 AND sha256 = $2`,
		tenant, b.SHA256, at.UnixMicro())
	if err != nil {
		return err
	}
	if wanted == 0 {
		if b.Data == nil {
			return turn.ErrNotFound
		}
		// Another transaction may be storing the same bytes now, or sweeping them: this waits for it.
		_, err := r.exec(ctx, `INSERT INTO blobs (tenant, sha256, size, data, wanted_at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (tenant, sha256) DO UPDATE SET wanted_at = excluded.wanted_at`,
			tenant, b.SHA256, int64(len(b.Data)), b.Data, at.UnixMicro())
		if err != nil {
			return err
		}
	}
	r.later("blob "+b.SHA256, `INSERT INTO blob_refs (tenant, sha256, segment, seq) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
		tenant, b.SHA256, segment, seq)
	return nil
}

// Blob implements [turn.BlobRows].
func (r logRows) Blob(ctx context.Context, tenant, sha256 string) (turn.Blob, error) {
	b := turn.Blob{SHA256: sha256}
	err := r.row(ctx, func(row pgx.Row) error { return row.Scan(&b.Size, &b.Data) },
		`SELECT size, data FROM blobs WHERE tenant = $1 AND sha256 = $2`, tenant, sha256)
	if err != nil {
		return turn.Blob{}, noRows(err)
	}
	return b, nil
}

// BlobSize implements [turn.BlobRows].
func (r logRows) BlobSize(ctx context.Context, tenant, sha256 string) (size int64, err error) {
	err = r.row(ctx, func(row pgx.Row) error { return row.Scan(&size) },
		`SELECT size FROM blobs WHERE tenant = $1 AND sha256 = $2`, tenant, sha256)
	return size, noRows(err)
}

const unreferred = `NOT EXISTS (SELECT FROM blob_refs f WHERE f.tenant = b.tenant AND f.sha256 = b.sha256)`

// LooseBlobs implements [turn.BlobRows].
func (r logRows) LooseBlobs(ctx context.Context, wantedBefore time.Time, limit int) ([]turn.BlobKey, error) {
	return list(ctx, r.tx, func(row pgx.Row) (k turn.BlobKey, err error) {
		err = row.Scan(&k.Tenant, &k.SHA256)
		return k, err
	}, `SELECT tenant, sha256 FROM blobs b WHERE wanted_at < $1 AND `+unreferred+` LIMIT $2`, wantedBefore.UnixMicro(), max(limit, 0))
}

// SweepBlobs implements [turn.BlobRows]. References that other transactions are adding at this
// moment cannot be seen. Their PutBlob has moved wanted_at and holds that row, so that this waits
// for them and looks at wanted_at again: they are safe as long as the given time lies before theirs.
func (r logRows) SweepBlobs(ctx context.Context, wantedBefore time.Time, blobs []turn.BlobKey) (int64, error) {
	tenants, hashes := make([]string, len(blobs)), make([]string, len(blobs))
	for i, b := range blobs {
		tenants[i], hashes[i] = b.Tenant, b.SHA256
	}
	return r.exec(ctx, `DELETE FROM blobs b USING unnest($2::text[], $3::text[]) AS k (tenant, sha256)
		WHERE b.tenant = k.tenant AND b.sha256 = k.sha256 AND b.wanted_at < $1 AND `+unreferred, wantedBefore.UnixMicro(), tenants, hashes)
}
