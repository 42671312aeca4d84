package mem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/access"
)

// accessRows is the transaction as keys see it.
type accessRows struct{ *tx }

// InsertKey implements [access.Rows].
func (r accessRows) InsertKey(ctx context.Context, k access.Key) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	if _, taken := r.data.keys[k.ID]; taken {
		return access.ErrExists
	}
	put(r.tx, r.data.keys, k.ID, k)
	return nil
}

// Key implements [access.Rows].
func (r accessRows) Key(ctx context.Context, id string) (access.Key, error) {
	if err := r.reading(ctx); err != nil {
		return access.Key{}, err
	}
	k, ok := r.data.keys[id]
	if !ok {
		return access.Key{}, access.ErrUnknownKey
	}
	return k, nil
}

// Keys implements [access.Rows].
func (r accessRows) Keys(ctx context.Context, tenant string) ([]access.Key, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []access.Key
	for _, id := range inOrder(r.data.keys, cmp.Compare[string]) {
		if k := r.data.keys[id]; k.Tenant == tenant {
			found = append(found, k)
		}
	}
	return found, nil
}

// Keyed implements [access.Rows].
func (r accessRows) Keyed(ctx context.Context) (bool, error) {
	if err := r.reading(ctx); err != nil {
		return false, err
	}
	for _, k := range r.data.keys {
		if k.RevokedAt.IsZero() {
			return true, nil
		}
	}
	return false, nil
}

// RevokeKey implements [access.Rows].
func (r accessRows) RevokeKey(ctx context.Context, tenant, id string, at time.Time) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	k, ok := r.data.keys[id]
	if !ok || k.Tenant != tenant {
		return access.ErrUnknownKey
	}
	if k.RevokedAt.IsZero() {
		k.RevokedAt = at
		put(r.tx, r.data.keys, id, k)
	}
	return nil
}

func dumpKeys(s *state, row func(...any) error) error {
	compare := func(a, b string) int {
		return cmp.Or(cmp.Compare(s.keys[a].Tenant, s.keys[b].Tenant), cmp.Compare(a, b))
	}
	return each(inOrder(s.keys, compare), func(id string) error {
		k := s.keys[id]
		return row(k.Tenant, k.ID, k.Name, k.Scopes.String(), slices.Clone(k.Hash[:]), k.CreatedAt.UnixMicro(), timeOrNil(k.RevokedAt))
	})
}

func (l *loader) key(ctx context.Context, v *values) (err error) {
	k := access.Key{Tenant: v.text(), ID: v.text(), Name: v.text()}
	if k.Scopes, err = access.ParseScopes(v.text()); err != nil {
		return err
	}
	hash := v.bytes()
	if len(hash) != len(k.Hash) {
		return fmt.Errorf("key %s: a hash of %d bytes", k.ID, len(hash))
	}
	k.Hash = [len(k.Hash)]byte(hash)
	k.CreatedAt, k.RevokedAt = micros(v.int()), v.time()
	return accessRows{l.tx}.InsertKey(ctx, k)
}
