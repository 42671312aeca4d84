package sqlite

import (
	"context"
	"errors"
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
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

var errEnded = errors.New("transaction is over; use its Tx only inside the function it was given to")

// tx is one View or one Update.
type tx struct {
	s        *Store
	c        *lite.Conn
	ctx      context.Context
	now      time.Time
	writable bool
	ended    bool
	after    []func()
	// later says that nobody waits for the update to be durable.
	later bool
	// appended is where turns and items were added, for the text indexes.
	appended []textSource
	// tail is what was read last of the items that are not indexed.
	tail *keptTail
	// saved says that a Savepoint is running.
	saved bool
	// savepoints says that Savepoint makes one. Without, what must be undone ends the transaction.
	savepoints bool
	// lost is why the transaction does not exist any more. SQLite rolls back a whole transaction
	// when a write runs out of room or memory or the disk fails; a statement after that would be a
	// transaction of its own and must not be run.
	lost error
}

// Now implements [store.Tx].
func (t *tx) Now() time.Time { return t.now }

// Log implements [store.Tx].
func (t *tx) Log() turn.Rows { return logRows{t} }

// Dialogue implements [store.Tx].
func (t *tx) Dialogue() dialogue.Rows { return dialogueRows{t} }

// Cortex implements [store.Tx].
func (t *tx) Cortex() cortex.Rows { return cortexRows{t} }

// Scratch implements [store.Tx].
func (t *tx) Scratch() scratch.Rows { return scratchRows{t} }

// Memory implements [store.Tx].
func (t *tx) Memory() memory.Rows { return memoryRows{t} }

// Outbox implements [store.Tx].
func (t *tx) Outbox() event.Rows { return outboxRows{t} }

// Trace implements [store.Tx].
func (t *tx) Trace() trace.Rows { return traceRows{t} }

// Prompt implements [store.Tx].
func (t *tx) Prompt() prompt.Rows { return promptRows{t} }

// Budget implements [store.Tx].
func (t *tx) Budget() budget.Rows { return budgetRows{t} }

// Compress implements [store.Tx].
func (t *tx) Compress() compress.Rows { return compressRows{t} }

// Snapshot implements [store.Tx].
func (t *tx) Snapshot() snapshot.Rows { return snapshotRows{t} }

// Access implements [store.Tx].
func (t *tx) Access() access.Rows { return accessRows{t} }

// Chains implements [store.Tx].
func (t *tx) Chains() chain.Rows { return chainRows{t} }

// Light implements [store.Tx].
func (t *tx) Light() dialogue.LightRows { return lightRows{t} }

// AfterCommit implements [store.Tx].
func (t *tx) AfterCommit(f func()) {
	if t.writable && !t.ended {
		t.after = append(t.after, f)
	}
}

// SyncLater implements [store.Tx].
func (t *tx) SyncLater() { t.later = true }

// reading is asked by every method before it runs a statement.
func (t *tx) reading(ctx context.Context) error {
	if t.ended {
		return errEnded
	}
	if t.lost != nil {
		return t.lost
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.ctx.Err()
}

// writing is asked by every method that writes.
func (t *tx) writing(ctx context.Context) error {
	if err := t.reading(ctx); err != nil {
		return err
	}
	if !t.writable {
		return store.ErrReadOnly
	}
	return nil
}

// fail translates the error of a statement and notes whether it took the transaction with it.
func (t *tx) fail(err error) error {
	if err == nil {
		return nil
	}
	if !t.writable && code(err) == lite.Interrupt && t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	err = t.s.translate(err)
	if t.writable && !t.c.InTransaction() {
		t.lost = err
	}
	return err
}

// The transaction as each of the concepts sees it.
type (
	logRows      struct{ *tx }
	dialogueRows struct{ *tx }
	cortexRows   struct{ *tx }
	scratchRows  struct{ *tx }
	memoryRows   struct{ *tx }
	outboxRows   struct{ *tx }
	traceRows    struct{ *tx }
	promptRows   struct{ *tx }
	budgetRows   struct{ *tx }
	compressRows struct{ *tx }
	snapshotRows struct{ *tx }
	accessRows   struct{ *tx }
	chainRows    struct{ *tx }
)

// micros is how times are stored.
func micros(t time.Time) int64 { return t.UnixMicro() }

func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

// bindTime binds a time, and nothing for the zero one.
func bindTime(q *lite.Stmt, at time.Time) *lite.Stmt {
	if at.IsZero() {
		return q.Null()
	}
	return q.Int(micros(at))
}

// readTime reads what bindTime bound.
func readTime(q *lite.Stmt) time.Time {
	if q.IsNull() {
		q.Skip()
		return time.Time{}
	}
	return fromMicros(q.ReadInt())
}

// all reads every row of a statement.
func all[R any](t *tx, q *lite.Stmt, read func(*lite.Stmt) R) ([]R, error) {
	defer q.Close()
	var rows []R
	for {
		more, err := q.Step()
		if err != nil {
			return nil, t.fail(err)
		}
		if !more {
			return rows, nil
		}
		rows = append(rows, read(q))
	}
}

// one reads the first row of a statement; ok is false where there is none.
func one[R any](t *tx, q *lite.Stmt, read func(*lite.Stmt) R) (row R, ok bool, err error) {
	defer q.Close()
	if ok, err = q.Step(); err != nil || !ok {
		return row, false, t.fail(err)
	}
	return read(q), true, nil
}

// readInt reads a row of one integer.
func readInt(q *lite.Stmt) int64 { return q.ReadInt() }
