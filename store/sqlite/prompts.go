package sqlite

import (
	"context"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// InsertCall implements [prompt.Rows].
func (r promptRows) InsertCall(ctx context.Context, tenant string, segment int64, c prompt.CallRow) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	err := r.c.Prepare(`INSERT INTO prompts (tenant, segment, number, end_seq, epoch, created_at, sha256, doc)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`).
		Text(tenant).Int(segment).Int(c.Number).Int(c.End).Int(c.Epoch).Int(micros(c.At)).Text(c.SHA256).Text(c.Doc).Run()
	if taken(err) {
		return prompt.ErrStale
	}
	if err != nil {
		return r.fail(err)
	}
	return r.end(tenant, segment, "prompts", c.End, c.Number)
}

const callColumns = `number, end_seq, epoch, created_at, sha256, doc`

func readCall(q *lite.Stmt) prompt.CallRow {
	return prompt.CallRow{
		Number: q.ReadInt(), End: q.ReadInt(), Epoch: q.ReadInt(), At: fromMicros(q.ReadInt()), SHA256: q.ReadText(), Doc: q.ReadText(),
	}
}

func callNumber(c prompt.CallRow) int64 { return c.Number }

// LastCall implements [prompt.Rows].
func (r promptRows) LastCall(ctx context.Context, tenant string, spans []span.Span, end int64) (prompt.CallRow, error) {
	return last(ctx, r, spans, readCall, callNumber, func(s span.Span) *lite.Stmt {
		return r.c.Prepare(`SELECT ` + callColumns + ` FROM prompts WHERE tenant = ?1 AND segment = ?2 AND number = (SELECT number FROM prompt_ends
			WHERE tenant = ?1 AND segment = ?2 AND kind = 'prompts' AND end_seq <= ?3 ORDER BY end_seq DESC LIMIT 1)`).
			Text(tenant).Int(s.Segment).Int(min(end, s.To))
	})
}

// Calls implements [prompt.Rows].
func (r promptRows) Calls(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]prompt.CallRow, error) {
	return page(ctx, r, spans, limit, readCall, callNumber, func(s span.Span) *lite.Stmt {
		return r.c.Prepare(`SELECT ` + callColumns + ` FROM prompts WHERE tenant = ? AND segment = ? AND number > ? AND end_seq <= ?
			ORDER BY number LIMIT ?`).Text(tenant).Int(s.Segment).Int(after).Int(s.To).Int(int64(limit))
	})
}
