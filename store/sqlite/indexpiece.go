package sqlite

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// target is what is to be indexed and how far: to a seq, or for items to a rowid.
type target struct {
	textSource
	through int64
}

func (w target) ofMemory() bool { return w.textSource == allItems || w.textSource == forgetting }

// A piece is what one update indexes at most: so many turns or items, so many bytes of them.
const (
	pieceRows  = 64
	pieceBytes = 256 << 10
)

// chapter is what a piece adds to the index of one segment.
type chapter struct {
	textSource
	after   int64 // the mark it continues from
	through int64
	docs    []document
}

// document is the terms of one turn or item.
type document struct {
	rowid int64
	terms string
}

// textBehind lists what is not all indexed: memory, and segments in order.
func (s *Store) textBehind(ctx context.Context) ([]target, error) {
	var behind []target
	err := s.view(ctx, func(t *tx) error {
		through, some, err := memoryRows{t}.itemsBehind()
		if err != nil {
			return err
		}
		if some {
			behind = append(behind, target{allItems, through})
		}
		if _, some, err = t.toForget(); err != nil {
			return err
		}
		if some {
			behind = append(behind, target{forgetting, 0})
		}
		q := t.c.Prepare(`SELECT sessions.tenant, sessions.segment, head_seq FROM sessions LEFT JOIN text_marks USING (tenant, segment)
			WHERE head_seq > coalesce(through_seq, fork_seq) ORDER BY sessions.segment`)
		for {
			more, err := q.Step()
			if err != nil || !more {
				return t.fail(err)
			}
			behind = append(behind, target{textSource{q.ReadText(), q.ReadInt()}, q.ReadInt()})
		}
	})
	return behind, err
}

// indexPiece does a piece of the work and returns what remains. Memory and turns take turns, so that
// neither keeps the other waiting when more and more is written.
func (s *Store) indexPiece(ctx context.Context, work []target) (rest []target, err error) {
	if len(work) == 0 {
		return nil, nil
	}
	var more bool
	switch work[0].textSource {
	case allItems:
		more, err = s.indexItems(ctx, work[0].through)
	case forgetting:
		more, err = s.forgetSome(ctx)
	default:
		turns := slices.IndexFunc(work, target.ofMemory)
		if turns < 0 {
			return s.indexTurns(ctx, work)
		}
		rest, err = s.indexTurns(ctx, work[:turns])
		return slices.Concat(work[turns:], rest), err
	}
	if err != nil {
		return work, err
	}
	if more {
		return slices.Concat(work[1:], work[:1]), nil
	}
	return work[1:], nil
}

// indexTurns indexes the first turns of the targets and returns what remains of them.
//
// Turns never change, so that they are read and analysed outside of the update that adds them. In
// there only the mark is looked at again: another process may have been at the same work, and a
// turn must not be added twice.
func (s *Store) indexTurns(ctx context.Context, work []target) (rest []target, err error) {
	var piece []chapter
	err = s.view(ctx, func(t *tx) error {
		piece, rest, err = t.readPiece(ctx, work)
		return err
	})
	if err != nil || len(piece) == 0 {
		return rest, err
	}
	late := false
	err = s.Update(ctx, func(st store.Tx) (err error) {
		st.SyncLater() // what is gone is indexed again
		late, err = st.(*tx).addPiece(ctx, piece)
		return err
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
		c := chapter{textSource: w.textSource, after: after, through: after}
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

var turnsToIndex = `SELECT turns.id, turns.seq, turns.role, turns.form, turns.content FROM ` +
	turnsForwards + ` LIMIT ?`

// readChapter reads the turns of a segment and reports whether the piece is full.
func (t *tx) readChapter(ctx context.Context, c *chapter, through int64, turns, size *int) (full bool, err error) {
	q := bindSpan(t.c.Prepare(turnsToIndex), c.tenant, turn.Span{Segment: c.segment, From: c.after + 1, To: through}).Int(pieceRows + 1)
	defer q.Close()
	for {
		if err := t.reading(ctx); err != nil {
			return false, err
		}
		more, err := q.Step()
		if err != nil || !more {
			return false, t.fail(err)
		}
		if *turns == pieceRows || *size >= pieceBytes {
			return true, nil
		}
		id, seq := q.ReadInt(), q.ReadInt()
		role, form, content := turn.Role(word(q.ReadRaw())), turn.Form(word(q.ReadRaw())), q.ReadText()
		*turns, *size = *turns+1, *size+len(content)
		c.through = seq
		decoded, err := turn.DecodeContent(role, form, content)
		if err != nil {
			// A damaged turn must not keep those after it out of the index. Reading it says so.
			continue
		}
		if terms := words.Set(decoded.Searchable()); len(terms) > 0 {
			c.docs = append(c.docs, document{id, segmentTerm(c.segment) + " " + strings.Join(terms, " ")})
		}
	}
}

// addPiece adds to the index and moves the marks. Chapters whose mark was moved by somebody else are
// left out; late reports that there were some.
func (t *tx) addPiece(ctx context.Context, piece []chapter) (late bool, err error) {
	var docs []document
	for _, c := range piece {
		if err := t.writing(ctx); err != nil {
			return false, err
		}
		mark, err := t.textMark(c.tenant, c.segment)
		if err != nil {
			return false, err
		}
		if mark != c.after {
			late = true
			continue
		}
		docs = append(docs, c.docs...)
		err = t.c.Prepare(`INSERT OR REPLACE INTO text_marks (segment, tenant, through_seq) VALUES (?, ?, ?)`).
			Int(c.segment).Text(c.tenant).Int(c.through).Run()
		if err != nil {
			return false, t.fail(err)
		}
	}
	// The index collects rows in memory as long as their rowids rise.
	slices.SortFunc(docs, func(a, b document) int { return cmp.Compare(a.rowid, b.rowid) })
	for _, d := range docs {
		if err := t.writing(ctx); err != nil {
			return false, err
		}
		if err := t.c.Prepare(`INSERT INTO turn_text (rowid, terms) VALUES (?, ?)`).Int(d.rowid).Text(d.terms).Run(); err != nil {
			return false, t.fail(err)
		}
	}
	return late, nil
}
