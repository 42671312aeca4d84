package bus

import (
	"fmt"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// From says where a daemon begins that the bus does not know yet.
type From int

const (
	// Beginning is the oldest export that is retained.
	Beginning From = iota
	// New leaves out what was published before the daemon subscribed for the first time.
	New
)

// Options says how a daemon is served. The zero value is ready for use.
type Options struct {
	// From is where a daemon begins that the bus does not know yet. Defaults to Beginning.
	From From
	// Parallel is how many sessions are handled at once. Defaults to 8.
	Parallel int
	// Backoff is how long a session waits before each further try of a message: one more try than it
	// has elements is made. Defaults to 1, 2 and 4 seconds. An empty, non-nil list means one try only.
	Backoff []time.Duration
	// Timeout is how long one try may take. Defaults to 30 seconds.
	Timeout time.Duration
}

// WithDefaults returns the options with their defaults filled in, or an error that names the option
// that cannot be.
func (o Options) WithDefaults() (Options, error) {
	switch {
	case o.From != Beginning && o.From != New:
		return o, invalid.New("from", fmt.Sprintf("%d is no place to begin", o.From), "use Beginning or New")
	case o.Parallel < 0:
		return o, invalid.New("parallel", "is negative", "use 0 for the default of 8 sessions at once")
	case o.Timeout < 0:
		return o, invalid.New("timeout", "is negative", "use 0 for the default of 30 seconds")
	case slices.ContainsFunc(o.Backoff, func(d time.Duration) bool { return d < 0 }):
		return o, invalid.New("backoff", "holds a negative time", "use times of 0 or more")
	}
	if o.Parallel == 0 {
		o.Parallel = 8
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Backoff == nil {
		o.Backoff = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}
	}
	return o, nil
}

// Check is what a bus asks of a subscription before it begins: it returns the options with their
// defaults, or an error that names what is wrong.
func Check(daemon string, h Handler, o Options) (Options, error) {
	if err := ids.CheckName("daemon", daemon); err != nil {
		return o, err
	}
	if h == nil {
		return o, invalid.New("handler", "is nil", "give a function")
	}
	return o.WithDefaults()
}
