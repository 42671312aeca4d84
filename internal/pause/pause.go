// Package pause waits for a while, or until nobody wants to wait any longer.
package pause

import (
	"context"
	"time"
)

// For waits and reports whether ctx is still alive.
func For(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}
