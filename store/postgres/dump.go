package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/store"
)

// Dump implements [store.Store]. Rows are handed on as they arrive from the server; nobody waits for
// the dump to end.
func (s *Store) Dump(ctx context.Context, yield func(store.Row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.running.Done()
	return s.view(ctx, func(t *tx) error {
		// Between two tables yield may be busy for as long as it likes.
		t.later("", `SET LOCAL idle_in_transaction_session_timeout = 0`)
		for _, table := range store.Schema {
			if err := t.dump(ctx, table, yield); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) dump(ctx context.Context, table store.Table, yield func(store.Row) error) error {
	var refused error
	err := t.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				return err
			}
			if refused = yield(store.Row{Table: table.Name, Values: values}); refused != nil {
				return refused
			}
		}
		return nil
	}, `SELECT `+strings.Join(columnNames(table), ", ")+` FROM `+table.Name+` ORDER BY `+strings.Join(table.Key, ", "))
	if refused != nil {
		return refused
	}
	return err
}

func columnNames(table store.Table) []string {
	names := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		names[i] = c.Name
	}
	return names
}
