package main

import (
	"context"
	"log/slog"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/resident"
)

// keepSmall has the process hold little memory while it rests. Whoever calls stop waits for it.
func keepSmall(ctx context.Context, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
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
	}
}
