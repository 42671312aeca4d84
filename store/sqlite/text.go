package sqlite

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/turn"
)

// textSource names what is to be indexed: the turns of a segment, or all items of memory.
type textSource struct {
	tenant  string
	segment int64
}

// allItems is the memory of everybody. No segment is 0.
var allItems = textSource{}

// noteAppended remembers that there is something the text indexes do not know.
func (t *tx) noteAppended(source textSource) {
	if !slices.Contains(t.appended, source) {
		t.appended = append(t.appended, source)
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

// textHits gives turns of a span that match. In a segment rowids rise with seqs. The join is crossed to keep its order: first the
// index, which gives rowids in order, then the turns it names.
var textHits = `SELECT ` + turnColumns + ` FROM turn_text CROSS JOIN turns ON turns.id = turn_text.rowid
	WHERE turn_text MATCH ?4
	AND turn_text.rowid >= (SELECT at FROM ` + turnPlaces.ordered(`place BETWEEN (?2 << 32) + max(?3, 0) AND (?2 + 1 << 32) - 1`, "place") + `)
	AND turns.tenant = ?1 AND turns.segment = ?2 AND turns.seq BETWEEN ?3 AND ?5`

// TextHits implements [turn.TextRows].
func (r logRows) TextHits(ctx context.Context, tenant string, s turn.Span, terms []string, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	if s.Empty() || limit <= 0 || len(terms) == 0 {
		return nil, nil
	}
	var sql strings.Builder
	sql.WriteString(textHits)
	writeFilter(&sql, f)
	sql.WriteString(` ORDER BY turn_text.rowid LIMIT ?`)
	q := r.c.Prepare(sql.String()).Text(tenant).Int(s.Segment).Int(s.From).Text(allTerms(s.Segment, terms)).Int(s.To)
	bindFilter(q, f)
	return r.readTurns(q.Int(int64(limit)), nil)
}

// allTerms asks the index for rows of a segment that hold all terms. Quoted, a term is never taken
// for an operator.
func allTerms(segment int64, terms []string) string {
	var match strings.Builder
	match.WriteString(`"` + segmentTerm(segment) + `"`)
	for _, term := range terms {
		match.WriteString(` AND "` + term + `"`)
	}
	return match.String()
}

// segmentTerm is the name of a segment among terms. It is no term of any text: those have no underscore.
func segmentTerm(segment int64) string { return "_" + strconv.FormatInt(segment, 36) }
