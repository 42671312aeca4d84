package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/access"
)

// accessRows is the transaction as keys see it.
type accessRows struct{ *tx }

const accessColumns = `tenant, key_id, name, scopes, hash, created_at, revoked_at`

// InsertKey implements [access.Rows].
func (r accessRows) InsertKey(ctx context.Context, k access.Key) error {
	return r.insert(ctx, "key "+k.ID, access.ErrExists, `INSERT INTO access_keys (`+accessColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		k.Tenant, k.ID, k.Name, k.Scopes.String(), k.Hash[:], k.CreatedAt.UnixMicro(), orNever(k.RevokedAt))
}

func scanAccess(row pgx.Row) (k access.Key, err error) {
	var scopes string
	var hash []byte
	if err = row.Scan(&k.Tenant, &k.ID, &k.Name, &scopes, &hash, (*stamp)(&k.CreatedAt), (*stamp)(&k.RevokedAt)); err != nil {
		return k, err
	}
	if k.Scopes, err = access.ParseScopes(scopes); err != nil {
		return k, fmt.Errorf("key %s: %w", k.ID, err)
	}
	if copy(k.Hash[:], hash) != len(k.Hash) {
		return k, fmt.Errorf("key %s: a hash of %d bytes", k.ID, len(hash))
	}
	return k, nil
}

// Key implements [access.Rows].
func (r accessRows) Key(ctx context.Context, id string) (access.Key, error) {
	k, ok, err := one(ctx, r.tx, scanAccess, `SELECT `+accessColumns+` FROM access_keys WHERE key_id = $1`, id)
	if err == nil && !ok {
		err = access.ErrUnknownKey
	}
	return k, err
}

// Keys implements [access.Rows].
func (r accessRows) Keys(ctx context.Context, tenant string) ([]access.Key, error) {
	return list(ctx, r.tx, scanAccess, `SELECT `+accessColumns+` FROM access_keys WHERE tenant = $1 ORDER BY key_id`, tenant)
}

// Keyed implements [access.Rows].
func (r accessRows) Keyed(ctx context.Context) (bool, error) {
	_, found, err := one(ctx, r.tx, scanAccess, `SELECT `+accessColumns+` FROM access_keys WHERE revoked_at IS NULL LIMIT 1`)
	return found, err
}

// RevokeKey implements [access.Rows].
func (r accessRows) RevokeKey(ctx context.Context, tenant, id string, at time.Time) error {
	n, err := r.exec(ctx, `UPDATE access_keys SET revoked_at = coalesce(revoked_at, $3) WHERE tenant = $1 AND key_id = $2`,
		tenant, id, at.UnixMicro())
	if err == nil && n == 0 {
		err = access.ErrUnknownKey
	}
	return err
}
