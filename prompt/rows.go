package prompt

import (
	"context"
	"errors"
	"time"

	"github.com/turnstone-dev/turnstone/internal/span"
)

// ErrNotFound says that there is no such epoch, call or material.
var ErrNotFound = errors.New("not found")

// ErrStale says that somebody else opened that epoch or noted that call first. Compile again.
var ErrStale = errors.New("the prompt was changed in the meantime")

// EpochRow is an epoch as a store keeps it.
type EpochRow struct {
	Number int64 // 1, 2, 3 … along a session's lineage
	// AfterSeq is the session's last turn when the epoch was opened.
	AfterSeq int64
	Doc      string // the epoch, JSON
	At       time.Time
}

// CallRow is a prompt that was compiled for a model, as a store keeps it.
type CallRow struct {
	Number int64 // 1, 2, 3 … along a session's lineage
	// End is the last turn that the prompt could show.
	End    int64
	Epoch  int64  // the number of its epoch
	Doc    string // the call, JSON
	SHA256 string // of the compiled prompt
	At     time.Time
}

// PinRow says that a turn is pinned, or no longer. Rows are only ever added: the last one about a turn
// holds.
type PinRow struct {
	Number   int64 // 1, 2, 3 … along a session's lineage
	AfterSeq int64 // the session's last turn when it was said
	Seq      int64 // the turn
	Pinned   bool
	At       time.Time
}

// Rows is what a store keeps of prompts, inside one of its transactions. A row is along the spans if its
// segment is in one of them and its AfterSeq (of a call: its End) is at most that span's To; From does not
// matter. "Last" is the one with the highest number.
type Rows interface {
	// InsertEpoch adds an epoch. ErrStale if the segment has one of that number.
	InsertEpoch(ctx context.Context, tenant string, segment int64, r EpochRow) error
	// LastEpoch returns the last epoch along the spans, ErrNotFound where there is none.
	LastEpoch(ctx context.Context, tenant string, spans []span.Span) (EpochRow, error)
	// Epoch returns the epoch of that number along the spans, ErrNotFound where there is none.
	Epoch(ctx context.Context, tenant string, spans []span.Span, number int64) (EpochRow, error)
	// Epochs returns up to limit epochs along the spans with a number greater than after, ascending.
	Epochs(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]EpochRow, error)

	// InsertCall adds a call. ErrStale if the segment has one of that number.
	InsertCall(ctx context.Context, tenant string, segment int64, r CallRow) error
	// LastCall returns the last call along the spans whose End is at most end, ErrNotFound where there
	// is none. Its cost does not depend on how many calls there are.
	LastCall(ctx context.Context, tenant string, spans []span.Span, end int64) (CallRow, error)
	// Calls returns up to limit calls along the spans with a number greater than after, ascending.
	Calls(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]CallRow, error)

	// InsertPin adds a row. ErrStale if the segment has one of that number.
	InsertPin(ctx context.Context, tenant string, segment int64, r PinRow) error
	// Pins returns all rows along the spans, by number.
	Pins(ctx context.Context, tenant string, spans []span.Span) ([]PinRow, error)

	// PutMaterial keeps a text under its hash, once per tenant.
	PutMaterial(ctx context.Context, tenant, sha256, text string, at time.Time) error
	// Material returns ErrNotFound where the tenant has none of that hash.
	Material(ctx context.Context, tenant, sha256 string) (string, error)
}
