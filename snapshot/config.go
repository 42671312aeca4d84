package snapshot

import (
	"fmt"
	"math"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Keep is how many automatic snapshots of a session stay when they are swept. Those that a user took stay until
// they are deleted.
const Keep = 20

// Config says when snapshots are taken. The zero value is ready for use.
type Config struct {
	// Off takes no snapshots at all; those there are can still be gone back to.
	Off bool
	// NoAuto takes none but those that are asked for.
	NoAuto bool
	// AutoThreshold is how much of its room the conversation fills when an automatic one is taken, once in an
	// epoch. One is taken before every pass of compression, whatever the conversation fills. Defaults to 0.80.
	AutoThreshold float64
}

const defaultThreshold = 0.80

// WithDefaults returns the settings with their defaults, or a *[FieldError] that names what is nonsense.
func (c Config) WithDefaults() (Config, error) {
	if c.AutoThreshold == 0 {
		c.AutoThreshold = defaultThreshold
	}
	if math.IsNaN(c.AutoThreshold) || c.AutoThreshold < 0 || c.AutoThreshold > 1 {
		return c, invalid.New("snapshots.autoThreshold", fmt.Sprintf("%g is no share", c.AutoThreshold), "give one up to 1, or 0 for the default")
	}
	return c, nil
}

// Auto reports whether automatic snapshots are taken.
func (c Config) Auto() bool { return !c.Off && !c.NoAuto }
