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
	columns := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		columns[i] = c.Name
	}
	sql := `SELECT ` + strings.Join(columns, ", ") + ` FROM ` + table.Name
	// Rows that have their place in the rowid lie in the order of segments, whosever these are, and not
	// of tenants first. To sort them all would take memory for all.
	if table.Name != "turns" && table.Name != "revisions" {
		return t.dumpRows(ctx, t.c.Prepare(sql+` ORDER BY `+strings.Join(table.Key, ", ")), table, yield)
	}
	segments := t.c.Prepare(`SELECT tenant, segment FROM sessions ORDER BY tenant, segment`)
	defer segments.Close()
	for {
		more, err := segments.Step()
		if err != nil || !more {
			return t.fail(err)
		}
		tenant, segment := segments.ReadText(), segments.ReadInt()
		q := t.c.Prepare(sql + ` WHERE id BETWEEN ? AND ? AND tenant = ? ORDER BY id`).
			Int(rowid(segment, 0)).Int(rowid(segment, maxPlace)).Text(tenant)
		if err := t.dumpRows(ctx, q, table, yield); err != nil {
			return err
		}
	}
}

func (t *tx) dumpRows(ctx context.Context, q *lite.Stmt, table store.Table, yield func(store.Row) error) error {
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
