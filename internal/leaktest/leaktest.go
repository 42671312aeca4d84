// Package leaktest looks for goroutines that were left behind, with the patience that a busy machine needs.
package leaktest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines may take to end that were told to.
const patience = time.Minute

// None reports the goroutines that have not ended a minute later, but for those that the options are about.
func None(t testing.TB, options ...goleak.Option) {
	t.Helper()
	if err := find(options); err != nil {
		t.Error(err)
	}
}

// Main runs the tests of a package, and returns the exit code of its TestMain: that of a failure where goroutines are left
// behind.
func Main(m *testing.M) int {
	code := m.Run()
	if code == 0 {
		if err := find(nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// find looks again and again: goleak itself gives up after half a second.
func find(options []goleak.Option) error {
	for begin := time.Now(); ; {
		if err := goleak.Find(options...); err == nil || time.Since(begin) > patience {
			return err
		}
	}
}
