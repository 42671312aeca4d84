package mem

import (
	"cmp"
	"maps"
	"slices"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/turn"
)

// state is one state of the store, read without its lock. Taking it copies what changes and
// holds on to what is only ever added to.
type state struct {
	sessions  []turn.SessionInfo // by key
	bookmarks map[turn.Key][]turn.Bookmark
	leases    map[turn.Key]turn.Lease
	drafts    map[turn.Key]turn.OpenExchange
	numbers   []segmentKey
	segments  map[segmentKey]segment
	hashes    []blobKey
	blobs     map[blobKey]blob
	committed
}

func (d *data) state() *state {
	s := &state{
		bookmarks: maps.Clone(d.bookmarks),
		leases:    maps.Clone(d.leases),
		drafts:    maps.Clone(d.drafts),
		segments:  make(map[segmentKey]segment, len(d.segments)),
		blobs:     maps.Clone(d.blobs),
		committed: d.committed.clone(),
	}
	s.sessions = slices.SortedFunc(maps.Values(d.sessions), func(a, b turn.SessionInfo) int { return compareKeys(a.Key, b.Key) })
	for key, g := range d.segments {
		s.segments[key] = segment{
			turns: g.turns, calls: g.calls, flows: g.flows, revisions: g.revisions,
			pointers: maps.Clone(g.pointers), intentions: maps.Clone(g.intentions), observations: maps.Clone(g.observations),
			epochs: g.epochs, prompts: g.prompts, pins: g.pins, checkpoints: g.checkpoints,
		}
	}
	s.numbers = slices.SortedFunc(maps.Keys(s.segments), func(a, b segmentKey) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.segment, b.segment))
	})
	s.hashes = slices.SortedFunc(maps.Keys(s.blobs), func(a, b blobKey) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.sha256, b.sha256))
	})
	return s
}

func compareKeys(a, b turn.Key) int {
	return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Session, b.Session))
}

// flowTurn is a row of flow_turns.
type flowTurn struct {
	dialogue.Pointer
	seq int64
}

// flowTurns returns the segment's pointers in the order of their key.
func (s *segment) flowTurns() []flowTurn {
	var rows []flowTurn
	for flow, list := range s.pointers {
		for _, p := range list {
			rows = append(rows, flowTurn{dialogue.Pointer{FlowID: flow, TurnID: p.turn}, p.seq})
		}
	}
	slices.SortFunc(rows, func(a, b flowTurn) int {
		return cmp.Or(cmp.Compare(a.FlowID, b.FlowID), cmp.Compare(a.TurnID, b.TurnID))
	})
	return rows
}
