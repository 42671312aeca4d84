package chain

import (
	"context"
	"time"
)

// Link says that a session holds the conversation that a hash stands for. Whoever has a hash and may guess learns what
// was said: links go when a turn they stand for is forgotten.
type Link struct {
	Tenant  string
	Hash    Hash
	Session string
	Seq     int64 // the last turn of the session that the conversation holds
	At      time.Time
}

// Rows is what a store keeps of links, inside one of its transactions. All methods are called from one goroutine.
type Rows interface {
	// PutLink adds a link, in place of one of the same session and hash.
	PutLink(ctx context.Context, l Link) error
	// Linked returns the index of the first of the hashes that has links, -1 where none has.
	Linked(ctx context.Context, tenant string, hashes []Hash) (int, error)
	// Links returns up to limit links of a hash, the newest first by At, then by session: several sessions may have
	// begun the same way.
	Links(ctx context.Context, tenant string, h Hash, limit int) ([]Link, error)
}
