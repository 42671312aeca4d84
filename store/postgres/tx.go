package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// statement is SQL with its arguments. What is the noun phrase for its errors where they come up
// later than the call that made it, taken the error for a key that is there already, which
// defaults to turn.ErrConflict, and as what any error of it is besides.
type statement struct {
	sql   string
	args  []any
	what  string
	taken error
	as    error
}

// tx is one transaction. Statements whose answer nobody waits for are queued and sent together with
// the next one that is waited for, or with COMMIT. BEGIN is the first of them.
//
// Statements are written so that what a caller may want to go on after, such as a name that is
// taken, is an answer and no error: PostgreSQL ends a transaction at the first error. So whatever
// error comes back is the transaction's end, and it is kept in failed. Only a savepoint can be gone
// back to, so inside one such a write is queued like the others.
type tx struct {
	store    *Store
	ctx      context.Context // the one the transaction was begun with; it ends the transaction
	writable bool
	conn     *conn // nil before the first statement of a view
	queue    []statement
	sent     bool // BEGIN has reached the server
	now      time.Time
	failed   error
	lost     bool // failed through no fault of the transaction
	ended    bool
	after    []func()
	written  []segmentKey
	locks    []*sessionLock
	saving   bool // inside a savepoint
	saved    bool // the server has made it
}

// Now implements [store.Tx].
func (t *tx) Now() time.Time {
	if t.now.IsZero() {
		if err := t.readClock(t.ctx); err != nil {
			// The error stays in the transaction, which cannot end well any more.
			return time.Now().UTC().Truncate(time.Microsecond)
		}
	}
	return t.now
}

func (t *tx) readClock(ctx context.Context) error {
	return t.row(ctx, func(row pgx.Row) error {
		var now time.Time
		err := row.Scan(&now)
		t.now = now.UTC()
		return err
	}, `SELECT clock_timestamp()`)
}

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
func (t *tx) AfterCommit(f func()) { t.after = append(t.after, f) }

// SyncLater implements [store.Tx]. The server writes such a commit out within a second.
func (t *tx) SyncLater() {
	if t.writable {
		t.later("", `SET LOCAL synchronous_commit = off`)
	}
}

// usable is asked before anything is sent or queued.
func (t *tx) usable(ctx context.Context) error {
	switch {
	case t.ended:
		return errEnded
	case t.failed != nil:
		return t.failed
	}
	return ended(t.ctx, ctx)
}

// writing is asked by every method that writes.
func (t *tx) writing(ctx context.Context) error {
	if err := t.usable(ctx); err != nil {
		return err
	}
	if !t.writable {
		return store.ErrReadOnly
	}
	return nil
}

// later queues a statement. Its error comes up with the next statement that is sent.
func (t *tx) later(what, sql string, args ...any) {
	t.queue = append(t.queue, statement{sql: sql, args: args, what: what})
}

// write queues a statement, or sends at once one that is too large to travel with COMMIT.
func (t *tx) write(ctx context.Context, what, sql string, args ...any) error {
	if err := t.writing(ctx); err != nil {
		return err
	}
	if size(args) <= maxQueued {
		t.later(what, sql, args...)
		return nil
	}
	_, err := t.exec(ctx, sql, args...)
	return err
}

// insert adds a row whose key may be taken. Where the transaction has to go on after that, it waits
// for the answer; inside a savepoint taken may be the error of whatever sends the queue.
func (t *tx) insert(ctx context.Context, what string, taken error, sql string, args ...any) error {
	if err := t.writing(ctx); err != nil {
		return err
	}
	if t.saving && size(args) <= maxQueued {
		t.queue = append(t.queue, statement{sql: sql, args: args, what: what, taken: taken})
		return nil
	}
	added, err := t.exec(ctx, sql+` ON CONFLICT DO NOTHING`, args...)
	if err == nil && added == 0 {
		err = taken
	}
	return err
}

func size(args []any) (bytes int) {
	for _, a := range args {
		switch a := a.(type) {
		case string:
			bytes += len(a)
		case []byte:
			bytes += len(a)
		}
	}
	return bytes
}

// query sends a statement and reads its rows.
func (t *tx) query(ctx context.Context, read func(pgx.Rows) error, sql string, args ...any) error {
	_, err := t.send(ctx, statement{sql: sql, args: args}, read)
	return err
}

// row is query for at most one row. Read is not called where there is none; the error is then
// pgx.ErrNoRows.
func (t *tx) row(ctx context.Context, read func(pgx.Row) error, sql string, args ...any) error {
	found := false
	err := t.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			found = true
			if err := read(rows); err != nil {
				return err
			}
		}
		return nil
	}, sql, args...)
	if err == nil && !found {
		return pgx.ErrNoRows
	}
	return err
}

// exec sends a statement and returns how many rows it changed.
func (t *tx) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	if err := t.writing(ctx); err != nil {
		return 0, err
	}
	return t.send(ctx, statement{sql: sql, args: args}, func(pgx.Rows) error { return nil })
}

// send makes one round trip for the queue and the statement.
func (t *tx) send(ctx context.Context, s statement, read func(pgx.Rows) error) (int64, error) {
	if err := t.usable(ctx); err != nil {
		return 0, err
	}
	if t.conn == nil {
		return t.firstAnswer(ctx, s, read)
	}
	changed, err := t.roundTrip(ctx, s, read)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	return changed, nil
}

// firstAnswer takes a connection for a view that has none. As long as nothing was read, a connection
// that turns out to be broken is replaced by another one and nobody notices.
func (t *tx) firstAnswer(ctx context.Context, s statement, read func(pgx.Rows) error) (changed int64, err error) {
	begin, answered := t.queue, false
	err = t.store.retry(ctx, func() (again bool, err error) {
		c, err := t.store.pool.acquire(ctx)
		if err != nil {
			return lost(err, false), err
		}
		t.conn, t.queue = c, begin
		changed, err = t.roundTrip(ctx, s, func(rows pgx.Rows) error {
			answered = true
			return read(rows)
		})
		if err == nil || answered || !lost(err, c.IsClosed()) {
			return false, err
		}
		t.conn = nil
		t.store.pool.lost(c)
		t.store.pool.release(c)
		return true, err
	})
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	return changed, nil
}

func (t *tx) roundTrip(ctx context.Context, s statement, read func(pgx.Rows) error) (int64, error) {
	queue := t.queue
	t.queue, t.sent = nil, true
	results := t.conn.SendBatch(ctx, batch(queue, s))
	for _, q := range queue {
		if _, err := results.Exec(); err != nil {
			return 0, q.explain(cmp.Or(results.Close(), err))
		}
		t.saved = t.saved || q.sql == beginSavepoint
	}
	rows, err := results.Query()
	if err == nil {
		err = read(rows)
	}
	rows.Close()
	if err = cmp.Or(err, rows.Err(), results.Close()); err != nil {
		return 0, err
	}
	return rows.CommandTag().RowsAffected(), nil
}

func batch(queue []statement, last statement) *pgx.Batch {
	b := &pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, 0, len(queue)+1)}
	for _, s := range queue {
		b.Queue(s.sql, s.args...)
	}
	b.Queue(last.sql, last.args...)
	return b
}

// explain is for the error of a queued statement, which comes up in the place of another's.
func (s statement) explain(err error) error {
	if sqlState(err) == uniqueViolation {
		err = fmt.Errorf("%w: %w", cmp.Or(s.taken, turn.ErrConflict), err)
	}
	if s.as != nil {
		err = fmt.Errorf("%w: %w", s.as, err)
	}
	if s.what == "" {
		return err
	}
	return fmt.Errorf("%s: %w", s.what, err)
}

// fail ends the transaction with an error and returns what to tell the caller.
func (t *tx) fail(ctx context.Context, err error) error {
	switch cancelled := ended(t.ctx, ctx); {
	case cancelled != nil:
		err = cancelled
	case lost(err, t.conn == nil || t.conn.IsClosed()):
		t.lost = true
		err = unavailable(t.store.address, err)
	default:
		err = explain(t.store.address, err)
	}
	t.failed = err
	return err
}

// rollback gives up what was written and gives the connection back.
func (t *tx) rollback() {
	t.ended = true
	if t.conn == nil {
		return
	}
	if t.sent && !t.conn.IsClosed() {
		// The transaction's own context may be over, and a connection in good order is worth keeping.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), goodbye)
		defer cancel()
		if _, err := t.conn.Exec(ctx, `ROLLBACK`); err != nil {
			t.store.pool.lost(t.conn)
		}
	}
	t.release()
}

func (t *tx) release() {
	if t.lost && t.conn.IsClosed() {
		t.store.pool.lost(t.conn)
	}
	t.store.pool.release(t.conn)
	t.conn = nil
}

// commit makes the transaction durable. What is still queued travels with COMMIT. The caller's
// context does not reach it: once COMMIT is on its way, breaking it off would only hide its outcome.
func (t *tx) commit() error {
	t.ended = true
	defer t.release()
	if !t.sent && len(t.queue) == 1 {
		return nil // BEGIN alone: nothing was asked of the database
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), commitTimeout)
	defer cancel()
	results := t.conn.SendBatch(ctx, batch(t.queue, statement{sql: `COMMIT`}))
	for _, q := range t.queue {
		if _, err := results.Exec(); err != nil {
			return t.uncommitted(q.explain(cmp.Or(results.Close(), err)), sqlState(err) != "")
		}
	}
	tag, err := results.Exec()
	if err = cmp.Or(err, results.Close()); err != nil {
		var pg *pgconn.PgError
		return t.uncommitted(err, errors.As(err, &pg) && pg.Severity == "ERROR")
	}
	if tag.String() != "COMMIT" {
		return fmt.Errorf("transaction was not committed but ended with %s", tag)
	}
	return nil
}

// uncommitted is the error of a commit that was not acknowledged. It was refused where the server
// answered a statement before COMMIT, or COMMIT itself, with an error. In all other cases COMMIT may
// have been carried out, and nobody can say: running the update again could write it twice.
func (t *tx) uncommitted(err error, refused bool) error {
	if refused {
		return t.fail(t.ctx, err)
	}
	t.store.pool.lost(t.conn)
	return fmt.Errorf("%w: the connection to %s broke during COMMIT; look whether it is there before trying again: %w",
		store.ErrUnknown, t.store.address, err)
}
