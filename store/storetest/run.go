// Package storetest is the suite that every store passes: one set of rules, run against each of
// them with the same expected results, so that they cannot differ.
package storetest

import (
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/store"
)

// shared are the topics that write from several goroutines, or read while a goroutine of the store's writes.
var shared = []string{
	"append", "idempotency", "transactions", "cancellation", "commit", "leases", "dialogue", "light", "text", "items",
	"publish", "publish at once", "dump", "close",
}

// Run holds a store to every rule of the socket. Open returns an empty store of its own on each
// call; Run closes it. What does not need an empty store is tested in one, each topic as a
// tenant of its own. With -short only those topics are tested in which goroutines meet, which is what the race
// detector can see.
func Run(t *testing.T, open func(t testing.TB) store.Store) {
	t.Run("together", func(t *testing.T) {
		w := newWorld(t, open)
		for _, topic := range []struct {
			name string
			test func(t *testing.T, w *world)
		}{
			{"sessions", testSessions},
			{"append", testAppend},
			{"idempotency", testIdempotency},
			{"rows", testRows},
			{"transactions", testTransactions},
			{"cancellation", testCancellation},
			{"commit", testAfterCommit},
			{"leases", testLeases},
			{"exchanges", testExchanges},
			{"forgetting", testForgetting},
			{"units", testUnits},
			{"forks", testForks},
			{"bookmarks", testBookmarks},
			{"query", testQuery},
			{"text", testText},
			{"places", testPlaces},
			{"cursors", testCursors},
			{"dialogue", testDialogue},
			{"light", testLight},
			{"history", testHistory},
			{"exactness", testExactness},
			{"intentions", testIntentions},
			{"observations", testObservations},
			{"items", testItems},
			{"filters", testItemFilters},
			{"digests", testDigests},
			{"events", testEvents},
			{"traces", testTraces},
			{"keys", testAccess},
			{"links", testLinks},
			{"epochs", testEpochs},
			{"prompts", testPrompts},
			{"pins", testPins},
			{"materials", testMaterials},
			{"calibrations", testCalibrations},
			{"checkpoints", testCheckpoints},
			{"breakers", testBreakers},
			{"snapshots", testSnapshots},
			{"swept-snapshots", testSweptSnapshots},
			{"savepoints", testSavepoints},
			{"exact-rows", testExactRows},
			{"exact-prompts", testExactPrompts},
			{"exact-checkpoints", testExactCheckpoints},
		} {
			if testing.Short() && !slices.Contains(shared, topic.name) {
				continue
			}
			t.Run(topic.name, func(t *testing.T) { topic.test(t, w.as(t, topic.name)) })
		}
	})
	for _, topic := range []struct {
		name string
		test func(t *testing.T, open opener)
	}{
		{"blobs", testBlobs},
		{"exports", testExports},
		{"deferrals", testDeferrals},
		{"daemons", testDaemons},
		{"publish", testPublish},
		{"publish at once", testPublishAtOnce},
		{"sweeps", testSweeps},
		{"dump", testDump},
		{"load", testLoad},
		{"close", testClose},
	} {
		if testing.Short() && !slices.Contains(shared, topic.name) {
			continue
		}
		t.Run(topic.name, func(t *testing.T) { topic.test(t, open) })
	}
}

type opener = func(t testing.TB) store.Store
