// Package storetest is the suite that every store passes: one set of rules, run against each of
// them with the same expected results, so that they cannot differ.
package storetest

import (
	"testing"

	"github.com/turnstone-dev/turnstone/store"
)

// meeting says whether goroutines meet in a topic.
type meeting int

const (
	alone   meeting = iota // it writes and reads from one goroutine
	between                // it writes from several, or reads while a goroutine of the store's writes
)

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
			meet meeting
		}{
			{"sessions", testSessions, alone},
			{"append", testAppend, between},
			{"idempotency", testIdempotency, between},
			{"rows", testRows, alone},
			{"transactions", testTransactions, between},
			{"cancellation", testCancellation, between},
			{"commit", testAfterCommit, between},
			{"leases", testLeases, between},
			{"exchanges", testExchanges, alone},
			{"forgetting", testForgetting, alone},
			{"units", testUnits, alone},
			{"forks", testForks, alone},
			{"bookmarks", testBookmarks, alone},
			{"query", testQuery, alone},
			{"text", testText, between},
			{"places", testPlaces, alone},
			{"cursors", testCursors, alone},
			{"dialogue", testDialogue, between},
			{"light", testLight, between},
			{"history", testHistory, alone},
			{"exactness", testExactness, alone},
			{"intentions", testIntentions, alone},
			{"observations", testObservations, alone},
			{"items", testItems, between},
			{"filters", testItemFilters, alone},
			{"digests", testDigests, alone},
			{"events", testEvents, alone},
			{"traces", testTraces, alone},
			{"keys", testAccess, alone},
			{"links", testLinks, alone},
			{"epochs", testEpochs, alone},
			{"prompts", testPrompts, alone},
			{"pins", testPins, alone},
			{"materials", testMaterials, alone},
			{"calibrations", testCalibrations, alone},
			{"checkpoints", testCheckpoints, alone},
			{"breakers", testBreakers, alone},
			{"snapshots", testSnapshots, alone},
			{"swept-snapshots", testSweptSnapshots, alone},
			{"savepoints", testSavepoints, alone},
			{"exact-rows", testExactRows, alone},
			{"exact-prompts", testExactPrompts, alone},
			{"exact-checkpoints", testExactCheckpoints, alone},
		} {
			if testing.Short() && topic.meet == alone {
				continue
			}
			t.Run(topic.name, func(t *testing.T) { topic.test(t, w.as(t, topic.name)) })
		}
	})
	for _, topic := range []struct {
		name string
		test func(t *testing.T, open opener)
		meet meeting
	}{
		{"blobs", testBlobs, alone},
		{"exports", testExports, alone},
		{"deferrals", testDeferrals, alone},
		{"daemons", testDaemons, alone},
		{"publish", testPublish, between},
		{"publish at once", testPublishAtOnce, between},
		{"buses", testBuses, between},
		{"sweeps", testSweeps, alone},
		{"dump", testDump, between},
		{"load", testLoad, alone},
		{"limits", testLimits, alone},
		{"close", testClose, between},
	} {
		if testing.Short() && topic.meet == alone {
			continue
		}
		t.Run(topic.name, func(t *testing.T) { topic.test(t, open) })
	}
}

type opener = func(t testing.TB) store.Store
