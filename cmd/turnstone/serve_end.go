package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
)

// twice calls a function when the process is told to end for the second time; a third time ends it at once. Whoever calls
// stop waits for it.
func twice(hurry func()) (stop func()) {
	signals, done, over := make(chan os.Signal, 2), make(chan struct{}), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer close(over)
		defer signal.Stop(signals)
		for range 2 {
			select {
			case <-signals:
			case <-done:
				return
			}
		}
		hurry()
	}()
	return func() {
		close(done)
		<-over
	}
}

// noteEnding says what a server waits for that was told to end.
func (a *app) noteEnding(underWay int, grace time.Duration) {
	if underWay == 0 {
		a.note("ending")
		return
	}
	a.note("finishing %s, at most %s; again to end now", progress.Count(int64(underWay), "request"), grace)
}
