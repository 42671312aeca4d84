package sqlite

import (
	"context"

	"github.com/turnstone-dev/turnstone/turn"
)

// InsertOpenCall implements [turn.TurnRows].
func (r logRows) InsertOpenCall(ctx context.Context, tenant string, segment int64, c turn.OpenCall) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	err := r.c.Prepare(`INSERT INTO open_calls (tenant, segment, call_id, name, unit_seq, position)
		VALUES (?1, ?2, ?3, ?4, ?5,
			(SELECT coalesce(max(position), -1) + 1 FROM open_calls WHERE tenant = ?1 AND segment = ?2))`).
		Text(tenant).Int(segment).Text(c.ID).Text(c.Name).Int(c.Unit).Run()
	if taken(err) {
		return turn.ErrConflict
	}
	return r.fail(err)
}

// OpenCalls implements [turn.TurnRows].
func (r logRows) OpenCalls(ctx context.Context, tenant string, segment int64) ([]turn.OpenCall, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	q := r.c.Prepare(`SELECT call_id, name, unit_seq FROM open_calls WHERE tenant = ? AND segment = ? ORDER BY position`).
		Text(tenant).Int(segment)
	var calls []turn.OpenCall
	for {
		more, err := q.Step()
		if err != nil {
			return nil, r.fail(err)
		}
		if !more {
			return calls, nil
		}
		calls = append(calls, turn.OpenCall{ID: q.ReadText(), Name: q.ReadText(), Unit: q.ReadInt()})
	}
}

// DeleteOpenCall implements [turn.TurnRows].
func (r logRows) DeleteOpenCall(ctx context.Context, tenant string, segment int64, id string) (turn.OpenCall, error) {
	if err := r.writing(ctx); err != nil {
		return turn.OpenCall{}, err
	}
	q := r.c.Prepare(`DELETE FROM open_calls WHERE tenant = ? AND segment = ? AND call_id = ? RETURNING name, unit_seq`).
		Text(tenant).Int(segment).Text(id)
	found, err := q.Step()
	if err != nil {
		return turn.OpenCall{}, r.fail(err)
	}
	if !found {
		return turn.OpenCall{}, turn.ErrNotFound
	}
	c := turn.OpenCall{ID: id, Name: q.ReadText(), Unit: q.ReadInt()}
	return c, r.fail(q.Run())
}

// InsertCompletedFlow implements [turn.TurnRows].
func (r logRows) InsertCompletedFlow(ctx context.Context, tenant string, segment int64, flow string, afterSeq int64) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return r.fail(r.c.Prepare(`INSERT OR IGNORE INTO completed_flows (tenant, segment, flow_id, after_seq, position)
		VALUES (?1, ?2, ?3, ?4,
			(SELECT coalesce(max(position), -1) + 1 FROM completed_flows WHERE tenant = ?1 AND segment = ?2))`).
		Text(tenant).Int(segment).Text(flow).Int(afterSeq).Run())
}

// CompletedFlows implements [turn.TurnRows].
func (r logRows) CompletedFlows(ctx context.Context, tenant string, s turn.Span) ([]turn.CompletedFlow, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	q := r.c.Prepare(`SELECT flow_id, after_seq FROM completed_flows WHERE tenant = ? AND segment = ? AND after_seq <= ?
		ORDER BY position`).Text(tenant).Int(s.Segment).Int(s.To)
	var flows []turn.CompletedFlow
	for {
		more, err := q.Step()
		if err != nil {
			return nil, r.fail(err)
		}
		if !more {
			return flows, nil
		}
		flows = append(flows, turn.CompletedFlow{ID: q.ReadText(), AfterSeq: q.ReadInt()})
	}
}
