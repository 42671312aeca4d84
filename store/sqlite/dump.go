package sqlite

import (
	"context"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/store"
)

// Dump implements [store.Store]. Writers do not wait for it.
func (s *Store) Dump(ctx context.Context, yield func(store.Row) error) error {
	return s.view(ctx, func(t *tx) error {
		for _, table := range store.Schema {
			if err := t.dumpTable(ctx, table, yield); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) dumpTable(ctx context.Context, table store.Table, yield func(store.Row) error) error {
	q := t.c.Prepare(selectInOrder(&table, `true`))
	defer q.Close()
	values := make([]any, len(table.Columns))
	for {
		if err := t.reading(ctx); err != nil {
			return err
		}
		more, err := q.Step()
		if err != nil || !more {
			return t.fail(err)
		}
		for i := range values {
			values[i] = q.ReadValue()
		}
		if err := yield(store.Row{Table: table.Name, Values: values}); err != nil {
			return err
		}
	}
}

// selectInOrder reads rows in the order of their key. Every key has an index, so that nothing is sorted.
func selectInOrder(table *store.Table, where string) string {
	columns, order := dumpColumns(*table), strings.Join(table.Key, ", ")
	if p := placesOf(table.Name); p != nil {
		return `SELECT ` + table.Name + `.` + strings.Join(columns, `, `+table.Name+`.`) + ` FROM ` + p.from(where, order)
	}
	return `SELECT ` + strings.Join(columns, ", ") + ` FROM ` + table.Name + ` WHERE ` + where + ` ORDER BY ` + order
}

func columnNames(table store.Table) []string {
	names := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		names[i] = c.Name
	}
	return names
}

// dumpColumns are what is read of a table.
func dumpColumns(table store.Table) []string {
	columns := columnNames(table)
	if i := slices.Index(columns, "sent_number"); i >= 0 {
		columns[i] = sentNumber
	}
	return columns
}
