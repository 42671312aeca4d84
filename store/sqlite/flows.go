package sqlite

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// InsertFlowTurns implements [dialogue.Rows].
func (r dialogueRows) InsertFlowTurns(ctx context.Context, tenant string, segment, seq int64, ptrs []dialogue.Pointer) error {
	for _, p := range ptrs {
		if err := r.writing(ctx); err != nil {
			return err
		}
		err := r.c.Prepare(`INSERT OR IGNORE INTO flow_turns (tenant, segment, flow_id, turn_id, seq) VALUES (?, ?, ?, ?, ?)`).
			Text(tenant).Int(segment).Text(p.FlowID).Text(p.TurnID).Int(seq).Run()
		if err != nil {
			return r.fail(err)
		}
	}
	return nil
}

// FlowTurns implements [dialogue.Rows].
func (r dialogueRows) FlowTurns(ctx context.Context, tenant string, spans []dialogue.Span, flowID string, upTo int64) ([]string, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var along []dialogue.PointerRow
	for _, span := range spans {
		q := r.c.Prepare(`SELECT flow_id, turn_id, seq FROM flow_turns WHERE tenant = ? AND segment = ? AND flow_id = ? AND seq <= ?`).
			Text(tenant).Int(span.Segment).Text(flowID).Int(min(upTo, span.To))
		var err error
		if along, err = r.readPointers(q, along); err != nil {
			return nil, err
		}
	}
	along = onceEach(along)
	ids := make([]string, len(along))
	for i, p := range along {
		ids[i] = p.TurnID
	}
	return ids, nil
}

// Pointers implements [dialogue.Rows].
func (r dialogueRows) Pointers(ctx context.Context, tenant string, spans []dialogue.Span) iter.Seq2[dialogue.PointerRow, error] {
	return func(yield func(dialogue.PointerRow, error) bool) {
		along, err := r.pointers(ctx, tenant, spans)
		if err != nil {
			yield(dialogue.PointerRow{}, err)
			return
		}
		for _, p := range along {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func (r dialogueRows) pointers(ctx context.Context, tenant string, spans []dialogue.Span) ([]dialogue.PointerRow, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var along []dialogue.PointerRow
	for _, span := range spans {
		q := r.c.Prepare(`SELECT flow_id, turn_id, seq FROM flow_turns WHERE tenant = ? AND segment = ? AND seq <= ?`).
			Text(tenant).Int(span.Segment).Int(span.To)
		var err error
		if along, err = r.readPointers(q, along); err != nil {
			return nil, err
		}
	}
	return onceEach(along), nil
}

func (r dialogueRows) readPointers(q *lite.Stmt, along []dialogue.PointerRow) ([]dialogue.PointerRow, error) {
	for {
		more, err := q.Step()
		if err != nil {
			return nil, r.fail(err)
		}
		if !more {
			return along, nil
		}
		along = append(along, dialogue.PointerRow{
			Pointer: dialogue.Pointer{FlowID: q.ReadText(), TurnID: q.ReadText()}, Seq: q.ReadInt(),
		})
	}
}

// onceEach sorts pointers by seq, flow and turn and keeps each where it comes first: a fork may have
// repeated one of its parent's.
func onceEach(along []dialogue.PointerRow) []dialogue.PointerRow {
	slices.SortFunc(along, func(a, b dialogue.PointerRow) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.FlowID, b.FlowID), cmp.Compare(a.TurnID, b.TurnID))
	})
	seen := make(map[dialogue.Pointer]bool, len(along))
	return slices.DeleteFunc(along, func(p dialogue.PointerRow) bool {
		known := seen[p.Pointer]
		seen[p.Pointer] = true
		return known
	})
}
