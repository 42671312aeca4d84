package sqlite

import (
	"context"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// Tables describes the tables that the file has, as SQLite describes them, without those that
// migrations and SQLite keep for themselves: for comparing them with [store.Schema]. Rowids and the
// columns quiet_since and sweep_at, which are made of others, are left out.
func (s *Store) Tables(ctx context.Context) ([]store.Table, error) {
	var tables []store.Table
	err := s.view(ctx, func(t *tx) error {
		names, err := t.texts(t.c.Prepare(`SELECT name FROM sqlite_master WHERE type = 'table'
			AND name NOT LIKE 'sqlite_%' AND name <> 'schema_migrations' ORDER BY name`))
		if err != nil {
			return err
		}
		for _, name := range names {
			table, err := t.table(name)
			if err != nil {
				return err
			}
			tables = append(tables, table)
		}
		return nil
	})
	return tables, err
}

func (t *tx) texts(q *lite.Stmt) ([]string, error) {
	var list []string
	for {
		more, err := q.Step()
		if err != nil || !more {
			return list, t.fail(err)
		}
		list = append(list, q.ReadText())
	}
}

func (t *tx) table(name string) (store.Table, error) {
	table := store.Table{Name: name}
	types := map[string]store.Type{"INTEGER": store.Int, "TEXT": store.Text, "BLOB": store.Bytes}
	q := t.c.Prepare(`SELECT name, type, "notnull", pk FROM pragma_table_info(?) ORDER BY pk, cid`).Text(name)
	for {
		more, err := q.Step()
		if err != nil {
			return table, t.fail(err)
		}
		if !more {
			break
		}
		c := store.Column{Name: q.ReadText(), Type: types[q.ReadText()]}
		notNull, inKey := q.ReadInt() != 0, q.ReadInt() != 0
		if c.Name == "quiet_since" || c.Name == "sweep_at" || inKey && (c.Name == "id" || c.Name == "row") && c.Type == store.Int {
			continue
		}
		if inKey {
			table.Key = append(table.Key, c.Name)
		}
		// An export has its number before it is sent, but to others it has none until then.
		c.Null = !notNull && !inKey || c.Name == "sent_number"
		table.Columns = append(table.Columns, c)
	}
	if name == "exports" { // it is kept once for all that were sent together
		table.Columns = append(table.Columns, store.Column{Name: "sent_at", Type: store.Int, Null: true})
	}
	unique, err := t.texts(t.c.Prepare(`SELECT i.name FROM pragma_index_list(?1) AS l, pragma_index_info(l.name) AS i
		WHERE l.origin = 'u' ORDER BY i.seqno`).Text(name))
	if err != nil {
		return table, err
	}
	// A key that is not the rowid comes before it.
	if len(unique) > 0 {
		table.Key = unique
	}
	if p := placesOf(name); p != nil {
		table.Key = p.key
	}
	return table, nil
}
