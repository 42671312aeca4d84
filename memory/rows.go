package memory

import (
	"context"
	"errors"
	"time"
)

// ErrNotFound says that there is no item of that id.
var ErrNotFound = errors.New("no such memory item")

// Row is an item of episodic memory as a store keeps it.
type Row struct {
	Tenant  string
	ID      string // a ULID
	Segment int64
	Session string
	User    string
	Type    Type
	// Importance in millionths.
	Importance int64
	Created    time.Time
	Expires    time.Time // zero: never
	Archived   time.Time // zero: it is not
	Text       string
	// Data is raw JSON, kept byte for byte; may be empty. Where the text ends with it, it is kept once: >9 stands for
	// the text behind its first nine bytes.
	Data  string
	About string // tags, links, provenance, JSON
}

// Filter selects items of one tenant. Expired items, whose Expires is Now or before, are never
// selected. Of two items the one with the higher ID is the newer one.
type Filter struct {
	Tenant  string
	Segment int64  // 0: any
	User    string // empty: any
	Type    Type   // empty: any
	Tags    []string
	// Terms must all be there; see internal/words.
	Terms         []string
	Since         time.Time // inclusive; zero: any
	Until         time.Time // exclusive; zero: any
	MinImportance int64     // in millionths
	Archived      bool      // also those that are archived
	// ByImportance gives the most important first, those of the same importance newest first;
	// otherwise the newest first. Lowest gives the least important first, oldest first.
	ByImportance bool
	Lowest       bool
	// After is the cursor: the last item of the page before, by ID and (where it orders) importance.
	After           string
	AfterImportance int64
	Limit           int
	Now             time.Time
}

// DigestRow is the running account of a session, a [Digest], as a store keeps it.
type DigestRow struct {
	ThroughSeq int64
	Doc        string // JSON
	At         time.Time
}

// Rows is what a store keeps of memory, inside one of its transactions.
//
// What terms (see [RowTerms]), tags and importance are looked up in may be filled in the background; every answer
// is exact all the same.
type Rows interface {
	// InsertItems adds items in the given order; one whose id the tenant has already stays as it is. It
	// returns how many were added.
	InsertItems(ctx context.Context, items []Row) (int, error)
	// Item returns an item, expired or not, and ErrNotFound where there is none.
	Item(ctx context.Context, tenant, id string) (Row, error)
	// ItemsByID returns those of the items that there are, by id, expired or not.
	ItemsByID(ctx context.Context, tenant string, ids []string) ([]Row, error)
	// Items returns up to Limit items that pass the filter, in its order.
	Items(ctx context.Context, f Filter) ([]Row, error)
	// LiveItems counts the items of a session that are neither archived nor expired.
	LiveItems(ctx context.Context, tenant string, segment int64, now time.Time) (int64, error)
	// ArchiveItems marks items as archived; those that are, stay as they are.
	ArchiveItems(ctx context.Context, tenant string, ids []string, at time.Time) error
	// DeleteItems removes items from everything they stand in and returns how many there were.
	DeleteItems(ctx context.Context, tenant string, ids []string) (int, error)
	// SweepItems deletes up to limit items of all tenants that expired at or before now.
	SweepItems(ctx context.Context, now time.Time, limit int) (int64, error)

	// Digest returns a session's digest; ok is false where there is none.
	Digest(ctx context.Context, tenant string, segment int64) (d DigestRow, ok bool, err error)
	// PutDigest writes a session's digest in place of the one there was.
	PutDigest(ctx context.Context, tenant string, segment int64, d DigestRow) error
}
