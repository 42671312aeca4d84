package postgres

import (
	"context"
	"encoding/hex"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/chain"
)

// chainRows is the transaction as links see it.
type chainRows struct{ *tx }

// PutLink implements [chain.Rows].
func (r chainRows) PutLink(ctx context.Context, l chain.Link) error {
	return r.write(ctx, "link of "+l.Session,
		`INSERT INTO chain_links (tenant, hash, session_id, seq, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant, hash, session_id) DO UPDATE SET seq = excluded.seq, created_at = excluded.created_at`,
		l.Tenant, hex.EncodeToString(l.Hash[:]), l.Session, l.Seq, l.At.UnixMicro())
}

// Linked implements [chain.Rows].
func (r chainRows) Linked(ctx context.Context, tenant string, hashes []chain.Hash) (int, error) {
	first, _, err := one(ctx, r.tx, func(row pgx.Row) (n int, err error) {
		err = row.Scan(&n)
		return n, err
	}, `SELECT coalesce(min(h.place), 0)::int - 1 FROM unnest($2::text[]) WITH ORDINALITY AS h (hash, place)
		WHERE EXISTS (SELECT 1 FROM chain_links l WHERE l.tenant = $1 AND l.hash = h.hash)`,
		tenant, column(hashes, func(h chain.Hash) string { return hex.EncodeToString(h[:]) }))
	return first, err
}

// Links implements [chain.Rows].
func (r chainRows) Links(ctx context.Context, tenant string, h chain.Hash, limit int) ([]chain.Link, error) {
	return list(ctx, r.tx, func(row pgx.Row) (chain.Link, error) {
		l := chain.Link{Tenant: tenant, Hash: h}
		err := row.Scan(&l.Session, &l.Seq, (*stamp)(&l.At))
		return l, err
	}, `SELECT session_id, seq, created_at FROM chain_links WHERE tenant = $1 AND hash = $2
		ORDER BY created_at DESC, session_id LIMIT $3`, tenant, hex.EncodeToString(h[:]), max(limit, 0))
}
