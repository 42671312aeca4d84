package sqlite

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// InsertItems implements [memory.Rows]. The indexes of memory learn of items later; see itemindex.go.
func (r memoryRows) InsertItems(ctx context.Context, items []memory.Row) (int, error) {
	added := 0
	for some := range slices.Chunk(items, itemsAtOnce) {
		if err := r.writing(ctx); err != nil {
			return 0, err
		}
		q := r.c.Prepare(insertItems[len(some)])
		for i := range some {
			bindItem(q, &some[i])
		}
		if err := q.Run(); err != nil {
			return 0, r.fail(err)
		}
		added += int(r.c.Changes())
	}
	if added > 0 {
		r.noteAppended(allItems)
	}
	return added, nil
}

// itemsAtOnce is how many items a statement inserts at most: one that inserts five takes two thirds of what five take.
const itemsAtOnce = 8

// insertItems are the statements, by how many items they insert. With ON CONFLICT DO NOTHING, SQLite would keep a copy of every
// page that they change; see newPlaces.
//
// HAZARD: a statement that fails in the middle is not undone by itself. A disk that is full or fails, and memory that runs out,
// take the whole transaction with them; nothing else stops one but a row beyond what SQLite holds, which items are far from, or a
// file that is damaged.
var insertItems = severalRows(`INSERT OR IGNORE INTO memory_items (`+itemColumns+`) VALUES `,
	`(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, itemsAtOnce)

// severalRows are the statements that insert up to most rows, by how many.
func severalRows(insert, row string, most int) []string {
	statements := make([]string, most+1)
	for n := range statements {
		statements[n] = insert + strings.TrimSuffix(strings.Repeat(row+`, `, n), `, `)
	}
	return statements
}

func bindItem(q *lite.Stmt, m *memory.Row) {
	q.Text(m.Tenant).Text(m.ID).Int(m.Segment).Text(m.Session).Text(m.User).Text(string(m.Type)).Int(m.Importance).Int(micros(m.Created))
	bindTime(q, m.Expires)
	bindTime(q, m.Archived)
	q.Text(m.Text).Text(m.About).TextOrNull(m.Data)
}

const itemColumns = `tenant, item_id, segment, session_id, user_id, type, importance, created_at, expires_at, archived_at,
	text, about, data`

func readItem(q *lite.Stmt) memory.Row {
	return memory.Row{
		Tenant: word(q.ReadRaw()), ID: q.ReadText(), Segment: q.ReadInt(), Session: q.ReadText(), User: q.ReadText(),
		Type: memory.Type(word(q.ReadRaw())), Importance: q.ReadInt(), Created: fromMicros(q.ReadInt()),
		Expires: readTime(q), Archived: readTime(q), Text: q.ReadText(), About: q.ReadText(), Data: q.ReadText(),
	}
}

// Item implements [memory.Rows].
func (r memoryRows) Item(ctx context.Context, tenant, id string) (memory.Row, error) {
	if err := r.reading(ctx); err != nil {
		return memory.Row{}, err
	}
	row, ok, err := r.item(tenant, id)
	if err == nil && !ok {
		err = memory.ErrNotFound
	}
	return row, err
}

func (r memoryRows) item(tenant, id string) (memory.Row, bool, error) {
	return one(r.tx, r.c.Prepare(`SELECT `+itemColumns+` FROM memory_items WHERE tenant = ? AND item_id = ?`).
		Text(tenant).Text(id), readItem)
}

// ItemsByID implements [memory.Rows].
func (r memoryRows) ItemsByID(ctx context.Context, tenant string, ids []string) ([]memory.Row, error) {
	var found []memory.Row
	for _, id := range onceSorted(ids) {
		if err := r.reading(ctx); err != nil {
			return nil, err
		}
		row, ok, err := r.item(tenant, id)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if found == nil {
			found = make([]memory.Row, 0, len(ids))
		}
		found = append(found, row)
	}
	return found, nil
}

func onceSorted(ids []string) []string { return slices.Compact(slices.Sorted(slices.Values(ids))) }

// LiveItems implements [memory.Rows].
func (r memoryRows) LiveItems(ctx context.Context, tenant string, segment int64, now time.Time) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	mark, err := r.itemMark()
	if err != nil {
		return 0, err
	}
	const live = ` AND tenant = ?2 AND segment = ?3 AND archived_at IS NULL AND (expires_at IS NULL OR expires_at > ?4)`
	indexed, _, err := one(r.tx, r.c.Prepare(`SELECT count(*) FROM memory_text CROSS JOIN memory_items ON memory_items.id = memory_text.rowid
		WHERE memory_text MATCH ?1`+live).
		Text(every(sessionTerm(segment), liveTerm)).Text(tenant).Int(segment).Int(micros(now)), readInt)
	if err != nil {
		return 0, err
	}
	tail, _, err := one(r.tx, r.c.Prepare(`SELECT count(*) FROM memory_items NOT INDEXED WHERE id > ?1`+live).
		Int(mark).Text(tenant).Int(segment).Int(micros(now)), readInt)
	return indexed + tail, err
}

// ArchiveItems implements [memory.Rows].
func (r memoryRows) ArchiveItems(ctx context.Context, tenant string, ids []string, at time.Time) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	mark, err := r.itemMark()
	if err != nil {
		return err
	}
	for _, id := range onceSorted(ids) {
		if err := r.writing(ctx); err != nil {
			return err
		}
		item, ok, err := one(r.tx, r.c.Prepare(`SELECT `+entryColumns+` FROM memory_items
			WHERE tenant = ? AND item_id = ? AND archived_at IS NULL`).Text(tenant).Text(id), readEntry)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := r.c.Prepare(`UPDATE memory_items SET archived_at = ? WHERE id = ?`).Int(micros(at)).Int(item.rowid).Run(); err != nil {
			return r.fail(err)
		}
		if item.rowid > mark {
			continue
		}
		if err := r.unindex(item); err != nil {
			return err
		}
		item.row.Archived = at
		if err := r.index(item); err != nil {
			return err
		}
	}
	return nil
}

// DeleteItems implements [memory.Rows].
func (r memoryRows) DeleteItems(ctx context.Context, tenant string, ids []string) (int, error) {
	var doomed []entry
	for _, id := range onceSorted(ids) {
		if err := r.writing(ctx); err != nil {
			return 0, err
		}
		item, ok, err := one(r.tx, r.c.Prepare(`SELECT `+entryColumns+` FROM memory_items WHERE tenant = ? AND item_id = ?`).
			Text(tenant).Text(id), readEntry)
		if err != nil {
			return 0, err
		}
		if ok {
			doomed = append(doomed, item)
		}
	}
	if len(doomed) == 0 {
		return 0, nil
	}
	if err := r.deleteItems(ctx, doomed); err != nil {
		return 0, err
	}
	return len(doomed), r.forget()
}

// SweepItems implements [memory.Rows].
func (r memoryRows) SweepItems(ctx context.Context, now time.Time, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil || limit <= 0 {
		return 0, err
	}
	doomed, err := r.expired(now, limit)
	if err != nil || len(doomed) == 0 {
		return 0, err
	}
	return int64(len(doomed)), r.deleteItems(ctx, doomed)
}

// expired returns up to limit items that expired at or before now.
func (r memoryRows) expired(now time.Time, limit int) ([]entry, error) {
	// Minutes that nothing expires in any more are not in the index.
	minutes, err := r.texts(r.c.Prepare(`SELECT term FROM memory_text_terms WHERE term >= ? AND term <= ?`).
		Text(expiryTerm(time.UnixMicro(0))).Text(expiryTerm(now)))
	if err != nil {
		return nil, err
	}
	var doomed []entry
	for _, minute := range minutes {
		if len(doomed) >= limit {
			return doomed, nil
		}
		found, err := all(r.tx, r.c.Prepare(`SELECT `+entryColumns+` FROM memory_text CROSS JOIN memory_items
			ON memory_items.id = memory_text.rowid WHERE memory_text MATCH ? AND expires_at <= ? LIMIT ?`).
			Text(every(minute)).Int(micros(now)).Int(int64(limit-len(doomed))), readEntry)
		if err != nil {
			return nil, err
		}
		doomed = append(doomed, found...)
	}
	mark, err := r.itemMark()
	if err != nil {
		return nil, err
	}
	found, err := all(r.tx, r.c.Prepare(`SELECT `+entryColumns+` FROM memory_items WHERE id > ? AND expires_at <= ? LIMIT ?`).
		Int(mark).Int(micros(now)).Int(int64(limit-len(doomed))), readEntry)
	return append(doomed, found...), err
}

// deleteItems removes items from the table and the indexes.
func (r memoryRows) deleteItems(ctx context.Context, doomed []entry) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	mark, err := r.itemMark()
	if err != nil {
		return err
	}
	for _, item := range doomed {
		if err := r.writing(ctx); err != nil {
			return err
		}
		if item.rowid <= mark {
			if err := r.unindex(item); err != nil {
				return err
			}
		}
		if err := r.c.Prepare(`DELETE FROM memory_items WHERE id = ?`).Int(item.rowid).Run(); err != nil {
			return r.fail(err)
		}
	}
	return r.lowerMark(mark)
}
