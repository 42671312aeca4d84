package commit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// lot is exports of one tenant, whose turns and items are read at once: over a network one question for each would take longer than
// all the rest.
type lot struct {
	tenant   string
	readings []*reading
	turns    []turn.Stored // by place
	items    []memory.Row  // by id
}

// lotsOf divides readings among lots.
func lotsOf(readings []reading) (lots []*lot) {
	for i := range readings {
		r := &readings[i]
		at := slices.IndexFunc(lots, func(l *lot) bool { return l.tenant == r.row.Tenant })
		if at < 0 {
			at = len(lots)
			lots = append(lots, &lot{tenant: r.row.Tenant, readings: make([]*reading, 0, len(readings)-i)})
		}
		r.lot = lots[at]
		r.lot.readings = append(r.lot.readings, r)
	}
	return lots
}

func (l *lot) read(ctx context.Context, tx store.Tx) error {
	if err := l.readTurns(ctx, tx); err != nil {
		return err
	}
	var ids []string
	for _, r := range l.readings {
		ids = append(ids, r.items...)
	}
	if len(ids) == 0 {
		return nil
	}
	var err error
	if l.items, err = tx.Memory().ItemsByID(ctx, l.tenant, ids); err != nil {
		return l.failed(err)
	}
	return nil
}

// failed says which exports an error is about. Who asked for several asks for one.
func (l *lot) failed(err error) error {
	first := l.readings[0]
	if len(l.readings) == 1 {
		return first.failed(err)
	}
	return fmt.Errorf("exports %s to %s: %w", first.row.ID, l.readings[len(l.readings)-1].row.ID, err)
}

// readTurns reads turns: mostly from the segments that sessions write to, and where an exchange was opened before a fork, from an
// inherited one.
func (l *lot) readTurns(ctx context.Context, tx store.Tx) (err error) {
	n := 0
	for _, r := range l.readings {
		n += len(r.input) + len(r.reply)
	}
	all := make([]turn.Place, 0, n)
	for _, r := range l.readings {
		if r.has(History) {
			continue
		}
		begin := len(all)
		for _, seqs := range [...][]int64{r.input, r.reply} {
			for _, seq := range seqs {
				all = append(all, turn.Place{Segment: r.row.Segment, Seq: seq})
			}
		}
		r.places = all[begin:len(all):len(all)]
	}
	if l.turns, err = l.turnsAt(ctx, tx, slices.Clone(all)); err != nil {
		return l.failed(err)
	}
	var elsewhere []turn.Place
	for _, r := range l.readings {
		if !slices.ContainsFunc(r.places, func(at turn.Place) bool { return l.turn(at) == nil }) {
			continue
		}
		if err := r.inherit(ctx, tx); err != nil {
			return r.failed(err)
		}
		elsewhere = append(elsewhere, r.places...)
	}
	more, err := l.turnsAt(ctx, tx, elsewhere)
	if err != nil {
		return l.failed(err)
	}
	if len(more) > 0 {
		l.turns = append(l.turns, more...)
		slices.SortFunc(l.turns, func(a, b turn.Stored) int { return comparePlaces(placeOf(&a), placeOf(&b)) })
	}
	return nil
}

// turnsAt reads turns by place; those that follow one another are read the fastest. It changes the list of places.
func (l *lot) turnsAt(ctx context.Context, tx store.Tx, places []turn.Place) ([]turn.Stored, error) {
	if len(places) == 0 {
		return nil, nil
	}
	slices.SortFunc(places, comparePlaces)
	return tx.Log().TurnsAt(ctx, l.tenant, slices.Compact(places))
}

// inherit has the places be those of the session's history.
func (r *reading) inherit(ctx context.Context, tx store.Tx) error {
	info, err := tx.Log().Session(ctx, turn.Key{Tenant: r.row.Tenant, Session: r.row.Session})
	if err != nil {
		return err
	}
	for i := range r.places {
		at := &r.places[i]
		for _, span := range info.Spans(at.Seq) {
			if span.To == at.Seq {
				at.Segment = span.Segment
			}
		}
	}
	return nil
}

// turn returns the turn at a place, nil where there is none.
func (l *lot) turn(at turn.Place) *turn.Stored {
	i := sort.Search(len(l.turns), func(i int) bool { return comparePlaces(placeOf(&l.turns[i]), at) >= 0 })
	if i == len(l.turns) || placeOf(&l.turns[i]) != at {
		return nil
	}
	return &l.turns[i]
}

// item returns the item of that id, nil where there is none.
func (l *lot) item(id string) *memory.Row {
	i := sort.Search(len(l.items), func(i int) bool { return l.items[i].ID >= id })
	if i == len(l.items) || l.items[i].ID != id {
		return nil
	}
	return &l.items[i]
}

func placeOf(t *turn.Stored) turn.Place { return turn.Place{Segment: t.Segment, Seq: t.Seq} }

func comparePlaces(a, b turn.Place) int {
	return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.Seq, b.Seq))
}
