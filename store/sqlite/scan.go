package sqlite

import (
	"context"
	"strings"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
	"github.com/turnstone-dev/turnstone/turn"
)

// The two scans that the log is read with all the time.
const (
	scanNewest = `SELECT ` + turnColumns + ` FROM turns WHERE id BETWEEN ? AND ? AND tenant = ? ORDER BY id DESC LIMIT ?`
	// The index is named because the planner would rather walk the table, which may hold any number
	// of other turns between two utterances.
	scanUtterances = `SELECT ` + turnColumns + ` FROM turns INDEXED BY utterances
		WHERE tenant = ? AND segment = ? AND seq BETWEEN ? AND ? AND role <> 'system' AND form IN ('text', 'speech')
		ORDER BY seq DESC LIMIT ?`
)

// Scan implements [turn.TurnRows].
func (r logRows) Scan(ctx context.Context, tenant string, s turn.Span, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	if s.Empty() || limit <= 0 {
		return nil, nil
	}
	var q *lite.Stmt
	switch f {
	case turn.RowFilter{Newest: true}:
		q = r.c.Prepare(scanNewest).Int(rowid(s.Segment, s.From)).Int(rowid(s.Segment, s.To)).Text(tenant)
	case turn.RowFilter{Newest: true, Utterances: true}:
		q = r.c.Prepare(scanUtterances).Text(tenant).Int(s.Segment).Int(s.From).Int(s.To)
	default:
		var sql strings.Builder
		sql.WriteString(`SELECT ` + turnColumns + ` FROM turns WHERE turns.id BETWEEN ? AND ? AND turns.tenant = ?`)
		writeFilter(&sql, f)
		sql.WriteString(` ORDER BY turns.id`)
		if f.Newest {
			sql.WriteString(` DESC`)
		}
		sql.WriteString(` LIMIT ?`)
		q = r.c.Prepare(sql.String()).Int(rowid(s.Segment, s.From)).Int(rowid(s.Segment, s.To)).Text(tenant)
		bindFilter(q, f)
	}
	return r.readTurns(q.Int(int64(limit)), make([]turn.Turn, 0, min(limit, 64)))
}

// writeFilter adds the conditions of a filter, bindFilter their values, in the same order.
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
