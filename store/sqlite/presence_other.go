//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sqlite

import (
	"errors"
	"os"
)

// lockFile says that there are no such locks: others are waited for until what they hold runs out.
func lockFile(*os.File, bool) error { return errors.ErrUnsupported }
