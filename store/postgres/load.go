package postgres

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/store"
)

const (
	loadRows  = 5_000
	loadBytes = 4 << 20
)

// Load implements [store.Store]. Writers wait until it is over: they would fill the store meanwhile.
func (s *Store) Load(ctx context.Context, rows iter.Seq2[store.Row, error]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.running.Done()
	// The rows can be taken only once: what comes after BEGIN cannot be run again like another update.
	var t *tx
	err := s.retry(ctx, func() (again bool, err error) {
		t, err = s.begin(ctx)
		return t.lost, err
	})
	if err != nil {
		return err
	}
	if _, err := t.run(func(t *tx) error { return t.load(ctx, rows) }); err != nil {
		return err
	}
	s.index.lookSoon()
	return nil
}

func (t *tx) load(ctx context.Context, rows iter.Seq2[store.Row, error]) error {
	// The source may be slow, a pipe for example.
	t.later("", `SET LOCAL idle_in_transaction_session_timeout = 0`)
	t.later("", `LOCK TABLE sessions IN SHARE ROW EXCLUSIVE MODE`)
	var taken bool
	err := t.row(ctx, func(row pgx.Row) error { return row.Scan(&taken) }, `SELECT EXISTS (SELECT FROM sessions)`)
	if err != nil {
		return err
	}
	if taken {
		return store.ErrNotEmpty
	}
	l := loader{tx: t}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := l.add(ctx, row); err != nil {
			return err
		}
	}
	if err := l.flush(ctx); err != nil {
		return err
	}
	t.later("intentions", loadHeads)
	t.later("intentions", loadReminders)
	t.later("prompts", loadEnds)
	t.later("checkpoints", loadCheckpointEnds)
	t.later("memory items", loadQueue)
	t.later("memory items", loadCounts)
	t.later("events", loadPlaces)
	// Segments are kept as they were given, which the sequence does not notice.
	return t.row(ctx, func(row pgx.Row) error { return row.Scan(nil) },
		`SELECT setval(pg_get_serial_sequence('sessions', 'segment'), max(segment)) FROM sessions`)
}

// loader collects rows of one table until they are worth a COPY.
type loader struct {
	tx    *tx
	table store.Table
	rows  [][]any
	bytes int
}

func (l *loader) add(ctx context.Context, row store.Row) error {
	if row.Table != l.table.Name {
		if err := l.flush(ctx); err != nil {
			return err
		}
		i := slices.IndexFunc(store.Schema, func(t store.Table) bool { return t.Name == row.Table })
		if i < 0 {
			return fmt.Errorf("load a row of %s: there is no such table", row.Table)
		}
		l.table = store.Schema[i]
	}
	values, size, err := checkRow(l.table, row.Values)
	if err != nil {
		return fmt.Errorf("load a row of %s: %w", row.Table, err)
	}
	l.rows = append(l.rows, values)
	l.bytes += size
	if len(l.rows) < loadRows && l.bytes < loadBytes {
		return nil
	}
	return l.flush(ctx)
}

// checkRow copies a row's values, which the source may use again, and returns about how many bytes
// they are.
func checkRow(table store.Table, values []any) (row []any, size int, err error) {
	if values, err = table.Complete(values); err != nil {
		return nil, 0, err
	}
	row = slices.Clone(values)
	for i, c := range table.Columns {
		fits := false
		switch v := row[i].(type) {
		case nil:
			fits = c.Null
		case int64:
			fits = c.Type == store.Int
		case string:
			fits = c.Type == store.Text
			size += len(v)
		case []byte:
			fits = c.Type == store.Bytes
			row[i] = bytes.Clone(v)
			size += len(v)
		}
		if !fits {
			return nil, 0, fmt.Errorf("column %s holds %s, not %T", c.Name, c.Type, row[i])
		}
	}
	return row, size, nil
}

func (l *loader) flush(ctx context.Context) error {
	if len(l.rows) == 0 {
		return nil
	}
	t := l.tx
	if err := t.usable(ctx); err != nil {
		return err
	}
	_, err := t.conn.CopyFrom(ctx, pgx.Identifier{l.table.Name}, columnNames(l.table), pgx.CopyFromRows(l.rows))
	if err != nil {
		return fmt.Errorf("load rows of %s: %w", l.table.Name, t.fail(ctx, statement{}.explain(err)))
	}
	clear(l.rows)
	l.rows, l.bytes = l.rows[:0], 0
	return nil
}
