package turn

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// HistoryOptions says how much history to compile; see [History].
type HistoryOptions struct {
	// Turns is how many to return: utterances, or with KeepSystem turns of any role.
	Turns int
	// KeepSystem includes system turns.
	KeepSystem bool
	// UpTo compiles the history as it was after this seq. Zero: now.
	UpTo int64
	// Path are the turns that there are. A unit that is not on it as a whole is left out. Defaults to all turns.
	Path Path
}

// History is the seed's compile_history: the last turns of a session, ascending.
//
// Units are whole or not there. The results of a shown tool call are shown with it, whatever
// KeepSystem says, and do not count; with KeepSystem a unit that reaches over the beginning is
// included from its call on, so that more than Turns may come back. A unit that still waits for a
// result is left out.
//
// The log is read backwards along an index: the cost depends on what is returned, not on the
// length of the history.
func History(ctx context.Context, rows TurnRows, s SessionInfo, o HistoryOptions) ([]Turn, error) {
	if o.Turns < 0 {
		return nil, fieldErrorf("turns", "give how many turns to return", "%d is negative", o.Turns)
	}
	if o.UpTo == 0 {
		o.UpTo = math.MaxInt64
	}
	h := &backwards{rows: rows, tenant: s.Tenant, options: o, missing: o.Turns, taken: make(map[int64]bool)}
	for _, whole := range slices.Backward(s.Spans(o.UpTo)) {
		for _, part := range slices.Backward(o.Path.along(whole)) {
			if err := h.span(ctx, part); err != nil {
				return nil, fmt.Errorf("history of %s: %w", s.Session, err)
			}
		}
	}
	slices.SortFunc(h.shown, func(a, b Turn) int { return int(a.Seq - b.Seq) })
	for i := range h.shown {
		h.shown[i].Session = s.Session
	}
	return h.shown, nil
}

// backwards collects turns from the end of a log.
type backwards struct {
	rows    TurnRows
	tenant  string
	options HistoryOptions
	missing int
	shown   []Turn
	taken   map[int64]bool // units that are shown
}

func (h *backwards) span(ctx context.Context, s Span) error {
	filter := RowFilter{Utterances: !h.options.KeepSystem, Newest: true}
	for h.missing > 0 && !s.Empty() {
		page, err := h.rows.Scan(ctx, h.tenant, s, filter, min(h.missing, 1024))
		if err != nil || len(page) == 0 {
			return err
		}
		units, err := h.units(ctx, s, page)
		if err != nil {
			return err
		}
		h.take(page, units)
		s.To = page[len(page)-1].Seq - 1
	}
	return nil
}

// units returns the members of every unit that the page touches, as far as they were written then.
func (h *backwards) units(ctx context.Context, s Span, page []Turn) (map[int64][]Turn, error) {
	begin := page[len(page)-1].Seq
	first, last := int64(math.MaxInt64), int64(0)
	units := make(map[int64][]Turn)
	for i := range page {
		switch u := page[i].Unit; {
		case u == 0:
		case u >= begin:
			first, last = min(first, u), max(last, u)
		case units[u] == nil:
			// Opened before the page. One at a time: any number of others may lie between.
			if err := h.read(ctx, s, u, u, units); err != nil {
				return nil, err
			}
		}
	}
	if last == 0 {
		return units, nil
	}
	return units, h.read(ctx, s, first, last, units)
}

func (h *backwards) read(ctx context.Context, s Span, first, last int64, units map[int64][]Turn) error {
	members, err := h.rows.Units(ctx, h.tenant, s.Segment, first, last)
	if err != nil {
		return err
	}
	for _, t := range members {
		if t.Seq <= h.options.UpTo {
			units[t.Unit] = append(units[t.Unit], t)
		}
	}
	return nil
}

func (h *backwards) take(page []Turn, units map[int64][]Turn) {
	for _, t := range page {
		if h.missing <= 0 {
			return
		}
		if t.Unit == 0 {
			h.shown = append(h.shown, t)
			h.missing--
			continue
		}
		if h.taken[t.Unit] || !Complete(units[t.Unit]) || slices.ContainsFunc(units[t.Unit], func(t Turn) bool { return h.options.Path.Off(t.Seq) }) {
			continue
		}
		h.taken[t.Unit] = true
		h.shown = append(h.shown, units[t.Unit]...)
		if h.options.KeepSystem {
			h.missing -= len(units[t.Unit])
		} else {
			h.missing--
		}
	}
}
