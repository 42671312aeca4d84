package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/store"
)

// columnTypes are PostgreSQL's names of the types of [store.Type].
var columnTypes = map[string]store.Type{"bigint": store.Int, "text": store.Text, "bytea": store.Bytes}

// Tables returns the tables as they are in the database, by name, with their primary keys. It includes
// those that are not in [store.Schema] but for schema_migrations; a column of another type than
// store's three has PostgreSQL's name of it.
func (s *Store) Tables(ctx context.Context) (tables []store.Table, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.running.Done()
	err = s.view(ctx, func(t *tx) error {
		return t.query(ctx, func(rows pgx.Rows) error {
			for rows.Next() {
				var table, kind string
				var column store.Column
				if err := rows.Scan(&table, &column.Name, &kind, &column.Null); err != nil {
					return err
				}
				known := false
				if column.Type, known = columnTypes[kind]; !known {
					column.Type = store.Type(kind)
				}
				if n := len(tables); n == 0 || tables[n-1].Name != table {
					tables = append(tables, store.Table{Name: table})
				}
				last := &tables[len(tables)-1]
				last.Columns = append(last.Columns, column)
			}
			return nil
		}, `SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull
			FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
			WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind = 'r' AND c.relname <> 'schema_migrations'
				AND a.attnum > 0 AND NOT a.attisdropped
			ORDER BY c.relname, a.attnum`)
	})
	if err != nil {
		return nil, err
	}
	for i := range tables {
		if tables[i].Key, err = s.primaryKey(ctx, tables[i].Name); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

func (s *Store) primaryKey(ctx context.Context, table string) (key []string, err error) {
	err = s.view(ctx, func(t *tx) error {
		return t.row(ctx, func(row pgx.Row) error { return row.Scan(&key) },
			`SELECT array_agg(a.attname::text ORDER BY k.position)
			FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS k (attnum, position), pg_attribute a
			WHERE i.indrelid = (quote_ident(current_schema()) || '.' || quote_ident($1))::regclass AND i.indisprimary
				AND a.attrelid = i.indrelid AND a.attnum = k.attnum`, table)
	})
	return key, err
}
