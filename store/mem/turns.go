package mem

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/turn"
)

// InsertTurns implements [turn.TurnRows].
func (r logRows) InsertTurns(ctx context.Context, tenant string, segment int64, rows ...turn.Row) error {
	for _, row := range rows {
		err := r.writing(ctx)
		if err == nil {
			err = r.insertTurn(tenant, segment, row.Turn, row.Encoded.String())
		}
		if err != nil {
			return fmt.Errorf("append turn %d: %w", row.Seq, err)
		}
	}
	return nil
}

func (r logRows) insertTurn(tenant string, segment int64, t turn.Turn, content string) error {
	s := r.segment(tenant, segment)
	i, taken := s.find(t.Seq)
	id := turnKey{tenant, t.ID}
	places := r.data.turnIDs[id]
	at, used := slices.BinarySearchFunc(places, segment, func(p place, segment int64) int { return cmp.Compare(p.segment, segment) })
	if taken || used {
		return turn.ErrConflict
	}
	if t.IdempotencyKey != "" {
		if _, used := s.keys[t.IdempotencyKey]; used {
			return turn.ErrConflict
		}
		put(r.tx, s.keys, t.IdempotencyKey, t.Seq)
	}
	// A turn is read through any session that shares it.
	t.Session = ""
	set(r.tx, &s.turns, insertAt(s.turns, i, storedTurn{Turn: t, content: content}))
	if t.Unit != 0 {
		put(r.tx, s.units, t.Unit, append(slices.Clip(s.units[t.Unit]), t.Seq))
	}
	put(r.tx, r.data.turnIDs, id, slices.Insert(slices.Clone(places), at, place{segment, t.Seq}))
	return nil
}

// TurnsByID implements [turn.TurnRows].
func (r logRows) TurnsByID(ctx context.Context, tenant, id string) ([]turn.Stored, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []turn.Stored
	for _, at := range r.data.turnIDs[turnKey{tenant, id}] {
		s := r.data.segment(tenant, at.segment)
		i, _ := s.find(at.seq)
		found = append(found, turn.Stored{Turn: s.turns[i].Turn, Segment: at.segment})
	}
	return found, nil
}

// TurnsAt implements [turn.TurnRows].
func (r logRows) TurnsAt(ctx context.Context, tenant string, places []turn.Place) ([]turn.Stored, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []turn.Stored
	for _, at := range places {
		if s := r.data.segment(tenant, at.Segment); s != nil {
			if i, there := s.find(at.Seq); there {
				found = append(found, turn.Stored{Turn: s.turns[i].Turn, Segment: at.Segment})
			}
		}
	}
	return found, nil
}

// TurnByKey implements [turn.TurnRows].
func (r logRows) TurnByKey(ctx context.Context, tenant string, segment int64, key string) (turn.Turn, bool, error) {
	if err := r.reading(ctx); err != nil {
		return turn.Turn{}, false, err
	}
	s := r.data.segment(tenant, segment)
	if s == nil {
		return turn.Turn{}, false, nil
	}
	seq, ok := s.keys[key]
	if !ok {
		return turn.Turn{}, false, nil
	}
	i, _ := s.find(seq)
	return s.turns[i].Turn, true, nil
}

// Scan implements [turn.TurnRows].
func (r logRows) Scan(ctx context.Context, tenant string, span turn.Span, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	turns := r.span(tenant, span)
	var found []turn.Turn
	for i := range turns {
		if len(found) >= limit {
			break
		}
		t := &turns[i].Turn
		if f.Newest {
			t = &turns[len(turns)-1-i].Turn
		}
		if f.Match(t) {
			found = append(found, *t)
		}
	}
	return found, nil
}

// span returns the stored turns of a span, ascending.
func (r logRows) span(tenant string, span turn.Span) []storedTurn {
	s := r.data.segment(tenant, span.Segment)
	if s == nil || span.Empty() {
		return nil
	}
	from, _ := s.find(span.From)
	to, there := s.find(span.To)
	if there {
		to++
	}
	return s.turns[from:to]
}

// Units implements [turn.TurnRows].
func (r logRows) Units(ctx context.Context, tenant string, segment, first, last int64) ([]turn.Turn, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	s := r.data.segment(tenant, segment)
	var members []turn.Turn
	for _, t := range r.span(tenant, turn.Span{Segment: segment, From: first, To: last}) {
		if t.Unit != t.Seq {
			continue
		}
		for _, seq := range s.units[t.Unit] {
			i, _ := s.find(seq)
			members = append(members, s.turns[i].Turn)
		}
	}
	slices.SortFunc(members, func(a, b turn.Turn) int { return cmp.Compare(a.Seq, b.Seq) })
	return members, nil
}

// Straddling implements [turn.TurnRows].
func (r logRows) Straddling(ctx context.Context, tenant string, segment, seq int64) (int64, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	s := r.data.segment(tenant, segment)
	if s == nil {
		return 0, nil
	}
	after, _ := s.find(seq + 1)
	var first int64
	for i := range s.turns[after:] {
		if u := s.turns[after+i].Unit; u != 0 && u <= seq && (first == 0 || u < first) {
			first = u
		}
	}
	return first, nil
}

// InsertOpenCall implements [turn.TurnRows].
func (r logRows) InsertOpenCall(ctx context.Context, tenant string, segment int64, c turn.OpenCall) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	s := r.segment(tenant, segment)
	if s.call(c.ID) >= 0 {
		return turn.ErrConflict
	}
	var position int64
	if n := len(s.calls); n > 0 {
		position = s.calls[n-1].position + 1
	}
	set(r.tx, &s.calls, append(s.calls, openCall{c, position}))
	return nil
}

// OpenCalls implements [turn.TurnRows].
func (r logRows) OpenCalls(ctx context.Context, tenant string, segment int64) ([]turn.OpenCall, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	s := r.data.segment(tenant, segment)
	if s == nil {
		return nil, nil
	}
	var calls []turn.OpenCall
	for _, c := range s.calls {
		calls = append(calls, c.OpenCall)
	}
	return calls, nil
}

// DeleteOpenCall implements [turn.TurnRows].
func (r logRows) DeleteOpenCall(ctx context.Context, tenant string, segment int64, id string) (turn.OpenCall, error) {
	if err := r.writing(ctx); err != nil {
		return turn.OpenCall{}, err
	}
	s := r.segment(tenant, segment)
	i := s.call(id)
	if i < 0 {
		return turn.OpenCall{}, turn.ErrNotFound
	}
	c := s.calls[i]
	set(r.tx, &s.calls, slices.Delete(slices.Clone(s.calls), i, i+1))
	return c.OpenCall, nil
}

func (s *segment) call(id string) int {
	return slices.IndexFunc(s.calls, func(c openCall) bool { return c.ID == id })
}

// InsertCompletedFlow implements [turn.TurnRows].
func (r logRows) InsertCompletedFlow(ctx context.Context, tenant string, segment int64, flow string, afterSeq int64) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	s := r.segment(tenant, segment)
	if slices.ContainsFunc(s.flows, func(f turn.CompletedFlow) bool { return f.ID == flow }) {
		return nil
	}
	set(r.tx, &s.flows, append(s.flows, turn.CompletedFlow{ID: flow, AfterSeq: afterSeq}))
	return nil
}

// CompletedFlows implements [turn.TurnRows]. The span's From does not matter: a flow may be reported
// before the first turn of its segment.
func (r logRows) CompletedFlows(ctx context.Context, tenant string, span turn.Span) ([]turn.CompletedFlow, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	s := r.data.segment(tenant, span.Segment)
	if s == nil {
		return nil, nil
	}
	var flows []turn.CompletedFlow
	for _, f := range s.flows {
		if f.AfterSeq <= span.To {
			flows = append(flows, f)
		}
	}
	return flows, nil
}
