package sqlite

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
	"github.com/turnstone-dev/turnstone/turn"
)

// Load implements [store.Store] in one transaction. Updates of others wait for it, and so do those of
// rows itself: they must not come from this store's own Update.
func (s *Store) Load(ctx context.Context, rows iter.Seq2[store.Row, error]) error {
	err := s.Update(ctx, func(st store.Tx) error {
		t := st.(*tx)
		if err := t.loadable(); err != nil {
			return err
		}
		l := make(loaders)
		for row, err := range rows {
			if err != nil {
				return err
			}
			if err := t.writing(ctx); err != nil {
				return err
			}
			if err := l.load(t, row); err != nil {
				return fmt.Errorf("load a row of %s: %w", row.Table, err)
			}
		}
		return nil
	})
	if err == nil {
		s.text.lookAtAll()
	}
	return err
}

// loadable refuses a store that has a session.
func (t *tx) loadable() error {
	q := t.c.Prepare(`SELECT 1 FROM sessions LIMIT 1`)
	defer q.Close()
	found, err := q.Step()
	if err != nil {
		return t.fail(err)
	}
	if found {
		return store.ErrNotEmpty
	}
	return nil
}

// loaders are the ways to store a row of each table, by its name.
type loaders map[string]*loader

type loader struct {
	table  store.Table
	insert string
	values []int // which values are bound, in this order
}

func (l loaders) load(t *tx, row store.Row) error {
	into, ok := l[row.Table]
	if !ok {
		i := slices.IndexFunc(store.Schema, func(t store.Table) bool { return t.Name == row.Table })
		if i < 0 {
			return fmt.Errorf("there is no such table")
		}
		into = newLoader(store.Schema[i])
		l[row.Table] = into
	}
	if err := into.check(row.Values); err != nil {
		return err
	}
	err := into.bind(t.c, row.Values).Run()
	if taken(err) {
		return turn.ErrConflict
	}
	return t.fail(err)
}

func newLoader(table store.Table) *loader {
	columns := columnNames(table)
	l := &loader{table: table}
	bound := columns
	if table.Name == "turns" {
		l.insert, bound = insertTurn, turnValues
	} else {
		l.insert = `INSERT INTO ` + table.Name + ` (` + strings.Join(columns, ", ") + `) VALUES (?` +
			strings.Repeat(", ?", len(columns)-1) + `)`
	}
	for _, name := range bound {
		l.values = append(l.values, slices.Index(columns, name))
	}
	return l
}

// check holds every value against its column.
func (l *loader) check(values []any) error {
	if len(values) != len(l.table.Columns) {
		return fmt.Errorf("%d values for %d columns", len(values), len(l.table.Columns))
	}
	for i, c := range l.table.Columns {
		ok := false
		switch values[i].(type) {
		case nil:
			ok = c.Null
		case int64:
			ok = c.Type == store.Int
		case string:
			ok = c.Type == store.Text
		case []byte:
			ok = c.Type == store.Bytes
		}
		if !ok {
			return fmt.Errorf("column %s: %T is no value for it", c.Name, values[i])
		}
	}
	return nil
}

func (l *loader) bind(c *lite.Conn, values []any) *lite.Stmt {
	q := c.Prepare(l.insert)
	for _, i := range l.values {
		q.Value(values[i])
	}
	return q
}
