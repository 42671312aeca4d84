package sqlite

import (
	"context"
	"slices"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// itemPiece is what one update adds to the index of memory.
type itemPiece struct {
	after          int64 // the mark it continues from
	items          []seenItem
	docs           []document
	floor, ceiling string
	full           bool
}

// seenItem is what must still be so when the item is added: nothing else of it ever changes.
type seenItem struct {
	rowid    int64
	id       string
	archived bool
}

// indexItems indexes a piece of the items up to a rowid and reports whether there are more.
//
// Like turns they are read and analysed outside of the update. One that was deleted or archived in
// the meantime makes the piece late, as does another process that was faster; it is then read again.
func (s *Store) indexItems(ctx context.Context, through int64) (more bool, err error) {
	var piece itemPiece
	err = s.view(ctx, func(t *tx) error {
		piece, err = memoryRows{t}.readPiece(ctx, through)
		return err
	})
	if err != nil || len(piece.items) == 0 {
		return false, err
	}
	late := false
	err = s.Update(ctx, func(st store.Tx) (err error) {
		st.SyncLater() // what is gone is indexed again
		late, err = memoryRows{st.(*tx)}.addPiece(ctx, piece)
		return err
	})
	return piece.full || late, err
}

func (r memoryRows) readPiece(ctx context.Context, through int64) (itemPiece, error) {
	after, err := r.itemMark()
	if err != nil {
		return itemPiece{}, err
	}
	p := itemPiece{after: after}
	p.ceiling, _, err = one(r.tx, r.c.Prepare(`SELECT ceiling FROM memory_pieces WHERE through = ?`).Int(after), (*lite.Stmt).ReadText)
	if err != nil {
		return itemPiece{}, err
	}
	q := r.c.Prepare(`SELECT ` + entryColumns + ` FROM memory_items WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`).
		Int(after).Int(through).Int(pieceRows + 1)
	defer q.Close()
	for size := 0; ; {
		if err := r.reading(ctx); err != nil {
			return itemPiece{}, err
		}
		more, err := q.Step()
		if err != nil || !more {
			return p, r.fail(err)
		}
		if len(p.items) == pieceRows || size >= pieceBytes {
			p.full = true
			return p, nil
		}
		e := readEntry(q)
		size += len(e.row.Text) + len(e.row.About)
		if len(p.items) == 0 || e.row.ID < p.floor {
			p.floor = e.row.ID
		}
		p.ceiling = max(p.ceiling, e.row.ID)
		p.items = append(p.items, seenItem{e.rowid, e.row.ID, !e.row.Archived.IsZero()})
		p.docs = append(p.docs, document{e.rowid, e.document()})
	}
}

// addPiece adds to the index and moves the mark, or adds nothing and reports that it is late.
func (r memoryRows) addPiece(ctx context.Context, p itemPiece) (late bool, err error) {
	if err := r.writing(ctx); err != nil {
		return false, err
	}
	mark, err := r.itemMark()
	if err != nil {
		return false, err
	}
	last := p.items[len(p.items)-1].rowid
	now, err := all(r.tx, r.c.Prepare(`SELECT id, item_id, archived_at IS NOT NULL FROM memory_items WHERE id > ? AND id <= ? ORDER BY id`).
		Int(p.after).Int(last), func(q *lite.Stmt) seenItem { return seenItem{q.ReadInt(), q.ReadText(), q.ReadInt() != 0} })
	if err != nil {
		return false, err
	}
	if mark != p.after || !slices.Equal(now, p.items) {
		return true, nil
	}
	for _, d := range p.docs {
		if err := r.writing(ctx); err != nil {
			return false, err
		}
		if err := r.c.Prepare(`INSERT INTO memory_text (rowid, terms) VALUES (?, ?)`).Int(d.rowid).Text(d.terms).Run(); err != nil {
			return false, r.fail(err)
		}
	}
	return false, r.fail(r.c.Prepare(`INSERT INTO memory_pieces (through, floor, ceiling) VALUES (?, ?, ?)`).
		Int(last).Text(p.floor).Text(p.ceiling).Run())
}
