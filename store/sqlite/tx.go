package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
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
	// appended are the segments that turns were added to, for the text index.
	appended []textSegment
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

// AfterCommit implements [store.Tx].
func (t *tx) AfterCommit(f func()) {
	if t.writable && !t.ended {
		t.after = append(t.after, f)
	}
}

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

// logRows is the transaction as the log sees it.
type logRows struct{ *tx }

// dialogueRows is the transaction as dialogue state sees it.
type dialogueRows struct{ *tx }

// micros is how times are stored.
func micros(t time.Time) int64 { return t.UnixMicro() }

func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }
