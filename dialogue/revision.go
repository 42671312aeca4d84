package dialogue

import (
	"context"
	"iter"
	"time"

	"github.com/turnstone-dev/turnstone/internal/span"
)

// Revision is a state revision, the seed's dialogue-state snapshot: the whole state as it was after
// one turn. It never changes once written. Revision 0 is written at session start.
type Revision struct {
	// Number counts the revisions of a session, without gaps, from 0.
	Number int
	// AfterSeq is the last turn the state knew of, 0 where there was none.
	AfterSeq int64
	State    State
	At       time.Time
}

// Span is an inclusive range of seqs in one segment. A session is a list of them, oldest first: those
// it inherited by being forked, each ending before the fork point, and the segment it writes to.
type Span = span.Span

// RevisionRow is a revision as a store keeps it.
type RevisionRow struct {
	Number   int64
	AfterSeq int64
	State    string // what EncodeState returned, byte for byte
	At       time.Time
}

// PointerRow is a pointer as a store keeps it.
type PointerRow struct {
	Pointer
	Seq int64 // the turn after which it was saved
}

// Rows is what a store keeps of dialogue state, inside one of its transactions. Reads follow a
// session's spans, writes go to its own segment. The tenant is part of every key. Methods are called
// one after the other; an error of the store itself is returned as it is.
//
// A row is along the spans if its segment is in one of them and its seq is at most that span's To.
// From does not matter: a fork may change its state, at the fork point, before its first turn.
type Rows interface {
	// InsertRevision adds a revision to a segment. A number the segment has already is an
	// ErrConflict.
	InsertRevision(ctx context.Context, tenant string, segment int64, rev RevisionRow) error
	// RevisionAt returns the newest revision along the spans with AfterSeq at most seq. What is in a
	// later span is newer than what is in an earlier one, and in a span the highest number is the
	// newest. Without any: ErrNotFound.
	RevisionAt(ctx context.Context, tenant string, spans []Span, seq int64) (RevisionRow, error)
	// Revisions returns every revision along the spans: span by span, by number. An error is the
	// last thing yielded.
	Revisions(ctx context.Context, tenant string, spans []Span) iter.Seq2[RevisionRow, error]
	// InsertFlowTurns adds pointers to a turn at seq. A pointer the segment has already, at whatever
	// seq, stays as it is.
	InsertFlowTurns(ctx context.Context, tenant string, segment int64, seq int64, ptrs []Pointer) error
	// FlowTurns returns the ids of the turns along the spans that a flow points at, with a seq of at
	// most upTo: by seq, those of one seq by id, each once. A flow nobody knows has none.
	FlowTurns(ctx context.Context, tenant string, spans []Span, flowID string, upTo int64) ([]string, error)
	// Pointers returns every pointer along the spans, each once and with the lowest seq it stands
	// at: by seq, those of one seq by flow id, those of one flow by turn id. Nothing else may be asked
	// of the transaction until the last is taken. An error is the last thing yielded.
	Pointers(ctx context.Context, tenant string, spans []Span) iter.Seq2[PointerRow, error]
}
