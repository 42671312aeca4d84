package sqlite

import (
	"fmt"
	"runtime"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Synchronous says when an update counts as durable.
type Synchronous string

const (
	// Full waits for the disk at every commit: what Update acknowledged survives a power cut.
	Full Synchronous = "full"
	// Normal leaves it to the system when to write: what Update acknowledged survives the end of the
	// process, however sudden, but a power cut may take the last updates, newest first. The file
	// stays whole, unless the disk fails: only with Full is what it could not sync written again.
	Normal Synchronous = "normal"
)

// Config says how a store behaves. The zero value is ready for use.
type Config struct {
	// Synchronous says when an update counts as durable. Defaults to Full.
	Synchronous Synchronous
	// GroupCommit is how many waiting updates are folded into one transaction at most. Defaults to
	// 64; 1 makes a transaction of each.
	GroupCommit int
	// Readers is how many views may run at the same time; more wait. Defaults to the number of
	// processors, at least 4.
	Readers int
	// BusyTimeout is how long to wait for another process that is writing. Defaults to 5 seconds.
	BusyTimeout time.Duration
	// Clock tells the time of transactions. Defaults to time.Now.
	Clock func() time.Time
	// LightTimeout is how long a follow-up context is kept. Defaults to [dialogue.LightTimeout].
	LightTimeout time.Duration
}

func (c Config) withDefaults() (Config, error) {
	switch c.Synchronous {
	case "":
		c.Synchronous = Full
	case Full, Normal:
	default:
		return c, invalid.New("synchronous", fmt.Sprintf("%q is not known", c.Synchronous), "use full or normal")
	}
	if c.GroupCommit < 0 || c.Readers < 0 || c.BusyTimeout < 0 || c.LightTimeout < 0 {
		return c, invalid.New("config", "GroupCommit, Readers, BusyTimeout and LightTimeout may not be negative", "use 0 for the default")
	}
	if c.GroupCommit == 0 {
		c.GroupCommit = 64
	}
	if c.Readers == 0 {
		c.Readers = max(4, runtime.GOMAXPROCS(0))
	}
	if c.BusyTimeout == 0 {
		c.BusyTimeout = 5 * time.Second
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return c, nil
}
