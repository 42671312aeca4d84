package mem

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/trace"
)

// committed is what turn commits write next to the log, what follows them, and what prompts and
// compression need beside their sessions. Its slices are replaced or appended to, never changed in place.
type committed struct {
	reminders map[reminderKey]time.Time // when each is looked at
	items     map[rowKey]item
	itemIDs   map[string][]string // a tenant's items in the order of their ids
	digests   map[segmentKey]memory.DigestRow
	exports   map[rowKey]event.Export
	opened    map[turnKey][]string // the exports of a turn's exchanges in the order of their ids
	sentAt    map[rowKey]time.Time // when exports were sent, where that is known
	waiting   map[rowKey]struct{}  // exports that are not published
	published []rowKey             // exports in the order of their numbers
	// publishedOf is published, by tenant
	publishedOf map[string][]rowKey
	deferrals   map[deferralKey]event.Deferral
	events      map[rowKey]event.Event
	places      map[string]int64 // the last place of an event, by tenant
	bus         string           // which publishes
	marks       map[string]event.Mark
	letters     map[letterKey]event.Letter
	parts       map[partKey]trace.Part

	materials    map[rowKey]material // by hash
	calibrations map[rowKey]budget.CalibrationRow
	breakers     map[segmentKey]breaker
	snapshots    map[rowKey]segmentSnapshot

	keys  map[string]access.Key // by id
	links map[hashKey][]chain.Link
}

// rowKey is the key of what has an id that its tenant knows once.
type rowKey struct{ tenant, id string }

type intentionKey struct {
	kind cortex.Kind
	id   string
}

// reminderKey names an action in the session that may have to escalate it.
type reminderKey struct {
	segmentKey
	id string
}

type deferralKey struct{ tenant, export, target string }

// hashKey is the key of the links of one conversation.
type hashKey struct {
	tenant string
	hash   chain.Hash
}

type letterKey struct{ tenant, daemon, export string }

type partKey struct{ tenant, turn, id string }

// item is a memory item and what it is found by, sorted.
type item struct {
	memory.Row
	terms []string
}

func newCommitted() committed {
	return committed{
		reminders: make(map[reminderKey]time.Time),
		items:     make(map[rowKey]item),
		itemIDs:   make(map[string][]string),
		digests:   make(map[segmentKey]memory.DigestRow),
		exports:   make(map[rowKey]event.Export),
		sentAt:    make(map[rowKey]time.Time),
		opened:    make(map[turnKey][]string),
		waiting:   make(map[rowKey]struct{}),
		deferrals: make(map[deferralKey]event.Deferral),
		events:    make(map[rowKey]event.Event),
		places:    make(map[string]int64),

		publishedOf: make(map[string][]rowKey),
		marks:       make(map[string]event.Mark),
		letters:     make(map[letterKey]event.Letter),
		parts:       make(map[partKey]trace.Part),

		materials:    make(map[rowKey]material),
		calibrations: make(map[rowKey]budget.CalibrationRow),
		breakers:     make(map[segmentKey]breaker),
		snapshots:    make(map[rowKey]segmentSnapshot),

		keys:  make(map[string]access.Key),
		links: make(map[hashKey][]chain.Link),
	}
}

// clone copies what a dump reads.
func (c *committed) clone() committed {
	return committed{
		items:     maps.Clone(c.items),
		digests:   maps.Clone(c.digests),
		exports:   maps.Clone(c.exports),
		sentAt:    maps.Clone(c.sentAt),
		deferrals: maps.Clone(c.deferrals),
		bus:       c.bus,
		events:    maps.Clone(c.events),
		marks:     maps.Clone(c.marks),
		letters:   maps.Clone(c.letters),
		parts:     maps.Clone(c.parts),

		materials:    maps.Clone(c.materials),
		calibrations: maps.Clone(c.calibrations),
		breakers:     maps.Clone(c.breakers),
		snapshots:    maps.Clone(c.snapshots),

		keys:  maps.Clone(c.keys),
		links: maps.Clone(c.links),
	}
}

func compareRowKeys(a, b rowKey) int {
	return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.id, b.id))
}

func compareSegments(a, b segmentKey) int {
	return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.segment, b.segment))
}

func compareIntentions(a, b intentionKey) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id))
}

func compareDeferrals(a, b deferralKey) int {
	return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.export, b.export), cmp.Compare(a.target, b.target))
}

func compareLetters(a, b letterKey) int {
	return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.daemon, b.daemon), cmp.Compare(a.export, b.export))
}

func compareParts(a, b partKey) int {
	return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.turn, b.turn), cmp.Compare(a.id, b.id))
}

// inOrder returns the keys of a table in the order of a dump.
func inOrder[K comparable, V any](table map[K]V, compare func(a, b K) int) []K {
	return slices.SortedFunc(maps.Keys(table), compare)
}

// addID returns the sorted list with an id added and leaves the list itself as it is.
func addID(list []string, id string) []string {
	i, _ := slices.BinarySearch(list, id)
	return insertAt(list, i, id)
}
