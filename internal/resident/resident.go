// Package resident governs what a long-lived process holds of the machine's memory: enough while it works, little while it
// rests.
package resident

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pause"
)

const (
	// look is how often it is seen whether the process rests.
	look = 10 * time.Second
	// resting is the share of one processor's time below which it does.
	resting = 0.01
)

// Release gives back what the process holds and does not need now: memory that the garbage collector has freed, and on
// Linux the pages of the program itself, of which its start uses many that are never used again. They come back from
// the system's cache one by one as they are used. An error says why pages of the program stay.
func Release() error {
	debug.FreeOSMemory()
	return releaseProgram()
}

// Keep releases at once, and then whenever the process rests that has worked since, until ctx ends. An error is that of a
// release: it is not tried again.
func Keep(ctx context.Context) error {
	return keeper{used: processorTime, release: Release}.keep(ctx)
}

type keeper struct {
	// used is how much of the processors' time the process has had. It is false where that is not known.
	used    func() (time.Duration, bool)
	release func() error
}

func (k keeper) keep(ctx context.Context) error {
	if err := k.release(); err != nil {
		return err
	}
	released := false // what is done right after the start is still to come
	before, known := k.used()
	for known && pause.For(ctx, look) {
		now, ok := k.used()
		rests := ok && now-before < time.Duration(resting*float64(look))
		before = now
		if rests && !released {
			if err := k.release(); err != nil {
				return err
			}
		}
		released = rests
	}
	return nil
}
