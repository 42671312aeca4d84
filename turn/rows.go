package turn

import (
	"context"
	"time"
)

// The Rows interfaces are what a store offers inside a transaction. They know single segments and
// single rows; how a session is walked, which turns are legal and what a unit is, is said once, in
// this package. All methods are called from one goroutine. Every time they are given is in UTC with
// microsecond precision, and every time they return must be equal to what was written.

// SessionRows keeps sessions, their bookmarks and leases.
type SessionRows interface {
	// InsertSession stores a new session with its Inherited spans and returns its new Segment.
	// ErrExists if the key is taken.
	InsertSession(ctx context.Context, s SessionInfo) (segment int64, err error)
	// Session returns ErrNotFound where there is none.
	Session(ctx context.Context, key Key) (SessionInfo, error)
	// LockSession is Session that keeps other writers of the session out until the transaction ends.
	LockSession(ctx context.Context, key Key) (SessionInfo, error)
	// UpdateSession writes User, Title, Model, Mode, Status, Head and LastActivity.
	UpdateSession(ctx context.Context, s SessionInfo) error
	// Advance writes Head and LastActivity and sets the status to active: the hot path of an append.
	Advance(ctx context.Context, key Key, head int64, at time.Time) error
	// Rename gives a session without bookmarks, lease or draft another id. ErrNotFound if there is no such session, ErrExists if the id
	// is taken.
	Rename(ctx context.Context, key Key, id string) error
	Sessions(ctx context.Context, f SessionFilter) ([]SessionInfo, error)
	// Tenants lists the tenants that have a session, by name.
	Tenants(ctx context.Context) ([]string, error)

	// InsertBookmark returns ErrExists if the session has a bookmark of that name.
	InsertBookmark(ctx context.Context, key Key, b Bookmark) error
	// Bookmarks lists a session's own bookmarks by name.
	Bookmarks(ctx context.Context, key Key) ([]Bookmark, error)

	// Lease returns the session's lease, the zero Lease where there is none.
	Lease(ctx context.Context, key Key) (Lease, error)
	// LockLease is Lease of a session that must be there, and keeps other writers of it out until the transaction ends.
	// ErrNotFound where there is none.
	LockLease(ctx context.Context, key Key) (Lease, error)
	// SetLease writes the session's lease; the zero Lease removes it.
	SetLease(ctx context.Context, key Key, l Lease) error
}

// TurnRows keeps turns, open calls and the reported flows.
type TurnRows interface {
	// InsertTurns stores turns under (tenant, segment, Seq). ErrConflict names the first whose seq, id or idempotency key the
	// segment has; those before it are stored. Of a session that is locked a store may say so as late as at the end of the
	// update, of which nothing stays then.
	InsertTurns(ctx context.Context, tenant string, segment int64, rows ...Row) error
	// TurnsByID finds a turn in the whole tenant. More than one answer, each in a segment of its
	// own, means that a session was imported next to its original.
	TurnsByID(ctx context.Context, tenant, id string) ([]Stored, error)
	// TurnsAt returns those of the turns at the places that there are, in the order of the places, and twice where one
	// stands twice. No other turn is read.
	TurnsAt(ctx context.Context, tenant string, places []Place) ([]Stored, error)
	// TurnByKey finds the turn that was appended to the segment with an idempotency key.
	TurnByKey(ctx context.Context, tenant string, segment int64, key string) (Turn, bool, error)
	// Scan returns up to limit turns of the span that pass the filter, in seq order: ascending
	// from its start or, with Newest, the last ones, descending.
	Scan(ctx context.Context, tenant string, s Span, f RowFilter, limit int) ([]Turn, error)
	// Units returns all turns of the units that opened at seqs first to last, ascending.
	Units(ctx context.Context, tenant string, segment, first, last int64) ([]Turn, error)
	// Straddling returns the first unit that opened at or before seq and has a turn after it, 0
	// where there is none.
	Straddling(ctx context.Context, tenant string, segment, seq int64) (unit int64, err error)

	// InsertOpenCall returns ErrConflict if a call of that id is open in the segment.
	InsertOpenCall(ctx context.Context, tenant string, segment int64, c OpenCall) error
	// OpenCalls lists the open calls of a segment in the order they were made.
	OpenCalls(ctx context.Context, tenant string, segment int64) ([]OpenCall, error)
	// DeleteOpenCall returns ErrNotFound if there is none of that id.
	DeleteOpenCall(ctx context.Context, tenant string, segment int64, id string) (OpenCall, error)

	// InsertCompletedFlow notes an opaque flow id; a second time changes nothing.
	InsertCompletedFlow(ctx context.Context, tenant string, segment int64, flow string, afterSeq int64) error
	// CompletedFlows lists the flows noted in the span's segment after a seq of at most its To, in
	// the order they were noted. From does not matter: a flow may be noted before the first turn.
	CompletedFlows(ctx context.Context, tenant string, s Span) ([]CompletedFlow, error)
}

// BlobRows keeps bytes under their hash, once per tenant.
type BlobRows interface {
	// PutBlob stores the bytes, or notes that they are wanted again, and refers to them from a turn.
	PutBlob(ctx context.Context, tenant string, b Blob, at time.Time, segment, seq int64) error
	// Blob returns ErrNotFound where there is none. Its Data belongs to the caller.
	Blob(ctx context.Context, tenant, sha256 string) (Blob, error)
	// BlobSize returns ErrNotFound where there is none.
	BlobSize(ctx context.Context, tenant, sha256 string) (int64, error)
	// LooseBlobs finds up to limit blobs, of all tenants, that nothing refers to and that were last wanted before the
	// time. It may look at every blob there is, which nobody should wait behind: ask for them in a view.
	LooseBlobs(ctx context.Context, wantedBefore time.Time, limit int) ([]BlobKey, error)
	// SweepBlobs deletes those of the blobs that are loose still, and counts them.
	SweepBlobs(ctx context.Context, wantedBefore time.Time, blobs []BlobKey) (int64, error)
}

// BlobKey is what bytes are kept under.
type BlobKey struct{ Tenant, SHA256 string }

// TextRows is the full-text index, filled by the store in the background.
type TextRows interface {
	// TextMark returns the highest seq of the segment up to which every turn is indexed.
	TextMark(ctx context.Context, tenant string, segment int64) (int64, error)
	// TextHits returns up to limit indexed turns of the span that hold all terms and pass the
	// filter, ascending.
	TextHits(ctx context.Context, tenant string, s Span, terms []string, f RowFilter, limit int) ([]Turn, error)
	// TextTails returns what of the spans is behind the marks of their segments and so not indexed: the parts
	// that are not empty, in the order of the spans.
	TextTails(ctx context.Context, tenant string, spans []Span) ([]Span, error)
	// TextPlaces returns where an indexed turn of the spans holds the term: in the order of the spans, of which
	// no two are of one segment, and in each the newest first, up to limit.
	TextPlaces(ctx context.Context, tenant string, spans []Span, term string, limit int) ([]Place, error)
}

// RowFilter is the part of a query that every store can decide from a row's columns.
type RowFilter struct {
	Role       Role
	Form       Form
	Kind       Kind
	Since      time.Time // inclusive
	Until      time.Time // exclusive
	Utterances bool      // only user and agent turns of form text or speech
	Newest     bool      // Scan from the end, descending
}

// Stored is a turn and the segment it is stored in.
type Stored struct {
	Turn
	Segment int64
}

// Row is a turn to be stored.
type Row struct {
	Turn
	Encoded Encoded // its content
}

// Place is where a turn is stored.
type Place struct{ Segment, Seq int64 }

// OpenCall is a tool call that has no result yet.
type OpenCall struct {
	ID   string
	Name string
	Unit int64 // seq of the turn that made the call
}

// CompletedFlow is a flow that dialogue state reported as finished, by its opaque id.
type CompletedFlow struct {
	ID       string
	AfterSeq int64 // the session's last turn at that time
}

// Lease is the right to write an exchange: who holds the token may. The zero value is no lease.
type Lease struct {
	Token string
	Until time.Time
}

// Rows is everything a store keeps of the log.
type Rows interface {
	SessionRows
	ExchangeRows
	TurnRows
	BlobRows
	TextRows
}
