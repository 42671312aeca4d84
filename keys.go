package turnstone

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/store"
)

// CreateKey makes a key that opens the engine's tenant to whoever shows its secret, for the given scopes. The name
// tells people what it is for and may be empty. The secret is told here once and kept nowhere. The error is an
// *access.FieldError for what cannot be a key.
func (e *Engine) CreateKey(ctx context.Context, name string, scopes access.Scopes) (secret string, k access.Key, err error) {
	id := e.newID()
	err = e.store.Update(ctx, func(tx store.Tx) error {
		if secret, k, err = access.New(id, e.config.Tenant, name, scopes, tx.Now()); err != nil {
			return err
		}
		return tx.Access().InsertKey(ctx, k)
	})
	if err != nil {
		return "", access.Key{}, fmt.Errorf("key: %w", err)
	}
	return secret, k, nil
}

// Keys lists the keys of the engine's tenant, the oldest first, also those that were revoked.
func (e *Engine) Keys(ctx context.Context) (keys []access.Key, err error) {
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		keys, err = tx.Access().Keys(ctx, e.config.Tenant)
		return err
	})
	return keys, err
}

// Keyed reports whether any tenant has a key that was not revoked: whether there is anybody to let in.
func (e *Engine) Keyed(ctx context.Context) (keyed bool, err error) {
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		keyed, err = tx.Access().Keyed(ctx)
		return err
	})
	return keyed, err
}

// RevokeKey has the key of that id open nothing any more: at once for this engine, and within two seconds for every
// other on the same store. What was revoked stays so; again is no error. access.ErrUnknownKey if the tenant has none
// of that id.
func (e *Engine) RevokeKey(ctx context.Context, id string) error {
	id = strings.ToUpper(id)
	err := e.store.Update(ctx, func(tx store.Tx) error {
		tx.AfterCommit(func() { e.shared.callers.forget(id) })
		return tx.Access().RevokeKey(ctx, e.config.Tenant, id, tx.Now())
	})
	if err != nil {
		return fmt.Errorf("key %s: %w", id, err)
	}
	return nil
}

// Identify returns who shows a secret, of whatever tenant: [Engine.ForTenant] is the way on. access.ErrUnknownKey for a
// secret that opens nothing. What is known of a key is good for a second, or for two while it is looked at again, so
// that hardly any call reads from the store; that there is none is good for a second.
func (e *Engine) Identify(ctx context.Context, secret string) (access.Caller, error) {
	shown, err := access.Parse(secret)
	if err != nil {
		return access.Caller{}, err
	}
	k, ok := e.shared.callers.known(shown.ID)
	if !ok {
		if e.shared.callers.unknown(shown.ID) {
			return access.Caller{}, access.ErrUnknownKey
		}
		changes := e.shared.callers.changed()
		err := e.store.View(ctx, func(tx store.Tx) (err error) {
			k, err = tx.Access().Key(ctx, shown.ID)
			return err
		})
		if errors.Is(err, access.ErrUnknownKey) {
			e.shared.callers.miss(shown.ID)
			return access.Caller{}, err
		}
		if err != nil {
			e.shared.callers.forget(shown.ID)
			return access.Caller{}, err
		}
		e.shared.callers.learn(k, changes)
	}
	return k.Verify(shown)
}
