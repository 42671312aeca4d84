package mem

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/prompt"
)

// promptRows is the transaction as prompts see it.
type promptRows struct{ *tx }

// material is a text under its hash.
type material struct {
	text string
	at   time.Time
}

func epochNumber(e prompt.EpochRow) int64 { return e.Number }
func callNumber(c prompt.CallRow) int64   { return c.Number }
func pinNumber(p prompt.PinRow) int64     { return p.Number }

// find returns the index of the first row with that number or a higher one, and whether it is the one.
func find[R any](rows []R, number func(R) int64, wanted int64) (int, bool) {
	return slices.BinarySearchFunc(rows, wanted, func(r R, n int64) int { return cmp.Compare(number(r), n) })
}

// insert adds a row to those of a segment, which are in the order of their numbers.
func insert[R any](t *tx, rows *[]R, number func(R) int64, row R) error {
	i, taken := find(*rows, number, number(row))
	if taken {
		return prompt.ErrStale
	}
	set(t, rows, insertAt(*rows, i, row))
	return nil
}

// last returns the row along the spans with the highest number that is wanted, the one of the newest
// span where several have it.
func last[R any](t *tx, tenant string, spans []span.Span, rows func(*segment) []R, number func(R) int64, wanted func(R, span.Span) bool) (highest R, err error) {
	found := false
	for _, along := range slices.Backward(spans) {
		s := t.data.segment(tenant, along.Segment)
		if s == nil {
			continue
		}
		for _, row := range slices.Backward(rows(s)) {
			if !wanted(row, along) {
				continue
			}
			if !found || number(row) > number(highest) {
				highest, found = row, true
			}
			break
		}
	}
	if !found {
		return highest, prompt.ErrNotFound
	}
	return highest, nil
}

// page returns up to limit of the rows along the spans that are wanted and have a number greater than
// after, by number.
func page[R any](t *tx, tenant string, spans []span.Span, after int64, limit int, rows func(*segment) []R, number func(R) int64, wanted func(R, span.Span) bool) []R {
	var found []R
	for _, along := range spans {
		s := t.data.segment(tenant, along.Segment)
		if s == nil {
			continue
		}
		for _, row := range rows(s) {
			if number(row) > after && wanted(row, along) {
				found = append(found, row)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b R) int { return cmp.Compare(number(a), number(b)) })
	return found[:min(max(limit, 0), len(found))]
}

func segmentEpochs(s *segment) []prompt.EpochRow         { return s.epochs }
func segmentCalls(s *segment) []prompt.CallRow           { return s.prompts }
func segmentPins(s *segment) []prompt.PinRow             { return s.pins }
func epochAlong(e prompt.EpochRow, along span.Span) bool { return e.AfterSeq <= along.To }
func callAlong(c prompt.CallRow, along span.Span) bool   { return c.End <= along.To }
func pinAlong(p prompt.PinRow, along span.Span) bool     { return p.AfterSeq <= along.To }

// InsertEpoch implements [prompt.Rows].
func (r promptRows) InsertEpoch(ctx context.Context, tenant string, segment int64, e prompt.EpochRow) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return insert(r.tx, &r.segment(tenant, segment).epochs, epochNumber, e)
}

// LastEpoch implements [prompt.Rows].
func (r promptRows) LastEpoch(ctx context.Context, tenant string, spans []span.Span) (prompt.EpochRow, error) {
	if err := r.reading(ctx); err != nil {
		return prompt.EpochRow{}, err
	}
	return last(r.tx, tenant, spans, segmentEpochs, epochNumber, epochAlong)
}

// Epoch implements [prompt.Rows].
func (r promptRows) Epoch(ctx context.Context, tenant string, spans []span.Span, number int64) (prompt.EpochRow, error) {
	if err := r.reading(ctx); err != nil {
		return prompt.EpochRow{}, err
	}
	for _, along := range slices.Backward(spans) {
		s := r.data.segment(tenant, along.Segment)
		if s == nil {
			continue
		}
		if i, there := find(s.epochs, epochNumber, number); there && epochAlong(s.epochs[i], along) {
			return s.epochs[i], nil
		}
	}
	return prompt.EpochRow{}, prompt.ErrNotFound
}

// Epochs implements [prompt.Rows].
func (r promptRows) Epochs(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]prompt.EpochRow, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return page(r.tx, tenant, spans, after, limit, segmentEpochs, epochNumber, epochAlong), nil
}

// InsertCall implements [prompt.Rows].
func (r promptRows) InsertCall(ctx context.Context, tenant string, segment int64, c prompt.CallRow) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return insert(r.tx, &r.segment(tenant, segment).prompts, callNumber, c)
}

// LastCall implements [prompt.Rows].
func (r promptRows) LastCall(ctx context.Context, tenant string, spans []span.Span, end int64) (prompt.CallRow, error) {
	if err := r.reading(ctx); err != nil {
		return prompt.CallRow{}, err
	}
	return last(r.tx, tenant, spans, segmentCalls, callNumber, func(c prompt.CallRow, along span.Span) bool {
		return c.End <= end && callAlong(c, along)
	})
}

// Calls implements [prompt.Rows].
func (r promptRows) Calls(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]prompt.CallRow, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return page(r.tx, tenant, spans, after, limit, segmentCalls, callNumber, callAlong), nil
}

// InsertPin implements [prompt.Rows].
func (r promptRows) InsertPin(ctx context.Context, tenant string, segment int64, p prompt.PinRow) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	return insert(r.tx, &r.segment(tenant, segment).pins, pinNumber, p)
}

// Pins implements [prompt.Rows].
func (r promptRows) Pins(ctx context.Context, tenant string, spans []span.Span) ([]prompt.PinRow, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return page(r.tx, tenant, spans, math.MinInt64, math.MaxInt, segmentPins, pinNumber, pinAlong), nil
}

// PutMaterial implements [prompt.Rows].
func (r promptRows) PutMaterial(ctx context.Context, tenant, sha256, text string, at time.Time) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	key := rowKey{tenant, sha256}
	if _, there := r.data.materials[key]; !there {
		put(r.tx, r.data.materials, key, material{text, at})
	}
	return nil
}

// Material implements [prompt.Rows].
func (r promptRows) Material(ctx context.Context, tenant, sha256 string) (string, error) {
	if err := r.reading(ctx); err != nil {
		return "", err
	}
	m, ok := r.data.materials[rowKey{tenant, sha256}]
	if !ok {
		return "", prompt.ErrNotFound
	}
	return m.text, nil
}
