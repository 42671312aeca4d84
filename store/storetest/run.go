// Package storetest is the suite that every store passes: one set of rules, run against each of
// them with the same expected results, so that they cannot differ.
package storetest

import (
	"testing"

	"github.com/turnstone-dev/turnstone/store"
)

// Run holds a store to every rule of the socket. Open returns an empty store of its own on each
// call; Run closes it. The stores are used one after the other or, for copies, two at once.
func Run(t *testing.T, open func(t testing.TB) store.Store) {
	for _, topic := range []struct {
		name string
		test func(t *testing.T, open opener)
	}{
		{"sessions", testSessions},
		{"append", testAppend},
		{"idempotency", testIdempotency},
		{"rows", testRows},
		{"transactions", testTransactions},
		{"cancellation", testCancellation},
		{"after commit", testAfterCommit},
		{"leases", testLeases},
		{"units", testUnits},
		{"forks", testForks},
		{"bookmarks", testBookmarks},
		{"history", testHistory},
		{"query", testQuery},
		{"text", testText},
		{"cursors", testCursors},
		{"blobs", testBlobs},
		{"dialogue", testDialogue},
		{"light", testLight},
		{"exactness", testExactness},
		{"dump", testDump},
		{"load", testLoad},
		{"close", testClose},
	} {
		t.Run(topic.name, func(t *testing.T) { topic.test(t, open) })
	}
}

type opener = func(t testing.TB) store.Store
