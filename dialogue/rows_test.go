package dialogue_test

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/turnstone-dev/turnstone/dialogue"
)

// memory keeps rows the way Rows says, as plainly as possible.
type memory struct {
	revisions []revisionRow
	turns     []turnRow
	failure   error // returned by every method, if set
	inserted  int   // pointers
	calls     int   // of InsertFlowTurns
}

type revisionRow struct {
	tenant  string
	segment int64
	dialogue.RevisionRow
}

type turnRow struct {
	tenant       string
	segment, seq int64
	dialogue.Pointer
}

func (m *memory) InsertRevision(_ context.Context, tenant string, segment int64, rev dialogue.RevisionRow) error {
	if m.failure != nil {
		return m.failure
	}
	for _, r := range m.revisions {
		if r.tenant == tenant && r.segment == segment && r.Number == rev.Number {
			return dialogue.ErrConflict
		}
	}
	m.revisions = append(m.revisions, revisionRow{tenant, segment, rev})
	return nil
}

func (m *memory) RevisionAt(ctx context.Context, tenant string, spans []dialogue.Span, seq int64) (found dialogue.RevisionRow, err error) {
	err = dialogue.ErrNotFound
	for row, failure := range m.Revisions(ctx, tenant, spans) {
		if failure != nil {
			return row, failure
		}
		if row.AfterSeq <= seq {
			found, err = row, nil
		}
	}
	return found, err
}

func (m *memory) Revisions(_ context.Context, tenant string, spans []dialogue.Span) iter.Seq2[dialogue.RevisionRow, error] {
	return func(yield func(dialogue.RevisionRow, error) bool) {
		for _, span := range spans {
			for _, r := range m.revisions {
				if r.tenant == tenant && r.segment == span.Segment && r.AfterSeq <= span.To && !yield(r.RevisionRow, nil) {
					return
				}
			}
		}
		if m.failure != nil {
			yield(dialogue.RevisionRow{}, m.failure)
		}
	}
}

func (m *memory) InsertFlowTurns(_ context.Context, tenant string, segment, seq int64, ptrs []dialogue.Pointer) error {
	if m.failure != nil {
		return m.failure
	}
	m.calls++
	for _, p := range ptrs {
		if !slices.ContainsFunc(m.turns, func(r turnRow) bool { return r.tenant == tenant && r.segment == segment && r.Pointer == p }) {
			m.turns = append(m.turns, turnRow{tenant, segment, seq, p})
			m.inserted++
		}
	}
	return nil
}

func (m *memory) FlowTurns(ctx context.Context, tenant string, spans []dialogue.Span, flowID string, upTo int64) (ids []string, err error) {
	for p, err := range m.Pointers(ctx, tenant, spans) {
		if err != nil {
			return nil, err
		}
		if p.FlowID == flowID && p.Seq <= upTo {
			ids = append(ids, p.TurnID)
		}
	}
	return ids, nil
}

func (m *memory) Pointers(_ context.Context, tenant string, spans []dialogue.Span) iter.Seq2[dialogue.PointerRow, error] {
	return func(yield func(dialogue.PointerRow, error) bool) {
		var along []turnRow
		for _, span := range spans {
			for _, r := range m.turns {
				if r.tenant == tenant && r.segment == span.Segment && r.seq <= span.To {
					along = append(along, r)
				}
			}
		}
		slices.SortFunc(along, func(a, b turnRow) int {
			return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.FlowID, b.FlowID), cmp.Compare(a.TurnID, b.TurnID))
		})
		seen := map[dialogue.Pointer]bool{}
		for _, r := range along {
			if !seen[r.Pointer] && !yield(dialogue.PointerRow{Pointer: r.Pointer, Seq: r.seq}, nil) {
				return
			}
			seen[r.Pointer] = true
		}
		if m.failure != nil {
			yield(dialogue.PointerRow{}, m.failure)
		}
	}
}
