// Package store is the socket that databases plug into: transactions over everything Turnstone keeps.
//
// A store keeps rows and knows no rules. The concept packages say what is legal and in which steps
// it is written; they declare the repositories that a [Tx] hands out. Three stores implement the
// socket, store/mem, store/sqlite and store/postgres, and store/storetest holds all three to it.
package store

import (
	"context"
	"iter"
	"time"

	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// Store is a database. It is safe for concurrent use; after Close every method returns ErrClosed.
type Store interface {
	// View runs fn on one consistent state of the store. Writing through its Tx is an error.
	View(ctx context.Context, fn func(Tx) error) error

	// Update runs fn and makes what it wrote durable. When Update returns nil, it is on disk; on
	// an error nothing of it is there, except after ErrUnknown.
	//
	// fn may run more than once: a store repeats it when its transaction was lost through no fault
	// of fn. It must not block on anything but the Tx, since other writers wait behind it. When ctx
	// ends before the update is durable, the update is rolled back and the error is ctx's. A panic
	// of fn rolls back and goes on in the caller.
	Update(ctx context.Context, fn func(Tx) error) error

	// Light returns where the follow-up context lives: in memory for an embedded store, in expiring
	// rows where several processes share one database. What an update has to say of it goes through
	// its Tx.
	Light() dialogue.LightStore

	// Generation tells whether something kept in memory is still true: it changes whenever another
	// process (or another Store on the same data) wrote, at the latest a tenth of a second after it
	// did, and whenever an update whose outcome is ErrUnknown may come to light. Where ok is false the
	// store cannot tell, and nothing may be kept.
	Generation() (generation uint64, ok bool)

	// Publish hands exports that wait in the outbox to p and returns how many were published. It
	// takes at most limit of them, each session's in the order of their Last, then At, then ID, of sessions
	// that no other Publish on the same data has in hand, so that one session's exports are never
	// sent by two at once. What p sent is numbered in the order it was sent and noted in an update of
	// its own, together with what p writes there, even if ctx ended while it was sent. An error of p
	// is returned after that. Without anything to publish, and where p's bus is not the one that publishes the exports of the store,
	// nothing of p is called. ErrLocked where another was set while p sent: it publishes what was sent again.
	Publish(ctx context.Context, limit int, p Publication) (int, error)

	// IndexText brings the full-text indexes up to what was committed before the call. Nobody needs
	// to call it: searches are exact without it and the index is filled in the background.
	IndexText(ctx context.Context) error

	// Dump calls yield with every row of the tables in [Schema], table by table, each in the order
	// of its key, from one consistent state. The row's values belong to yield's caller and are
	// valid until it returns. An error of yield ends the dump and is returned.
	Dump(ctx context.Context, yield func(Row) error) error

	// Load fills an empty store with rows in the order Dump gave them, all or nothing. A store that
	// holds a session already is refused with ErrNotEmpty. Like the function of an update, rows may
	// be run more than once and must give the same each time.
	Load(ctx context.Context, rows iter.Seq2[Row, error]) error

	// Scrub sees to it that what was rewritten or deleted by [Forgetting] is nowhere to be read any more in the files
	// that are the store's own: neither in free pages nor in logs nor in indexes. It is called after the update, and
	// when it is not, or breaks off, the store does it by itself before long. It may take as long as copying the
	// store, and writers wait meanwhile. ErrLocked if a reader stood in the way for too long; try again then. A
	// database server is asked for nothing: see its package.
	Scrub(ctx context.Context) error

	// Check asks the database itself whether it is whole and returns what is wrong in sentences.
	Check(ctx context.Context) ([]string, error)

	// Close waits for running transactions and releases everything. What was acknowledged is on disk
	// before and after.
	Close() error
}

// Tx is one transaction, used by one goroutine and only until the function it was given to returns.
type Tx interface {
	// Now is the one time of all rows of this transaction: UTC, microseconds, never earlier than
	// the transaction's beginning, by the database's clock where several processes share it.
	Now() time.Time
	Log() turn.Rows
	Dialogue() dialogue.Rows
	Light() dialogue.LightRows
	Cortex() cortex.Rows
	Scratch() scratch.Rows
	Memory() memory.Rows
	Outbox() event.Rows
	Trace() trace.Rows
	Prompt() prompt.Rows
	Budget() budget.Rows
	Compress() compress.Rows
	Snapshot() snapshot.Rows
	Access() access.Rows
	Chains() chain.Rows
	Forgetting() Forgetting
	// Savepoint runs fn. If it returns an error, or panics, what it wrote is undone, what was written
	// before stays, and the transaction goes on; the error (the panic) goes on to the caller. What fn
	// wanted to be run after the commit is forgotten with it. What a write inside fn would have
	// returned may also come as the error of the Savepoint. Inside fn no other Savepoint may be begun;
	// one in a View is ErrReadOnly. When ctx ends, so does the update.
	Savepoint(ctx context.Context, fn func() error) error
	// AfterCommit runs f once the update is durable, or committed where it said SyncLater, before Update returns. In an embedded store
	// these calls come one at a time and in the order of the updates. In a View it is never run.
	AfterCommit(f func())
	// SyncLater says that nobody waits until what this update writes is durable: it may be committed as soon as
	// others see it. If the machine stops soon after, it may be gone, as a whole and with all that was committed after
	// it, which then was not waited for either. The end of a process costs nothing. In a View it changes nothing.
	SyncLater()
}

// Publication is one round of publishing.
type Publication struct {
	// Bus is the name of the bus that it is for; see [event.BusRows]. Defaults to the one inside the process.
	Bus string
	// Bodies says that Send needs the bodies of exports, which are left empty otherwise: they are large, and a bus that lets
	// daemons read from the store has no use for them.
	Bodies bool
	// Send sends exports in the given order and returns how many of them, from the first on, are
	// safely sent. It runs outside of any update.
	Send func(ctx context.Context, exports []event.Export) (sent int, err error)
	// Note writes, in the update that notes them as sent, what else is to be written about exports,
	// which have their Sent numbers by now and no bodies. If it fails, nothing is noted. Like the function of an
	// update it may run more than once. Its ctx does not end with that of Publish. Nil writes nothing.
	Note func(ctx context.Context, tx Tx, exports []event.Export) error
}
