package turnstone

import (
	"context"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// TakeAuto takes an automatic snapshot as a pass does.
func (s *Session) TakeAuto(ctx context.Context) (taken bool, err error) {
	err = s.update(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		taken, err = s.takeAuto(ctx, tx, info)
		return err
	})
	return taken, err
}

// TakeFilled takes one as a prompt does whose room is filled so far.
func (s *Session) TakeFilled(ctx context.Context, filled float64) (taken bool, err error) {
	err = s.update(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		taken, err = s.takeFilled(ctx, tx, info, filled)
		return err
	})
	return taken, err
}
