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
	inserted  int
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
	for _, p := range ptrs {
		if !slices.ContainsFunc(m.turns, func(r turnRow) bool { return r.tenant == tenant && r.segment == segment && r.Pointer == p }) {
			m.turns = append(m.turns, turnRow{tenant, segment, seq, p})
			m.inserted++
		}
	}
	return nil
}

func (m *memory) FlowTurns(_ context.Context, tenant string, spans []dialogue.Span, flowID string, upTo int64) ([]string, error) {
	if m.failure != nil {
		return nil, m.failure
	}
	var found []turnRow
	for _, span := range spans {
		for _, r := range m.turns {
			if r.tenant == tenant && r.segment == span.Segment && r.FlowID == flowID && r.seq <= min(upTo, span.To) {
				found = append(found, r)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b turnRow) int { return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.TurnID, b.TurnID)) })
	var ids []string
	for _, r := range found {
		if !slices.Contains(ids, r.TurnID) {
			ids = append(ids, r.TurnID)
		}
	}
	return ids, nil
}

func (m *memory) Pointers(context.Context, string, []dialogue.Span) iter.Seq2[dialogue.PointerRow, error] {
	return func(func(dialogue.PointerRow, error) bool) {}
}
