package mem

import (
	"context"
	"errors"
	"slices"
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
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

var (
	errEnded  = errors.New("transaction is over; use its Tx only inside the function it was given to")
	errNested = errors.New("a savepoint is begun already; end it before the next")
)

// tx is one transaction. It holds the store's lock for as long as it lives.
type tx struct {
	data     *data
	light    *dialogue.Light
	now      time.Time
	writable bool
	ended    bool
	saving   bool // a savepoint is begun
	undo     []func()
	after    []func()
}

func (s *Store) begin(writable bool) *tx {
	return &tx{data: s.data, light: s.light, now: s.clock().UTC().Truncate(time.Microsecond), writable: writable}
}

func (t *tx) end() { t.ended = true }

// rollback undoes what was written, the last first, until only the first n writes are left.
func (t *tx) rollback(n int) {
	for i := len(t.undo) - 1; i >= n; i-- {
		t.undo[i]()
	}
	t.undo = t.undo[:n]
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

// Savepoint implements [store.Tx].
func (t *tx) Savepoint(ctx context.Context, fn func() error) error {
	if err := t.writing(ctx); err != nil {
		return err
	}
	if t.saving {
		return errNested
	}
	t.saving = true
	written, calls, kept := len(t.undo), len(t.after), false
	// Deferred, so that a panic of fn is undone too before it goes on in the caller.
	defer func() {
		t.saving = false
		if !kept {
			t.rollback(written)
			t.after = t.after[:calls]
		}
	}()
	if err := fn(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	kept = true
	return nil
}

// Light implements [store.Tx].
func (t *tx) Light() dialogue.LightRows { return lightRows{t} }

// AfterCommit implements [store.Tx].
func (t *tx) AfterCommit(f func()) { t.after = append(t.after, f) }

// SyncLater implements [store.Tx]: memory is never durable.
func (t *tx) SyncLater() {}

// reading is asked by every method that reads, before it touches the data.
func (t *tx) reading(ctx context.Context) error {
	if t.ended {
		return errEnded
	}
	return ctx.Err()
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

// put sets a key of a table and notes how to undo it.
func put[K comparable, V any](t *tx, table map[K]V, key K, value V) {
	before, had := table[key]
	t.undo = append(t.undo, func() {
		if had {
			table[key] = before
		} else {
			delete(table, key)
		}
	})
	table[key] = value
}

// remove deletes a key of a table and notes how to undo it.
func remove[K comparable, V any](t *tx, table map[K]V, key K) {
	before, had := table[key]
	if !had {
		return
	}
	t.undo = append(t.undo, func() { table[key] = before })
	delete(table, key)
}

// set changes a variable and notes how to undo it. A slice that is set may share its array with
// the one before only beyond that one's length: earlier readers keep what they saw.
func set[V any](t *tx, variable *V, value V) {
	before := *variable
	t.undo = append(t.undo, func() { *variable = before })
	*variable = value
}

// insertAt returns the list with a value added at i and leaves the list itself as it is.
func insertAt[V any](list []V, i int, value V) []V {
	if i == len(list) {
		return append(list, value)
	}
	return slices.Insert(slices.Clone(list), i, value)
}
