package sqlite

import (
	"context"
	"strings"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
	"github.com/turnstone-dev/turnstone/turn"
)

// turnsForwards and turnsBackwards bind what bindSpan binds.
var (
	turnsForwards  = turnPlaces.from(`place BETWEEN ?1 AND ?2`, "place") + ` AND turns.tenant = ?3`
	turnsBackwards = turnPlaces.from(`place BETWEEN ?1 AND ?2`, "place DESC") + ` AND turns.tenant = ?3`
	scanNewest     = `SELECT ` + turnColumns + ` FROM ` + turnsBackwards + ` LIMIT ?`
	scanUtterances = `SELECT turns.quiet_since, ` + turnColumns + ` FROM ` + turnsBackwards
)

func bindSpan(q *lite.Stmt, tenant string, s turn.Span) *lite.Stmt {
	return q.Int(turnPlace(s.Segment, s.From)).Int(turnPlace(s.Segment, s.To)).Text(tenant)
}

// Scan implements [turn.TurnRows].
func (r logRows) Scan(ctx context.Context, tenant string, s turn.Span, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	if s.Empty() || limit <= 0 {
		return nil, nil
	}
	switch f {
	case turn.RowFilter{Newest: true}:
		q := bindSpan(r.c.Prepare(scanNewest), tenant, s).Int(int64(limit))
		return r.readTurns(q, make([]turn.Turn, 0, min(limit, 64)))
	case turn.RowFilter{Newest: true, Utterances: true}:
		return r.utterances(tenant, s, limit)
	}
	var sql strings.Builder
	sql.WriteString(`SELECT ` + turnColumns + ` FROM `)
	if f.Newest {
		sql.WriteString(turnsBackwards)
	} else {
		sql.WriteString(turnsForwards)
	}
	writeFilter(&sql, f)
	sql.WriteString(` LIMIT ?`)
	q := bindSpan(r.c.Prepare(sql.String()), tenant, s)
	bindFilter(q, f)
	return r.readTurns(q.Int(int64(limit)), nil)
}

// nearby is how many turns are stepped over rather than jumped over: to start anew costs as much.
const nearby = 16

// utterances reads backwards and jumps over turns that are none; see the migration.
func (r logRows) utterances(tenant string, s turn.Span, limit int) ([]turn.Turn, error) {
	found := make([]turn.Turn, 0, min(limit, 64))
	s.From = max(s.From, 0) // what a run goes on from is less when there is nothing
	for s.To >= s.From {
		q := bindSpan(r.c.Prepare(scanUtterances), tenant, s)
		var err error
		if found, s.To, err = r.utteranceRun(q, found, limit); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// utteranceRun reads utterances until the limit, the end or a long run of other turns. It returns
// the seq to go on from, -1 for none.
func (r logRows) utteranceRun(q *lite.Stmt, found []turn.Turn, limit int) ([]turn.Turn, int64, error) {
	defer q.Close()
	for len(found) < limit {
		more, err := q.Step()
		if err != nil {
			return nil, -1, r.fail(err)
		}
		if !more {
			return found, -1, nil
		}
		if q.IsNull() {
			q.Skip()
			row, err := r.readTurn(q)
			if err != nil {
				return nil, -1, err
			}
			found = append(found, row.Turn)
			continue
		}
		since := q.ReadInt()
		q.Skip()
		if q.ReadInt()-since > nearby {
			return found, since, nil
		}
	}
	return found, -1, nil
}

// writeFilter adds the conditions of a filter to those of a join, bindFilter their values, in the same order.
func writeFilter(sql *strings.Builder, f turn.RowFilter) {
	if f.Role != "" {
		sql.WriteString(` AND turns.role = ?`)
	}
	if f.Form != "" {
		sql.WriteString(` AND turns.form = ?`)
	}
	switch f.Kind {
	case "":
	case turn.KindTurn:
		sql.WriteString(` AND turns.kind IS NULL`)
	default:
		sql.WriteString(` AND turns.kind = ?`)
	}
	if !f.Since.IsZero() {
		sql.WriteString(` AND turns.created_at >= ?`)
	}
	if !f.Until.IsZero() {
		sql.WriteString(` AND turns.created_at < ?`)
	}
	if f.Utterances {
		sql.WriteString(` AND turns.role <> 'system' AND turns.form IN ('text', 'speech')`)
	}
}

func bindFilter(q *lite.Stmt, f turn.RowFilter) {
	if f.Role != "" {
		q.Text(string(f.Role))
	}
	if f.Form != "" {
		q.Text(string(f.Form))
	}
	if f.Kind != "" && f.Kind != turn.KindTurn {
		q.Text(string(f.Kind))
	}
	if !f.Since.IsZero() {
		q.Int(micros(f.Since))
	}
	if !f.Until.IsZero() {
		q.Int(micros(f.Until))
	}
}
