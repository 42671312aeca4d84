package dialogue

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Start writes revision 0, the empty state, into the segment of a new session. A session that has
// one already gives an [ErrConflict].
func Start(ctx context.Context, rows Rows, tenant string, segment int64, now time.Time) (Revision, error) {
	return insert(ctx, rows, tenant, segment, Revision{At: now.UTC()})
}

// Fork pins what a fork inherits at the fork point, seq, by writing it into the fork's own segment:
// the state, as the revision after the last one before that point, and the pointers attached
// there. The spans are the parent's up to seq. Without it a parent that changes its state at the fork
// point, before its next turn, would change the fork's too.
func Fork(ctx context.Context, rows Rows, tenant string, spans []Span, segment, seq int64, now time.Time) (Revision, error) {
	rev, err := At(ctx, rows, tenant, spans, seq)
	if err != nil {
		return Revision{}, err
	}
	number := 0
	if seq > 0 {
		before, err := rows.RevisionAt(ctx, tenant, spans, seq-1)
		if err != nil {
			return Revision{}, fmt.Errorf("dialogue state before turn %d: %w", seq, err)
		}
		number = int(before.Number) + 1
	}
	var pinned []Pointer
	for row, err := range rows.Pointers(ctx, tenant, spans) {
		if err != nil {
			return Revision{}, fmt.Errorf("flows of turn %d: %w", seq, err)
		}
		if row.Seq == seq {
			pinned = append(pinned, row.Pointer)
		}
	}
	if len(pinned) > 0 {
		if err := rows.InsertFlowTurns(ctx, tenant, segment, seq, pinned); err != nil {
			return Revision{}, fmt.Errorf("flows of turn %d: %w", seq, err)
		}
	}
	return insert(ctx, rows, tenant, segment, Revision{Number: number, AfterSeq: seq, State: rev.State, At: now.UTC()})
}

// At rebuilds the state as it was after the turn at seq, with the turn ids of each flow up to there.
// Where the spans hold no revision that old the error is an [ErrNotFound].
func At(ctx context.Context, rows Rows, tenant string, spans []Span, seq int64) (Revision, error) {
	rev, err := Load(ctx, rows, tenant, spans, seq)
	if err != nil {
		return Revision{}, err
	}
	for _, flows := range [][]Flow{rev.State.Stack, rev.State.SetAside} {
		for i, f := range flows {
			if flows[i].TurnIDs, err = rows.FlowTurns(ctx, tenant, spans, f.ID, seq); err != nil {
				return Revision{}, fmt.Errorf("turns of flow %q up to turn %d: %w", f.ID, seq, err)
			}
		}
	}
	return rev, nil
}

// Load is At without the flows' turn ids: what an exchange needs to go on, at a cost that does not
// grow with the session. A turn attached to such a state is attached as to any other.
func Load(ctx context.Context, rows Rows, tenant string, spans []Span, seq int64) (Revision, error) {
	row, err := rows.RevisionAt(ctx, tenant, spans, seq)
	if err != nil {
		return Revision{}, fmt.Errorf("dialogue state after turn %d: %w", seq, err)
	}
	state, err := DecodeState(row.State)
	if err != nil {
		return Revision{}, fmt.Errorf("dialogue state revision %d: %w", row.Number, err)
	}
	return Revision{Number: int(row.Number), AfterSeq: row.AfterSeq, State: state, At: row.At}, nil
}

// Save writes what changed between the session's newest revision prev and next: the pointers
// attached since, under the turn at afterSeq, and a revision of the number after prev's if the state
// itself changed. It is called in the update that appended that turn. It returns the revision that
// holds now, and its state, with nothing left to take, is what to go on with. Next itself is not
// changed, so that an update that is rolled back and run again writes the same.
//
// A state that breaks a rule or an afterSeq before prev's is a *[FieldError]; somebody else's
// revision of that number is an [ErrConflict]: load again and repeat.
func Save(ctx context.Context, rows Rows, tenant string, segment int64, prev Revision, next *State, afterSeq int64, now time.Time) (Revision, error) {
	if afterSeq < prev.AfterSeq {
		return Revision{}, fieldErrorf("after_seq", "save after the newest turn", "%d lies before %d, where the newest revision is", afterSeq, prev.AfterSeq)
	}
	if err := next.Check(); err != nil {
		return Revision{}, within("state", err)
	}
	saved := *next
	saved.completed = nil
	if ptrs := saved.TakeAttached(); len(ptrs) > 0 {
		if err := rows.InsertFlowTurns(ctx, tenant, segment, afterSeq, ptrs); err != nil {
			return Revision{}, fmt.Errorf("flows of turn %d: %w", afterSeq, err)
		}
	}
	if EncodeState(saved) == EncodeState(prev.State) {
		prev.State = saved
		return prev, nil
	}
	return insert(ctx, rows, tenant, segment, Revision{Number: prev.Number + 1, AfterSeq: afterSeq, State: saved, At: now.UTC()})
}

// History returns the revisions of a session in order, without gaps from 0. An error is the last
// thing yielded.
func History(ctx context.Context, rows Rows, tenant string, spans []Span) iter.Seq2[RevisionRow, error] {
	return func(yield func(RevisionRow, error) bool) {
		for row, err := range rows.Revisions(ctx, tenant, spans) {
			if err != nil {
				err = fmt.Errorf("dialogue state revisions: %w", err)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

func insert(ctx context.Context, rows Rows, tenant string, segment int64, rev Revision) (Revision, error) {
	row := RevisionRow{Number: int64(rev.Number), AfterSeq: rev.AfterSeq, State: EncodeState(rev.State), At: rev.At}
	if err := rows.InsertRevision(ctx, tenant, segment, row); err != nil {
		return Revision{}, fmt.Errorf("dialogue state revision %d: %w", rev.Number, err)
	}
	return rev, nil
}
