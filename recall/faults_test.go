package recall_test

import (
	"context"
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

var errFault = errors.New("fault")

// faults fails the call of a given number.
type faults struct{ at, calls int }

func (f *faults) fault() error {
	if f.calls++; f.calls == f.at {
		return errFault
	}
	return nil
}

type faultyLog struct {
	turn.Rows
	f *faults
}

func through[R any](f *faults, read func() (R, error)) (R, error) {
	if err := f.fault(); err != nil {
		var none R
		return none, err
	}
	return read()
}

func (l faultyLog) Sessions(ctx context.Context, f turn.SessionFilter) ([]turn.SessionInfo, error) {
	return through(l.f, func() ([]turn.SessionInfo, error) { return l.Rows.Sessions(ctx, f) })
}

func (l faultyLog) TextTails(ctx context.Context, tenant string, spans []turn.Span) ([]turn.Span, error) {
	return through(l.f, func() ([]turn.Span, error) { return l.Rows.TextTails(ctx, tenant, spans) })
}

func (l faultyLog) TextPlaces(ctx context.Context, tenant string, spans []turn.Span, term string, limit int) ([]turn.Place, error) {
	return through(l.f, func() ([]turn.Place, error) { return l.Rows.TextPlaces(ctx, tenant, spans, term, limit) })
}

func (l faultyLog) TurnsAt(ctx context.Context, tenant string, places []turn.Place) ([]turn.Stored, error) {
	return through(l.f, func() ([]turn.Stored, error) { return l.Rows.TurnsAt(ctx, tenant, places) })
}

func (l faultyLog) TurnsByID(ctx context.Context, tenant, id string) ([]turn.Stored, error) {
	return through(l.f, func() ([]turn.Stored, error) { return l.Rows.TurnsByID(ctx, tenant, id) })
}

func (l faultyLog) Scan(ctx context.Context, tenant string, s turn.Span, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	return through(l.f, func() ([]turn.Turn, error) { return l.Rows.Scan(ctx, tenant, s, f, limit) })
}

func (l faultyLog) Units(ctx context.Context, tenant string, segment, first, last int64) ([]turn.Turn, error) {
	return through(l.f, func() ([]turn.Turn, error) { return l.Rows.Units(ctx, tenant, segment, first, last) })
}

type faultyItems struct {
	memory.Rows
	f *faults
}

func (i faultyItems) Items(ctx context.Context, f memory.Filter) ([]memory.Row, error) {
	return through(i.f, func() ([]memory.Row, error) { return i.Rows.Items(ctx, f) })
}

// TestNoFaultOfTheStoreIsSwallowed fails every read of a search in turn.
func TestNoFaultOfTheStoreIsSwallowed(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "ann")
	w.append(key,
		turn.Draft{Role: turn.User, MessageID: "m", Content: turn.Text{Text: "a heron"}},
		turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "a", Name: "heron", Arguments: `{}`}}}},
		turn.Draft{Role: turn.System, Content: turn.Result{Name: "heron", CallID: "a", Status: turn.CallOK}})
	w.remember(key, "a heron", 0.5, w.id())
	search := func(f *faults) (hits []recall.Hit, err error) {
		err = w.View(t.Context(), func(tx store.Tx) error {
			home, err := tx.Log().Session(t.Context(), key)
			if err != nil {
				return err
			}
			hits, err = recall.Search(t.Context(), faultyLog{tx.Log(), f}, faultyItems{tx.Memory(), f},
				recall.Query{Text: "heron", Scope: recall.OfUser, Home: home, Now: tx.Now(), Exclude: []turn.Range{{From: 9}}})
			return err
		})
		return hits, err
	}
	var none faults
	if hits, err := search(&none); err != nil || len(hits) != 2 {
		t.Fatal(citations(hits), err)
	}
	// Sessions, tails, fresh turns, places, turns, two sides of a message, unit, items, the turn of an item.
	if want := 10; none.calls < want {
		t.Fatalf("%d reads, want at least %d", none.calls, want)
	}
	for n := range none.calls {
		if hits, err := search(&faults{at: n + 1}); !errors.Is(err, errFault) || len(hits) > 0 {
			t.Errorf("read %d: %v, %v", n+1, citations(hits), err)
		}
	}
}
