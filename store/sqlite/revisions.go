package sqlite

import (
	"context"
	"iter"
	"slices"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// InsertRevision implements [dialogue.Rows].
func (r dialogueRows) InsertRevision(ctx context.Context, tenant string, segment int64, rev dialogue.RevisionRow) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	err := r.c.Prepare(`INSERT INTO revisions (tenant, segment, number, after_seq, created_at, state) VALUES (?, ?, ?, ?, ?, ?)`).
		Text(tenant).Int(segment).Int(rev.Number).Int(rev.AfterSeq).Int(micros(rev.At)).Text(rev.State).Run()
	if taken(err) {
		return dialogue.ErrConflict
	}
	return r.fail(err)
}

const revisionColumns = `number, after_seq, created_at, state`

func readRevision(q *lite.Stmt) dialogue.RevisionRow {
	return dialogue.RevisionRow{
		Number: q.ReadInt(), AfterSeq: q.ReadInt(), At: fromMicros(q.ReadInt()), State: q.ReadText(),
	}
}

// RevisionAt implements [dialogue.Rows].
func (r dialogueRows) RevisionAt(ctx context.Context, tenant string, spans []dialogue.Span, seq int64) (dialogue.RevisionRow, error) {
	if err := r.reading(ctx); err != nil {
		return dialogue.RevisionRow{}, err
	}
	for _, span := range slices.Backward(spans) {
		q := r.c.Prepare(`SELECT ` + revisionColumns + ` FROM revisions WHERE tenant = ? AND segment = ? AND after_seq <= ?
			ORDER BY number DESC LIMIT 1`).Text(tenant).Int(span.Segment).Int(min(seq, span.To))
		found, err := q.Step()
		if err != nil {
			return dialogue.RevisionRow{}, r.fail(err)
		}
		if found {
			rev := readRevision(q)
			q.Close()
			return rev, nil
		}
	}
	return dialogue.RevisionRow{}, dialogue.ErrNotFound
}

// revisionPage is how many revisions are read before they are handed out: what receives them may use
// the transaction too.
const revisionPage = 64

// Revisions implements [dialogue.Rows].
func (r dialogueRows) Revisions(ctx context.Context, tenant string, spans []dialogue.Span) iter.Seq2[dialogue.RevisionRow, error] {
	return func(yield func(dialogue.RevisionRow, error) bool) {
		for _, span := range spans {
			for from, more := int64(0), true; more; {
				page, err := r.revisions(ctx, tenant, span, from)
				if err != nil {
					yield(dialogue.RevisionRow{}, err)
					return
				}
				for _, rev := range page {
					if !yield(rev, nil) {
						return
					}
				}
				if more = len(page) == revisionPage; more {
					from = page[len(page)-1].Number + 1
				}
			}
		}
	}
}

func (r dialogueRows) revisions(ctx context.Context, tenant string, span dialogue.Span, from int64) ([]dialogue.RevisionRow, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	q := r.c.Prepare(`SELECT ` + revisionColumns + ` FROM revisions WHERE tenant = ? AND segment = ? AND number >= ?
		AND after_seq <= ? ORDER BY number LIMIT ?`).
		Text(tenant).Int(span.Segment).Int(from).Int(span.To).Int(revisionPage)
	var page []dialogue.RevisionRow
	for {
		more, err := q.Step()
		if err != nil {
			return nil, r.fail(err)
		}
		if !more {
			return page, nil
		}
		page = append(page, readRevision(q))
	}
}
