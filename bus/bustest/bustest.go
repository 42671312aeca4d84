// Package bustest is the suite that every bus passes.
package bustest

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/store"
)

// Place is somewhere that exports wait and daemons are remembered, for one test.
type Place struct {
	// Store holds the outbox and the dead letters. The factory closes it.
	Store store.Store
	// Open returns a bus on the place's data. Opened again, it goes on where the one before stopped. The
	// suite closes it. Kill, called before Close, has the bus end as if its process died: nothing that
	// it does afterwards has an effect on the place's data.
	//
	// A lease is to last two seconds, so that a machine with much else to do does not lose it, and be looked at every few milliseconds.
	Open func(t *testing.T, bodies bus.Bodies, rec bus.Recorder) (b bus.Bus, kill func())
	// Foreign are goroutines that are not the bus's, of a server in the same process.
	Foreign []goleak.Option
}

// Run runs the suite. Each test has a place of its own.
func Run(t *testing.T, factory func(*testing.T) Place) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *world)
	}{
		{"every daemon gets every export", everyDaemon},
		{"sessions keep their order and run side by side", order},
		{"one session is never handled twice at once", alone},
		{"a new daemon begins where it says", begin},
		{"a daemon goes on where it stopped", goOn},
		{"what was not done when a process died comes again", crash},
		{"a slow daemon delays no other", slow},
		{"a failing handler is tried again and given up", deadLetter},
		{"a failing session delays no other", failingSession},
		{"a handler that succeeds later is done", laterSuccess},
		{"a rejected message is given up at once", reject},
		{"a panic is an error", panics},
		{"a handler has a deadline", deadline},
		{"of two under one name one works", standBy},
		{"who stands by takes over from a dead process", takeOver},
		{"an export that is published again comes once", duplicate},
		{"a relay that is stopped in the middle loses nothing", relayRestart},
		{"several relays publish each export once and in order", relays},
		{"a relay publishes when woken", relayWake},
		{"completions that cannot be recorded come again", recorderFails},
		{"a message whose body cannot be made stops no other", unmade},
		{"a subscription ends with its context", contextEnds},
		{"wrong subscriptions are refused", refused},
		{"a closed bus says so and leaves nothing behind", closed},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(t, newWorld(t, factory))
		})
	}
}
