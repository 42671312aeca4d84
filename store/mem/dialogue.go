package mem

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/turnstone-dev/turnstone/dialogue"
)

// dialogueRows is the transaction as dialogue state sees it.
type dialogueRows struct{ *tx }

// InsertRevision implements [dialogue.Rows].
func (r dialogueRows) InsertRevision(ctx context.Context, tenant string, segment int64, rev dialogue.RevisionRow) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	s := r.segment(tenant, segment)
	i, taken := slices.BinarySearchFunc(s.revisions, rev.Number, func(row dialogue.RevisionRow, number int64) int {
		return cmp.Compare(row.Number, number)
	})
	if taken {
		return dialogue.ErrConflict
	}
	set(r.tx, &s.revisions, insertAt(s.revisions, i, rev))
	return nil
}

// RevisionAt implements [dialogue.Rows].
func (r dialogueRows) RevisionAt(ctx context.Context, tenant string, spans []dialogue.Span, seq int64) (dialogue.RevisionRow, error) {
	if err := r.reading(ctx); err != nil {
		return dialogue.RevisionRow{}, err
	}
	for _, span := range slices.Backward(spans) {
		s := r.data.segment(tenant, span.Segment)
		if s == nil {
			continue
		}
		for _, rev := range slices.Backward(s.revisions) {
			if rev.AfterSeq <= min(seq, span.To) {
				return rev, nil
			}
		}
	}
	return dialogue.RevisionRow{}, dialogue.ErrNotFound
}

// Revisions implements [dialogue.Rows].
func (r dialogueRows) Revisions(ctx context.Context, tenant string, spans []dialogue.Span) iter.Seq2[dialogue.RevisionRow, error] {
	return func(yield func(dialogue.RevisionRow, error) bool) {
		for _, span := range spans {
			if err := r.reading(ctx); err != nil {
				yield(dialogue.RevisionRow{}, err)
				return
			}
			s := r.data.segment(tenant, span.Segment)
			if s == nil {
				continue
			}
			for _, rev := range s.revisions {
				if rev.AfterSeq <= span.To && !yield(rev, nil) {
					return
				}
			}
		}
	}
}

// InsertFlowTurns implements [dialogue.Rows].
func (r dialogueRows) InsertFlowTurns(ctx context.Context, tenant string, segment, seq int64, ptrs []dialogue.Pointer) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	s := r.segment(tenant, segment)
	for _, p := range ptrs {
		if _, there := s.pointed[p]; there {
			continue
		}
		put(r.tx, s.pointed, p, struct{}{})
		list, added := s.pointers[p.FlowID], pointer{seq, p.TurnID}
		i, _ := slices.BinarySearchFunc(list, added, comparePointers)
		put(r.tx, s.pointers, p.FlowID, insertAt(list, i, added))
	}
	return nil
}

func comparePointers(a, b pointer) int {
	return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.turn, b.turn))
}

// FlowTurns implements [dialogue.Rows].
func (r dialogueRows) FlowTurns(ctx context.Context, tenant string, spans []dialogue.Span, flowID string, upTo int64) ([]string, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var along []pointer
	for _, span := range spans {
		s := r.data.segment(tenant, span.Segment)
		if s == nil {
			continue
		}
		for _, p := range s.pointers[flowID] {
			if p.seq <= min(upTo, span.To) {
				along = append(along, p)
			}
		}
	}
	slices.SortStableFunc(along, comparePointers)
	var ids []string
	seen := make(map[string]bool, len(along))
	for _, p := range along {
		if !seen[p.turn] {
			seen[p.turn] = true
			ids = append(ids, p.turn)
		}
	}
	return ids, nil
}

// Pointers implements [dialogue.Rows].
func (r dialogueRows) Pointers(ctx context.Context, tenant string, spans []dialogue.Span) iter.Seq2[dialogue.PointerRow, error] {
	return func(yield func(dialogue.PointerRow, error) bool) {
		if err := r.reading(ctx); err != nil {
			yield(dialogue.PointerRow{}, err)
			return
		}
		lowest := make(map[dialogue.Pointer]int64)
		for _, span := range spans {
			s := r.data.segment(tenant, span.Segment)
			if s == nil {
				continue
			}
			for flow, list := range s.pointers {
				for _, p := range list {
					key := dialogue.Pointer{FlowID: flow, TurnID: p.turn}
					if seq, there := lowest[key]; p.seq <= span.To && (!there || p.seq < seq) {
						lowest[key] = p.seq
					}
				}
			}
		}
		along := make([]dialogue.PointerRow, 0, len(lowest))
		for p, seq := range lowest {
			along = append(along, dialogue.PointerRow{Pointer: p, Seq: seq})
		}
		slices.SortFunc(along, func(a, b dialogue.PointerRow) int {
			return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.FlowID, b.FlowID), cmp.Compare(a.TurnID, b.TurnID))
		})
		for _, p := range along {
			if !yield(p, nil) {
				return
			}
		}
	}
}
