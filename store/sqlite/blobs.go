package sqlite

import (
	"context"
	"time"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
	"github.com/turnstone-dev/turnstone/turn"
)

// PutBlob implements [turn.BlobRows].
func (r logRows) PutBlob(ctx context.Context, tenant string, b turn.Blob, at time.Time, segment, seq int64) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	err := r.c.Prepare(`UPDATE blobs SET wanted_at = ? WHERE tenant = ? AND sha256 = ?`).
		Int(micros(at)).Text(tenant).Text(b.SHA256).Run()
	if err != nil {
		return r.fail(err)
	}
	if r.c.Changes() == 0 {
		if b.Data == nil {
			return turn.ErrNotFound
		}
		err := r.c.Prepare(`INSERT INTO blobs (tenant, sha256, size, wanted_at, data) VALUES (?, ?, ?, ?, ?)`).
			Text(tenant).Text(b.SHA256).Int(int64(len(b.Data))).Int(micros(at)).Bytes(b.Data).Run()
		if err != nil {
			return r.fail(err)
		}
	}
	return r.fail(r.c.Prepare(`INSERT OR IGNORE INTO blob_refs (tenant, sha256, segment, seq) VALUES (?, ?, ?, ?)`).
		Text(tenant).Text(b.SHA256).Int(segment).Int(seq).Run())
}

// Blob implements [turn.BlobRows].
func (r logRows) Blob(ctx context.Context, tenant, sha256 string) (turn.Blob, error) {
	if err := r.reading(ctx); err != nil {
		return turn.Blob{}, err
	}
	q := r.c.Prepare(`SELECT size, data FROM blobs WHERE tenant = ? AND sha256 = ?`).Text(tenant).Text(sha256)
	defer q.Close()
	found, err := q.Step()
	if err != nil {
		return turn.Blob{}, r.fail(err)
	}
	if !found {
		return turn.Blob{}, turn.ErrNotFound
	}
	return turn.Blob{SHA256: sha256, Size: q.ReadInt(), Data: q.ReadBytes()}, nil
}

// BlobSize implements [turn.BlobRows].
func (r logRows) BlobSize(ctx context.Context, tenant, sha256 string) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	q := r.c.Prepare(`SELECT size FROM blobs WHERE tenant = ? AND sha256 = ?`).Text(tenant).Text(sha256)
	defer q.Close()
	found, err := q.Step()
	if err != nil {
		return 0, r.fail(err)
	}
	if !found {
		return 0, turn.ErrNotFound
	}
	return q.ReadInt(), nil
}

const unreferred = `NOT EXISTS (SELECT 1 FROM blob_refs WHERE blob_refs.tenant = blobs.tenant AND blob_refs.sha256 = blobs.sha256)`

// LooseBlobs implements [turn.BlobRows]. What is not referred to is looked for in the index alone: the table has the
// beginnings of the bytes in it, and is read only for the few that are found.
func (r logRows) LooseBlobs(ctx context.Context, wantedBefore time.Time, limit int) ([]turn.BlobKey, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	q := r.c.Prepare(`SELECT tenant, sha256 FROM blobs WHERE id IN (SELECT id FROM blobs WHERE ` + unreferred + `) AND wanted_at < ? LIMIT ?`).
		Int(micros(wantedBefore)).Int(int64(max(limit, 0)))
	return all(r.tx, q, func(q *lite.Stmt) turn.BlobKey { return turn.BlobKey{Tenant: q.ReadText(), SHA256: q.ReadText()} })
}

// SweepBlobs implements [turn.BlobRows].
func (r logRows) SweepBlobs(ctx context.Context, wantedBefore time.Time, blobs []turn.BlobKey) (swept int64, err error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	for _, b := range blobs {
		err := r.c.Prepare(`DELETE FROM blobs WHERE tenant = ? AND sha256 = ? AND wanted_at < ? AND ` + unreferred).
			Text(b.Tenant).Text(b.SHA256).Int(micros(wantedBefore)).Run()
		if err != nil {
			return 0, r.fail(err)
		}
		swept += r.c.Changes()
	}
	return swept, nil
}
