package sqlite

import (
	"context"

	"github.com/turnstone-dev/turnstone/dialogue"
)

// lightRows is the transaction as the follow-up context sees it. It lives in memory, so that an update that comes
// to nothing must not have touched it.
type lightRows struct{ *tx }

// StoreLight implements [dialogue.LightRows].
func (r lightRows) StoreLight(ctx context.Context, key dialogue.LightKey, c dialogue.LightContext) error {
	return r.afterwards(ctx, key, func() error { return r.s.light.Store(ctx, key, c) })
}

// HearLight implements [dialogue.LightRows].
func (r lightRows) HearLight(ctx context.Context, key dialogue.LightKey, message string) error {
	return r.afterwards(ctx, key, func() error { return r.s.light.Hear(key, message) })
}

func (r lightRows) afterwards(ctx context.Context, key dialogue.LightKey, keep func() error) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	if err := key.Check(); err != nil {
		return err
	}
	r.AfterCommit(func() { _ = keep() }) // the key is all that it could refuse
	return nil
}
