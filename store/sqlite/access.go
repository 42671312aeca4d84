package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

const accessColumns = `tenant, key_id, name, scopes, hash, created_at, revoked_at`

// InsertKey implements [access.Rows].
func (r accessRows) InsertKey(ctx context.Context, k access.Key) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	q := r.c.Prepare(`INSERT INTO access_keys (` + accessColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?)`).
		Text(k.Tenant).Text(k.ID).Text(k.Name).Text(k.Scopes.String()).Bytes(k.Hash[:]).Int(micros(k.CreatedAt))
	err := bindTime(q, k.RevokedAt).Run()
	if taken(err) {
		return access.ErrExists
	}
	return r.fail(err)
}

// storedKey is a key as its row has it.
type storedKey struct {
	access.Key
	scopes string
	hash   []byte
}

func readAccess(q *lite.Stmt) storedKey {
	k := storedKey{Key: access.Key{Tenant: q.ReadText(), ID: q.ReadText(), Name: q.ReadText()}, scopes: q.ReadText(), hash: q.ReadBytes()}
	k.CreatedAt, k.RevokedAt = fromMicros(q.ReadInt()), readTime(q)
	return k
}

func (k storedKey) decode() (access.Key, error) {
	var err error
	if k.Scopes, err = access.ParseScopes(k.scopes); err != nil {
		return access.Key{}, fmt.Errorf("key %s: %w", k.ID, err)
	}
	if copy(k.Hash[:], k.hash) != len(k.Hash) {
		return access.Key{}, fmt.Errorf("key %s: a hash of %d bytes", k.ID, len(k.hash))
	}
	return k.Key, nil
}

// Key implements [access.Rows].
func (r accessRows) Key(ctx context.Context, id string) (access.Key, error) {
	if err := r.reading(ctx); err != nil {
		return access.Key{}, err
	}
	k, ok, err := one(r.tx, r.c.Prepare(`SELECT `+accessColumns+` FROM access_keys WHERE key_id = ?`).Text(id), readAccess)
	if err != nil {
		return access.Key{}, err
	}
	if !ok {
		return access.Key{}, access.ErrUnknownKey
	}
	return k.decode()
}

// Keys implements [access.Rows].
func (r accessRows) Keys(ctx context.Context, tenant string) ([]access.Key, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	rows, err := all(r.tx, r.c.Prepare(`SELECT `+accessColumns+` FROM access_keys WHERE tenant = ? ORDER BY key_id`).Text(tenant), readAccess)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	keys := make([]access.Key, len(rows))
	for i := range rows {
		if keys[i], err = rows[i].decode(); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// Keyed implements [access.Rows].
func (r accessRows) Keyed(ctx context.Context) (bool, error) {
	if err := r.reading(ctx); err != nil {
		return false, err
	}
	found, err := all(r.tx, r.c.Prepare(`SELECT 1 FROM access_keys WHERE revoked_at IS NULL LIMIT 1`), func(q *lite.Stmt) int64 { return q.ReadInt() })
	return len(found) > 0, err
}

// RevokeKey implements [access.Rows].
func (r accessRows) RevokeKey(ctx context.Context, tenant, id string, at time.Time) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	err := r.c.Prepare(`UPDATE access_keys SET revoked_at = coalesce(revoked_at, ?) WHERE tenant = ? AND key_id = ?`).
		Int(micros(at)).Text(tenant).Text(id).Run()
	if err == nil && r.c.Changes() == 0 {
		return access.ErrUnknownKey
	}
	return r.fail(err)
}
