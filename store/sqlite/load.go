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
		return t.completeLoad(ctx)
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

// completeLoad makes what is made of others. The text indexes are filled later.
func (t *tx) completeLoad(ctx context.Context) error {
	if err := t.writing(ctx); err != nil {
		return err
	}
	for _, sql := range []string{turnPlaces.fold, intentionPlaces.fold, headIntentions, loadReminders, endPrompts, endCheckpoints, lastPlaces} {
		if err := t.fail(t.c.Exec(sql)); err != nil {
			return err
		}
	}
	return t.numberExports()
}

// waitingExport is from where on exports that wait are numbered while others are loaded. Those have
// the numbers they were published under.
const waitingExport = 1 << 62

// numberExports sets the relay's position to the last export that was published and puts those that
// wait behind it, in the order they were made.
func (t *tx) numberExports() error {
	err := t.c.Prepare(`UPDATE relay SET position = coalesce((SELECT max(sent_number) FROM exports WHERE sent_number < ?), 0)`).
		Int(waitingExport).Run()
	if err != nil {
		return t.fail(err)
	}
	position, _, err := one(t, t.c.Prepare(`SELECT position FROM relay`), readInt)
	if err != nil {
		return err
	}
	waiting, err := all(t, t.c.Prepare(`SELECT sent_number FROM exports WHERE sent_number >= ? ORDER BY created_at, export_id`).
		Int(waitingExport), readInt)
	if err != nil {
		return err
	}
	for i, number := range waiting {
		err := t.c.Prepare(`UPDATE exports SET sent_number = ? WHERE sent_number = ?`).Int(position + 1 + int64(i)).Int(number).Run()
		if err != nil {
			return t.fail(err)
		}
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
	values, err := into.table.Complete(row.Values)
	if err != nil {
		return err
	}
	if err := into.check(values); err != nil {
		return err
	}
	if into.table.Name == "turns" {
		if values, err = t.silence(into, values); err != nil {
			return err
		}
	}
	err = into.bind(t.c, values).Run()
	if taken(err) || err == nil && t.c.Changes() == 0 {
		return turn.ErrConflict
	}
	if err != nil {
		return t.fail(err)
	}
	if into.table.Name == "exports" {
		return t.noteSent(into, values)
	}
	return into.place(t, values)
}

// noteSent notes when an export was sent, by itself: who sent others with it cannot be told from the row.
func (t *tx) noteSent(into *loader, values []any) error {
	number := values[into.table.Position("sent_number")]
	if number == nil {
		return nil
	}
	return t.fail(t.c.Prepare(`INSERT INTO publications (through, sent_at) VALUES (?, ?)`).
		Value(number).Value(values[into.table.Position("sent_at")]).Run())
}

func newLoader(table store.Table) *loader {
	columns := columnNames(table)
	l := &loader{table: table}
	bound := columns
	switch table.Name {
	case "turns":
		l.insert, bound = insertTurns[1], turnValues
		columns = append(columns, "quiet_since")
	case "exports":
		bound = slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return name == "sent_at" })
		l.insert = insertLoadedExport(bound)
	default:
		l.insert = `INSERT INTO ` + table.Name + ` (` + strings.Join(columns, ", ") + `) VALUES (?` +
			strings.Repeat(", ?", len(columns)-1) + `)`
	}
	for _, name := range bound {
		l.values = append(l.values, slices.Index(columns, name))
	}
	return l
}

// silence adds the quiet_since of a turn, which is no column of what is loaded.
func (t *tx) silence(into *loader, values []any) ([]any, error) {
	value := func(name string) any { return values[into.table.Position(name)] }
	if utterance(turn.Role(value("role").(string)), turn.Form(value("form").(string))) {
		return append(slices.Clip(values), nil), nil
	}
	since, err := t.quietSince(value("segment").(int64), value("seq").(int64))
	return append(slices.Clip(values), since), err
}

// insertLoadedExport numbers an export that waits for the time of loading.
func insertLoadedExport(columns []string) string {
	values := make([]string, len(columns))
	for i, c := range columns {
		values[i] = "?"
		if c == "sent_number" {
			values[i] = fmt.Sprintf("coalesce(?, (SELECT max(max(sent_number) + 1, %d) FROM exports), %[1]d)", int64(waitingExport))
		}
	}
	return `INSERT INTO exports (` + strings.Join(columns, ", ") + `) VALUES (` + strings.Join(values, ", ") + `)`
}

// check holds every value against its column.
func (l *loader) check(values []any) error {
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

// place adds the row's place where it has one.
func (l *loader) place(t *tx, values []any) error {
	p := placesOf(l.table.Name)
	if p == nil {
		return nil
	}
	key := make([]any, len(p.key))
	for i, name := range p.key {
		key[i] = values[l.table.Position(name)]
		if v, ok := key[i].(int64); ok && (v < 0 || v > maxPlaced) {
			return fmt.Errorf("column %s: %d is not between 0 and %d", name, v, int64(maxPlaced))
		}
	}
	row, q := t.c.LastInsertID(), t.c.Prepare(p.insert)
	for _, v := range p.of(key) {
		q.Value(v)
	}
	if placed, err := t.place(p, q, row); err != nil || placed {
		return err
	}
	return turn.ErrConflict
}

func (l *loader) bind(c *lite.Conn, values []any) *lite.Stmt {
	q := c.Prepare(l.insert)
	for _, i := range l.values {
		q.Value(values[i])
	}
	return q
}
