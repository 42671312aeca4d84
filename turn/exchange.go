package turn

import (
	"context"
	"time"
)

// OpenExchange is an exchange that has begun and not ended, and in it the seed's draft row: the reply that is
// being streamed, as far as it was flushed. A session has at most one.
type OpenExchange struct {
	ExportID string // under which the exchange is committed, whoever does it
	Opened   string // id of the turn that opened it
	// Reply is the id that the streamed reply will have in the log, and Content what there is of it by now: a
	// [Text] as JSON. Both are empty while nothing is streamed.
	Reply   string
	Content string
	Model   string // who replies
	Started time.Time
	Changed time.Time
}

// ExchangeRows keeps open exchanges.
type ExchangeRows interface {
	// PutExchange writes the session's open exchange in place of what there is.
	PutExchange(ctx context.Context, key Key, e OpenExchange) error
	// Exchange returns the session's open exchange; ok is false where there is none.
	Exchange(ctx context.Context, key Key) (e OpenExchange, ok bool, err error)
	// DeleteExchange deletes it. Without one nothing happens.
	DeleteExchange(ctx context.Context, key Key) error
	// LeftExchanges lists up to limit sessions of all tenants behind a key, by tenant and id, that have an open exchange
	// and whose lease nobody holds at that time.
	LeftExchanges(ctx context.Context, after Key, now time.Time, limit int) ([]Key, error)
}
