package sqlite

import (
	"context"
	"encoding/hex"

	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// PutLink implements [chain.Rows].
func (r chainRows) PutLink(ctx context.Context, l chain.Link) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return r.fail(r.c.Prepare(`INSERT OR REPLACE INTO chain_links (tenant, hash, session_id, seq, created_at) VALUES (?, ?, ?, ?, ?)`).
		Text(l.Tenant).Text(hex.EncodeToString(l.Hash[:])).Text(l.Session).Int(l.Seq).Int(micros(l.At)).Run())
}

// Linked implements [chain.Rows].
func (r chainRows) Linked(ctx context.Context, tenant string, hashes []chain.Hash) (int, error) {
	if err := r.reading(ctx); err != nil {
		return -1, err
	}
	list := make([]byte, 0, len(hashes)*(2*len(chain.Hash{})+len(`"",`))+len(`[]`))
	list = append(list, '[')
	for i := range hashes {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(hex.AppendEncode(append(list, '"'), hashes[i][:]), '"')
	}
	list = append(list, ']')
	first, _, err := one(r.tx, r.c.Prepare(`SELECT coalesce(min(h.key), -1) FROM json_each(?) AS h
		WHERE EXISTS (SELECT 1 FROM chain_links WHERE tenant = ? AND hash = h.value)`).Text(string(list)).Text(tenant), readInt)
	return int(first), err
}

// Links implements [chain.Rows].
func (r chainRows) Links(ctx context.Context, tenant string, h chain.Hash, limit int) ([]chain.Link, error) {
	if err := r.reading(ctx); err != nil || limit <= 0 {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT session_id, seq, created_at FROM chain_links INDEXED BY chain_links_newest
		WHERE tenant = ? AND hash = ? ORDER BY created_at DESC, session_id LIMIT ?`).
		Text(tenant).Text(hex.EncodeToString(h[:])).Int(int64(limit)), func(q *lite.Stmt) chain.Link {
		return chain.Link{Tenant: tenant, Hash: h, Session: q.ReadText(), Seq: q.ReadInt(), At: fromMicros(q.ReadInt())}
	})
}
