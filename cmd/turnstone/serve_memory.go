package main

import (
	"context"
	"log/slog"

	"github.com/turnstone-dev/turnstone/internal/resident"
)

// keepMemory has the process collect its garbage seldom while it works and hold little memory while it rests. Whoever calls
// stop waits for it.
func keepMemory(ctx context.Context, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	leave := resident.Spread(resident.Room())
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := resident.Keep(ctx); err != nil {
			log.WarnContext(ctx, "memory is not given back", "error", err)
		}
	}()
	return func() {
		cancel()
		<-over
		leave()
	}
}
