package mem

import (
	"cmp"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/turn"
)

// data is everything that is kept. It knows no locks and no transactions.
type data struct {
	lastSegment int64
	sessions    map[turn.Key]turn.SessionInfo
	tenants     map[string][]turn.Key // a tenant's sessions in the order of their segments
	bookmarks   map[turn.Key][]turn.Bookmark
	leases      map[turn.Key]turn.Lease
	drafts      map[turn.Key]turn.OpenExchange
	segments    map[segmentKey]*segment
	turnIDs     map[turnKey][]place // one in each segment that has the turn
	blobs       map[blobKey]blob
	committed
}

func newData() *data {
	return &data{
		sessions:  make(map[turn.Key]turn.SessionInfo),
		tenants:   make(map[string][]turn.Key),
		bookmarks: make(map[turn.Key][]turn.Bookmark),
		leases:    make(map[turn.Key]turn.Lease),
		drafts:    make(map[turn.Key]turn.OpenExchange),
		segments:  make(map[segmentKey]*segment),
		turnIDs:   make(map[turnKey][]place),
		blobs:     make(map[blobKey]blob),
		committed: newCommitted(),
	}
}

type segmentKey struct {
	tenant  string
	segment int64
}

type turnKey struct{ tenant, id string }

type blobKey struct{ tenant, sha256 string }

// place is where a turn is stored.
type place struct{ segment, seq int64 }

// segment is what one session appends to. Its slices are replaced or appended to, never changed in
// place, so that a state can hold on to them.
type segment struct {
	turns     []storedTurn // by seq
	units     map[int64][]int64
	keys      map[string]int64     // idempotency keys
	calls     []openCall           // in the order they were made
	flows     []turn.CompletedFlow // in the order they were noted
	revisions []dialogue.RevisionRow
	pointers  map[string][]pointer // by flow, in the order of seqs and turn ids
	pointed   map[dialogue.Pointer]struct{}

	intentions   map[intentionKey][]cortex.Row // by version
	observations map[string]scratch.Row

	epochs  []prompt.EpochRow // by number, like all of these
	prompts []prompt.CallRow
	pins    []prompt.PinRow

	checkpoints []compress.Row // by number and version
	snapshots   []string       // ids in their order
}

func newSegment() *segment {
	return &segment{
		units:    make(map[int64][]int64),
		keys:     make(map[string]int64),
		pointers: make(map[string][]pointer),
		pointed:  make(map[dialogue.Pointer]struct{}),

		intentions:   make(map[intentionKey][]cortex.Row),
		observations: make(map[string]scratch.Row),
	}
}

// storedTurn is a turn with its content as it was encoded, which a dump gives back byte for byte.
type storedTurn struct {
	turn.Turn
	content string
}

// openCall is an open call with its place among those of the segment. Closed calls leave gaps.
type openCall struct {
	turn.OpenCall
	position int64
}

// pointer says that a flow was active in a turn.
type pointer struct {
	seq  int64
	turn string
}

// blob is bytes under their hash, with the turns that refer to them in order.
type blob struct {
	data   []byte // never changed
	wanted time.Time
	refs   []place
}

// find returns the index of the first turn at or after seq, and whether it is the one.
func (s *segment) find(seq int64) (int, bool) {
	return slices.BinarySearchFunc(s.turns, seq, func(t storedTurn, seq int64) int { return cmp.Compare(t.Seq, seq) })
}

// segment returns the segment's rows for reading, nil where nothing was written to it.
func (d *data) segment(tenant string, number int64) *segment {
	return d.segments[segmentKey{tenant, number}]
}

// segment returns the segment's rows for writing.
func (t *tx) segment(tenant string, number int64) *segment {
	if s := t.data.segment(tenant, number); s != nil {
		return s
	}
	s := newSegment()
	put(t, t.data.segments, segmentKey{tenant, number}, s)
	return s
}
