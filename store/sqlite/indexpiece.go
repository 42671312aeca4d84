package sqlite

import (
	"context"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// target is a segment and how far it is to be indexed.
type target struct {
	textSegment
	through int64
}

// A piece is what one update indexes at most.
const (
	pieceTurns = 64
	pieceBytes = 256 << 10
)

// chapter is what a piece adds to the index of one segment.
type chapter struct {
	textSegment
	after   int64 // the mark it continues from
	through int64
	docs    []document
}

// document is the terms of one turn.
type document struct {
	rowid int64
	terms string
}

// textBehind lists the segments whose turns are not all indexed, in order.
func (s *Store) textBehind(ctx context.Context) ([]target, error) {
	var behind []target
	err := s.view(ctx, func(t *tx) error {
		q := t.c.Prepare(`SELECT sessions.tenant, sessions.segment, head_seq FROM sessions LEFT JOIN text_marks USING (segment)
			WHERE head_seq > coalesce(through_seq, fork_seq) ORDER BY sessions.segment`)
		for {
			more, err := q.Step()
			if err != nil || !more {
				return t.fail(err)
			}
			behind = append(behind, target{textSegment{q.ReadText(), q.ReadInt()}, q.ReadInt()})
		}
	})
	return behind, err
}

// indexPiece indexes the first turns of the targets and returns what remains of them.
//
// Turns never change, so that they are read and analysed outside of the update that adds them. In
// there only the mark is looked at again: another process may have been at the same work, and a
// turn must not be added twice.
func (s *Store) indexPiece(ctx context.Context, work []target) (rest []target, err error) {
	var piece []chapter
	err = s.view(ctx, func(t *tx) error {
		piece, rest, err = t.readPiece(ctx, work)
		return err
	})
	if err != nil || len(piece) == 0 {
		return rest, err
	}
	late := false
	err = s.Update(ctx, func(st store.Tx) error {
		late = false
		for _, c := range piece {
			added, err := st.(*tx).addChapter(ctx, c)
			if err != nil {
				return err
			}
			late = late || !added
		}
		return nil
	})
	if err != nil || late {
		return work, err
	}
	return rest, nil
}

// readPiece reads as much of the targets as a piece holds.
func (t *tx) readPiece(ctx context.Context, work []target) (piece []chapter, rest []target, err error) {
	turns, size := 0, 0
	for i, w := range work {
		after, err := t.textMark(w.tenant, w.segment)
		if err != nil {
			return nil, work, err
		}
		c := chapter{textSegment: w.textSegment, after: after, through: after}
		full, err := t.readChapter(ctx, &c, w.through, &turns, &size)
		if err != nil {
			return nil, work, err
		}
		if c.through > after {
			piece = append(piece, c)
		}
		if full {
			return piece, work[i:], nil
		}
	}
	return piece, nil, nil
}

// readChapter reads the turns of a segment and reports whether the piece is full.
func (t *tx) readChapter(ctx context.Context, c *chapter, through int64, turns, size *int) (full bool, err error) {
	q := t.c.Prepare(`SELECT id, role, form, content FROM turns WHERE id > ? AND id <= ? AND tenant = ? ORDER BY id LIMIT ?`).
		Int(rowid(c.segment, c.after)).Int(rowid(c.segment, through)).Text(c.tenant).Int(pieceTurns)
	defer q.Close()
	for {
		if err := t.reading(ctx); err != nil {
			return false, err
		}
		more, err := q.Step()
		if err != nil || !more {
			return false, t.fail(err)
		}
		if *turns == pieceTurns || *size >= pieceBytes {
			return true, nil
		}
		id := q.ReadInt()
		role, form, content := turn.Role(word(q.ReadRaw())), turn.Form(word(q.ReadRaw())), q.ReadText()
		*turns, *size = *turns+1, *size+len(content)
		c.through = id & maxPlace
		decoded, err := turn.DecodeContent(role, form, content)
		if err != nil {
			// A damaged turn must not keep those after it out of the index. Reading it says so.
			continue
		}
		if terms := words.Set(decoded.Searchable()); len(terms) > 0 {
			c.docs = append(c.docs, document{id, strings.Join(terms, " ")})
		}
	}
}

// addChapter adds to the index and moves the mark. It reports false if the mark was moved before.
func (t *tx) addChapter(ctx context.Context, c chapter) (bool, error) {
	if err := t.reading(ctx); err != nil {
		return false, err
	}
	mark, err := t.textMark(c.tenant, c.segment)
	if err != nil || mark != c.after {
		return false, err
	}
	for _, d := range c.docs {
		if err := t.reading(ctx); err != nil {
			return false, err
		}
		if err := t.c.Prepare(`INSERT INTO turn_text (rowid, terms) VALUES (?, ?)`).Int(d.rowid).Text(d.terms).Run(); err != nil {
			return false, t.fail(err)
		}
	}
	return true, t.fail(t.c.Prepare(`INSERT OR REPLACE INTO text_marks (segment, tenant, through_seq) VALUES (?, ?, ?)`).
		Int(c.segment).Text(c.tenant).Int(c.through).Run())
}
