package sqlite

import (
	"context"
	"strings"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
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
	if table.Name != "turns" {
		return t.dump(ctx, table, t.c.Prepare(selectInOrder(&table, "")), yield)
	}
	// Turns are ordered in their segments only.
	type owned struct {
		tenant  string
		segment int64
	}
	segments, err := all(t, t.c.Prepare(`SELECT DISTINCT tenant, segment FROM turns INDEXED BY turns_by_id ORDER BY tenant, segment`),
		func(q *lite.Stmt) owned { return owned{q.ReadText(), q.ReadInt()} })
	if err != nil {
		return err
	}
	for _, s := range segments {
		q := t.c.Prepare(selectInOrder(&table, "segment")).Text(s.tenant).Int(s.segment)
		if err := t.dump(ctx, table, q, yield); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) dump(ctx context.Context, table store.Table, q *lite.Stmt, yield func(store.Row) error) error {
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

// selectInOrder reads rows in the order of their key: all, or a tenant's with a value in a column. Every key has an index,
// so that nothing is sorted. Turns are read by their segments only.
func selectInOrder(table *store.Table, column string) string {
	columns, order, where := dumpColumns(*table), strings.Join(table.Key, ", "), `true`
	if column != "" {
		where = `tenant = ?1 AND ` + column + ` = ?2`
	}
	p := placesOf(table.Name)
	if p == nil {
		return `SELECT ` + strings.Join(columns, ", ") + ` FROM ` + table.Name + ` WHERE ` + where + ` ORDER BY ` + order
	}
	from := p.from(where, order)
	if p == turnPlaces {
		// A place does not say whose it is.
		from = p.from(ofSegment, "place") + ` AND turns.tenant = ?1`
	}
	return `SELECT ` + table.Name + `.` + strings.Join(columns, `, `+table.Name+`.`) + ` FROM ` + from
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
	if table.Name == "exports" {
		columns[table.Position("sent_number")], columns[table.Position("sent_at")] = sentNumber, sentAt
	}
	return columns
}
