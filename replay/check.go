package replay

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// bounds are of what is remembered while a bundle is read or written.
type bounds struct {
	openCalls, blobs, names, items, summaries, materials, checkpoints, epochs, snapshots int
}

var defaultBounds = bounds{
	openCalls: 1 << 16, blobs: 1 << 20, names: 4 << 20, items: 1 << 20, summaries: 1 << 20, materials: 1 << 20,
	checkpoints: 1 << 20, epochs: 1 << 20, snapshots: 1 << 20,
}

// noLimits lets through what a store holds, whatever the limits were that it was written under.
var noLimits = turn.Limits{Text: math.MaxInt64, Blob: math.MaxInt64, Calls: math.MaxInt}

// checker holds the records of one bundle, in their order, against the rules of the format and of
// the log. It is the same for reading and writing.
type checker struct {
	head   int64
	limits turn.Limits
	bounds bounds
	// trusted skips what need not be asked twice: a file that was verified before and whose sum is
	// compared at the end, or a store's own content.
	trusted bool
	// names remembers turn ids and idempotency keys to find one that stands twice. Nil where a store
	// looks after that.
	names map[name]struct{}

	section  section
	seq      int64
	wanted   string // the blob that the next turn must refer to
	blobs    map[string]int64
	calls    calls
	revision dialogue.RevisionRow
	pointer  dialogue.PointerRow
	finished turn.CompletedFlow
	bookmark string

	intention cortex.Row // the last one, without its text
	note      string     // the last observation
	live      int        // observations
	item      string     // the last memory item
	items     int
	digest    bool
	part      trace.Part // the last one, without its text

	summaries     map[int64]struct{} // turns that no prompt shows, as many as are remembered
	text, setting string             // the hash of the last one
	materials     map[string]material
	settings      map[string]bool // whether an epoch has them
	checkpoint    compress.Row    // the last one, without its text
	checkpoints   map[version]madeCheckpoint
	epochs        []int64       // the turn that each was opened after
	pin           prompt.PinRow // the last one
	pinned        []int64       // the turns that are pinned after it, ascending
	prompts       int64         // the last one
	breaker       bool
	snapshot      string // the last one
	snapshots     int
}

// section is a part of a bundle. Records come section by section.
type section int

const (
	inTurns section = iota
	inRevisions
	inFlowTurns
	inCompletedFlows
	inBookmarks
	inIntentions
	inObservations
	inMemoryItems
	inDigest
	inTraceParts
	inMaterials
	inSettings
	inCheckpoints
	inEpochs
	inPins
	inPrompts
	inBreaker
	inSnapshots
)

// name stands for a turn id or an idempotency key: half of its hash, which is smaller than either.
type name [16]byte

func newChecker(b Bundle, l turn.Limits) *checker {
	return &checker{
		head: b.Session.Head, limits: l, bounds: defaultBounds, names: make(map[name]struct{}),
		blobs: make(map[string]int64), calls: calls{open: make(map[string]openCall)}, revision: dialogue.RevisionRow{Number: -1},
		summaries: make(map[int64]struct{}), materials: make(map[string]material), settings: make(map[string]bool),
		checkpoints: make(map[version]madeCheckpoint),
	}
}

// record checks the next record.
func (c *checker) record(r Record) error {
	s := r.section()
	if s < c.section {
		return errors.New("stands after records that must follow it")
	}
	c.section = s
	if c.wanted != "" && r.Turn == nil {
		return fmt.Errorf("blob %s stands before no turn that refers to it", c.wanted)
	}
	switch {
	case r.Blob != nil:
		return c.blob(r.Blob)
	case r.Turn != nil:
		return c.turn(r.Turn)
	case r.Revision != nil:
		return c.nextRevision(r.Revision)
	case r.FlowTurn != nil:
		return c.flowTurn(r.FlowTurn)
	case r.CompletedFlow != nil:
		return c.completedFlow(r.CompletedFlow)
	case r.Bookmark != nil:
		return c.nextBookmark(r.Bookmark)
	case r.Intention != nil:
		return c.nextIntention(r.Intention)
	case r.Observation != nil:
		return c.observation(r.Observation)
	case r.MemoryItem != nil:
		return c.memoryItem(r.MemoryItem)
	case r.Digest != nil:
		return c.onlyDigest(r.Digest)
	case r.TracePart != nil:
		return c.tracePart(r.TracePart)
	case r.Material != nil:
		return c.material(r.Material)
	case r.Settings != nil:
		return c.nextSettings(r.Settings)
	case r.Checkpoint != nil:
		return c.nextCheckpoint(r.Checkpoint)
	case r.Epoch != nil:
		return c.epoch(r.Epoch)
	case r.Pin != nil:
		return c.nextPin(r.Pin)
	case r.Prompt != nil:
		return c.prompt(r.Prompt)
	case r.Breaker != nil:
		return c.onlyBreaker(r.Breaker)
	case r.Snapshot != nil:
		return c.nextSnapshot(r.Snapshot)
	}
	return errors.New("is empty")
}

func (r Record) section() section {
	switch {
	case r.Revision != nil:
		return inRevisions
	case r.FlowTurn != nil:
		return inFlowTurns
	case r.CompletedFlow != nil:
		return inCompletedFlows
	case r.Bookmark != nil:
		return inBookmarks
	case r.Intention != nil:
		return inIntentions
	case r.Observation != nil:
		return inObservations
	case r.MemoryItem != nil:
		return inMemoryItems
	case r.Digest != nil:
		return inDigest
	case r.TracePart != nil:
		return inTraceParts
	case r.Material != nil:
		return inMaterials
	case r.Settings != nil:
		return inSettings
	case r.Checkpoint != nil:
		return inCheckpoints
	case r.Epoch != nil:
		return inEpochs
	case r.Pin != nil:
		return inPins
	case r.Prompt != nil:
		return inPrompts
	case r.Breaker != nil:
		return inBreaker
	case r.Snapshot != nil:
		return inSnapshots
	}
	return inTurns
}

// end checks that nothing is missing.
func (c *checker) end() error {
	if c.wanted != "" {
		return fmt.Errorf("blob %s stands before no turn that refers to it", c.wanted)
	}
	if c.seq != c.head {
		return fmt.Errorf("the bundle has %d turns, and its session %d", c.seq, c.head)
	}
	return c.unused()
}

func (c *checker) blob(b *turn.Blob) error {
	if _, again := c.blobs[b.SHA256]; again {
		return fmt.Errorf("blob %s stands twice", b.SHA256)
	}
	if len(c.blobs) == c.bounds.blobs {
		return fmt.Errorf("more than %d blobs", c.bounds.blobs)
	}
	if !c.trusted {
		switch sum := sha256.Sum256(b.Data); {
		case len(b.Data) == 0:
			return fmt.Errorf("blob %s: data: is missing", b.SHA256)
		case b.Size != int64(len(b.Data)):
			return fmt.Errorf("blob %s: size: %d bytes are there, not %d", b.SHA256, len(b.Data), b.Size)
		case b.SHA256 != hex.EncodeToString(sum[:]):
			return fmt.Errorf("blob %s: sha256: the sum of its bytes is %x", b.SHA256, sum)
		case b.Size > c.limits.Blob:
			return &overLimit{invalid.New("blob "+b.SHA256, fmt.Sprintf("%d bytes, at most %d", b.Size, c.limits.Blob), "raise the limit")}
		}
	}
	// Cloned: the hash is a piece of the line, which would stay with it.
	c.wanted = strings.Clone(b.SHA256)
	c.blobs[c.wanted] = b.Size
	return nil
}

func (c *checker) nextRevision(r *dialogue.RevisionRow) error {
	switch {
	// Not without gaps: a fork at a position where its parent had no turn of its own skips what
	// the parent believed there before.
	case r.Number <= c.revision.Number:
		return fmt.Errorf("revision %d stands after %d", r.Number, c.revision.Number)
	case r.AfterSeq < c.revision.AfterSeq || r.AfterSeq > c.head:
		return fmt.Errorf("revision %d: after_seq: %d is not from %d to %d", r.Number, r.AfterSeq, c.revision.AfterSeq, c.head)
	case r.At.IsZero():
		return fmt.Errorf("revision %d: at: is missing", r.Number)
	}
	c.revision = dialogue.RevisionRow{Number: r.Number, AfterSeq: r.AfterSeq}
	return nil
}

func (c *checker) flowTurn(p *dialogue.PointerRow) error {
	if err := checkLabel("flow_turn: flow_id", p.FlowID); err != nil {
		return err
	}
	if err := checkLabel("flow_turn: turn_id", p.TurnID); err != nil {
		return err
	}
	if p.Seq < 0 || p.Seq > c.head {
		return fmt.Errorf("flow_turn: seq: %d is no turn of %d", p.Seq, c.head)
	}
	before := c.pointer
	if before.FlowID != "" && cmp.Or(cmp.Compare(before.Seq, p.Seq), cmp.Compare(before.FlowID, p.FlowID), cmp.Compare(before.TurnID, p.TurnID)) >= 0 {
		return fmt.Errorf("flow_turn: flow %q and turn %q at %d are out of order", p.FlowID, p.TurnID, p.Seq)
	}
	c.pointer = *p
	return nil
}

func (c *checker) completedFlow(f *turn.CompletedFlow) error {
	if err := checkLabel("completed_flow: flow_id", f.ID); err != nil {
		return err
	}
	if f.AfterSeq < c.finished.AfterSeq || f.AfterSeq > c.head {
		return fmt.Errorf("completed_flow: after_seq: %d is not from %d to %d", f.AfterSeq, c.finished.AfterSeq, c.head)
	}
	c.finished = *f
	return nil
}

func (c *checker) nextBookmark(b *turn.Bookmark) error {
	if err := ids.CheckName("bookmark: name", b.Name); err != nil {
		return err
	}
	switch {
	case b.Name <= c.bookmark:
		return fmt.Errorf("bookmark %q stands after %q", b.Name, c.bookmark)
	case b.Seq < 0 || b.Seq > c.head:
		return fmt.Errorf("bookmark %q: seq: %d is no turn of %d", b.Name, b.Seq, c.head)
	case b.At.IsZero():
		return fmt.Errorf("bookmark %q: at: is missing", b.Name)
	}
	c.bookmark = b.Name
	return nil
}

// checkLabel refuses ids that dialogue state would not have made.
func checkLabel(field, s string) error {
	switch {
	case s == "":
		return missing(field)
	case len(s) > 256:
		return fmt.Errorf("%s: %d bytes, at most 256", field, len(s))
	case strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Errorf("%s: %q has control characters", field, s)
	}
	return nil
}

// overLimit is a record that is whole but larger than the reader's limits allow.
type overLimit struct{ error }

func (e *overLimit) Unwrap() error { return e.error }
