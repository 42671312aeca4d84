package snapshot_test

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/turn"
)

// A session of 40 turns goes back to turn 12, says 8 more, and goes back to turn 44.
func ExamplePath() {
	whole := []turn.Range{{From: 1}}
	first := snapshot.Path(whole, 12, 40)
	fmt.Println(first)
	fmt.Println(snapshot.Path(first, 44, 48))
	// Output:
	// [{1 12} {41 0}]
	// [{1 12} {41 44} {49 0}]
}
