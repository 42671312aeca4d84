package access

import (
	"context"
	"time"
)

// Rows is what a store keeps of keys, inside one of its transactions. All methods are called from one goroutine. Times
// are in UTC with microsecond precision and come back as they were written.
type Rows interface {
	// InsertKey adds a key. ErrExists if any tenant has one of that id.
	InsertKey(ctx context.Context, k Key) error
	// Key returns the key of that id, whatever its tenant: who shows a secret does not say which. ErrUnknownKey where
	// there is none.
	Key(ctx context.Context, id string) (Key, error)
	// Keys lists the keys of a tenant by id, the oldest first, also those that were revoked.
	Keys(ctx context.Context, tenant string) ([]Key, error)
	// Keyed reports whether any tenant has a key that was not revoked.
	Keyed(ctx context.Context) (bool, error)
	// RevokeKey notes when a key was revoked; one that was revoked before stays as it is. ErrUnknownKey where the
	// tenant has none of that id.
	RevokeKey(ctx context.Context, tenant, id string, at time.Time) error
}
