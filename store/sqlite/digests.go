package sqlite

import (
	"context"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// Digest implements [memory.Rows].
func (r memoryRows) Digest(ctx context.Context, tenant string, segment int64) (memory.DigestRow, bool, error) {
	if err := r.reading(ctx); err != nil {
		return memory.DigestRow{}, false, err
	}
	return one(r.tx, r.c.Prepare(`SELECT through_seq, changed_at, doc FROM digests WHERE tenant = ? AND segment = ?`).
		Text(tenant).Int(segment), func(q *lite.Stmt) memory.DigestRow {
		return memory.DigestRow{ThroughSeq: q.ReadInt(), At: fromMicros(q.ReadInt()), Doc: q.ReadText()}
	})
}

// PutDigest implements [memory.Rows].
func (r memoryRows) PutDigest(ctx context.Context, tenant string, segment int64, d memory.DigestRow) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	// All but the first of a session replace one.
	err := r.c.Prepare(`UPDATE digests SET through_seq = ?, changed_at = ?, doc = ? WHERE tenant = ? AND segment = ?`).
		Int(d.ThroughSeq).Int(micros(d.At)).Text(d.Doc).Text(tenant).Int(segment).Run()
	if err != nil || r.c.Changes() > 0 {
		return r.fail(err)
	}
	return r.fail(r.c.Prepare(`INSERT INTO digests (tenant, segment, through_seq, changed_at, doc) VALUES (?, ?, ?, ?, ?)`).
		Text(tenant).Int(segment).Int(d.ThroughSeq).Int(micros(d.At)).Text(d.Doc).Run())
}
