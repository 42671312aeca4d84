package sqlite

import (
	"cmp"
	"context"
	"slices"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
	"github.com/turnstone-dev/turnstone/turn"
)

// TextTails implements [turn.TextRows].
func (r logRows) TextTails(ctx context.Context, tenant string, spans []turn.Span) ([]turn.Span, error) {
	var tails []turn.Span
	for _, s := range spans {
		mark, err := r.TextMark(ctx, tenant, s.Segment)
		if err != nil {
			return nil, err
		}
		if s.From = max(s.From, mark+1); !s.Empty() {
			tails = append(tails, s)
		}
	}
	return tails, nil
}

// How many places of a term are read wherever they are, before it is looked for segment by segment: so many,
// or so many for each segment, since a look into one costs as much. To find a rare term in a long segment, the
// index would go through all turns of the segment.
const (
	fewPlaces     = 1024
	segmentPlaces = 16
)

// TextPlaces implements [turn.TextRows].
func (r logRows) TextPlaces(ctx context.Context, tenant string, spans []turn.Span, term string, limit int) ([]turn.Place, error) {
	if found, complete, err := r.placesAnywhere(ctx, tenant, spans, term, limit); err != nil || complete {
		return found, err
	}
	var found []turn.Place
	for _, s := range spans {
		if err := r.reading(ctx); err != nil {
			return nil, err
		}
		if len(found) >= limit {
			break
		}
		// In a segment rowids rise with seqs; see TextHits.
		q := r.c.Prepare(`SELECT turns.segment, turns.seq FROM turn_text CROSS JOIN turns ON turns.id = turn_text.rowid
			WHERE turn_text MATCH ?4 AND turns.tenant = ?1 AND turns.segment = ?2 AND turns.seq BETWEEN ?3 AND ?5
			ORDER BY turn_text.rowid DESC LIMIT ?6`).
			Text(tenant).Int(s.Segment).Int(s.From).Text(allTerms(s.Segment, []string{term})).Int(s.To).Int(int64(limit - len(found)))
		places, err := all(r.tx, q, readPlace)
		if err != nil {
			return nil, err
		}
		found = append(found, places...)
	}
	return found, nil
}

func readPlace(q *lite.Stmt) turn.Place { return turn.Place{Segment: q.ReadInt(), Seq: q.ReadInt()} }

// placesAnywhere reads the places of a term wherever it stands. It gives up, and says so, if these are not few.
func (r logRows) placesAnywhere(ctx context.Context, tenant string, spans []turn.Span, term string, limit int) (found []turn.Place, complete bool, err error) {
	if err := r.reading(ctx); err != nil {
		return nil, false, err
	}
	order := make(map[int64]int, len(spans))
	for i, s := range spans {
		order[s.Segment] = i
	}
	few := max(fewPlaces, segmentPlaces*len(spans))
	// Places of other tenants count too, as segment 0, which is nobody's: or all of them would be gone through.
	q := r.c.Prepare(`SELECT CASE turns.tenant WHEN ?1 THEN turns.segment ELSE 0 END, turns.seq
		FROM turn_text CROSS JOIN turns ON turns.id = turn_text.rowid WHERE turn_text MATCH ?2 LIMIT ?3`).Text(tenant).Text(`"` + term + `"`).Int(int64(few))
	if found, err = all(r.tx, q, readPlace); err != nil || len(found) == few {
		return nil, false, err
	}
	found = slices.DeleteFunc(found, func(at turn.Place) bool {
		i, wanted := order[at.Segment]
		return !wanted || at.Seq < spans[i].From || at.Seq > spans[i].To
	})
	slices.SortFunc(found, func(a, b turn.Place) int {
		return cmp.Or(cmp.Compare(order[a.Segment], order[b.Segment]), cmp.Compare(b.Seq, a.Seq))
	})
	return found[:max(0, min(len(found), limit))], true, nil
}
