package sqlite

import (
	"context"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/turn"
)

// textSegment names a segment whose turns are to be indexed.
type textSegment struct {
	tenant  string
	segment int64
}

// noteAppended remembers that a segment has turns the text index does not know.
func (t *tx) noteAppended(tenant string, segment int64) {
	if added := (textSegment{tenant, segment}); !slices.Contains(t.appended, added) {
		t.appended = append(t.appended, added)
	}
}

// TextMark implements [turn.TextRows].
func (r logRows) TextMark(ctx context.Context, tenant string, segment int64) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	return r.textMark(tenant, segment)
}

func (t *tx) textMark(tenant string, segment int64) (int64, error) {
	q := t.c.Prepare(`SELECT through_seq FROM text_marks WHERE segment = ? AND tenant = ?`).Int(segment).Text(tenant)
	defer q.Close()
	if found, err := q.Step(); err != nil || !found {
		return 0, t.fail(err)
	}
	return q.ReadInt(), nil
}

// TextHits implements [turn.TextRows].
func (r logRows) TextHits(ctx context.Context, tenant string, s turn.Span, terms []string, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	if s.Empty() || limit <= 0 || len(terms) == 0 {
		return nil, nil
	}
	var sql strings.Builder
	// The join is crossed to keep its order: first the index, which gives rowids in order, then the
	// turns it names.
	sql.WriteString(`SELECT ` + turnColumns + ` FROM turn_text CROSS JOIN turns ON turns.id = turn_text.rowid
		WHERE turn_text MATCH ? AND turn_text.rowid BETWEEN ? AND ? AND turns.tenant = ?`)
	writeFilter(&sql, f)
	sql.WriteString(` ORDER BY turn_text.rowid LIMIT ?`)
	q := r.c.Prepare(sql.String()).Text(allTerms(terms)).
		Int(rowid(s.Segment, s.From)).Int(rowid(s.Segment, s.To)).Text(tenant)
	bindFilter(q, f)
	return r.readTurns(q.Int(int64(limit)), nil)
}

// allTerms asks the index for rows that hold all terms. Quoted, a term is never taken for an operator.
func allTerms(terms []string) string {
	var match strings.Builder
	for i, term := range terms {
		if i > 0 {
			match.WriteString(" AND ")
		}
		match.WriteByte('"')
		match.WriteString(term)
		match.WriteByte('"')
	}
	return match.String()
}
