package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/scenario"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestContentIsGivenByValue(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "a")
	call := turn.Text{ToolCalls: []turn.ToolCall{{ID: "c", Name: "f", Arguments: "{}"}}}
	var none *turn.Text
	for _, c := range []turn.Content{&call, none, &turn.Result{CallID: "c"}, nil} {
		_, err := s.Append(t.Context(), turn.Draft{Role: turn.Agent, Content: c})
		var bad *turn.FieldError
		if !errors.As(err, &bad) || bad.Name != "content" {
			t.Errorf("%T: %v, want a field error on content", c, err)
		}
	}
}

// rowsRead counts the turns that a store hands out of units.
type rowsRead struct {
	store.Store
	turns int
}

type countingTx struct {
	store.Tx
	read *rowsRead
}

type countingRows struct {
	turn.Rows
	read *rowsRead
}

func (r *rowsRead) View(ctx context.Context, fn func(store.Tx) error) error {
	return r.Store.View(ctx, func(tx store.Tx) error { return fn(countingTx{tx, r}) })
}

func (c countingTx) Log() turn.Rows { return countingRows{c.Tx.Log(), c.read} }

func (c countingRows) Units(ctx context.Context, tenant string, segment, first, last int64) ([]turn.Turn, error) {
	turns, err := c.Rows.Units(ctx, tenant, segment, first, last)
	c.read.turns += len(turns)
	return turns, err
}

// TestHistoryReadsNoUnitsThatItDoesNotShow: a call that was answered late reaches over any number of
// others.
func TestHistoryReadsNoUnitsThatItDoesNotShow(t *testing.T) {
	st := &rowsRead{Store: mem.New(mem.Config{})}
	eng := open(t, st, turnstone.Config{})
	s := session(t, eng, "a")
	call := func(id string) turn.Draft {
		return turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: id, Name: "f", Arguments: "{}"}}}}
	}
	result := func(id string) turn.Draft {
		return turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: id, Status: turn.CallOK}}
	}
	drafts := []turn.Draft{call("long")}
	for i := range 500 {
		drafts = append(drafts, call(fmt.Sprint(i)), result(fmt.Sprint(i)))
	}
	if _, err := s.Append(t.Context(), append(drafts, result("long"))...); err != nil {
		t.Fatal(err)
	}
	history, err := s.History(t.Context(), turn.HistoryOptions{Turns: 5, KeepSystem: true})
	if err != nil || len(history) != 6 || history[0].Seq != 1 {
		t.Fatalf("%d turns from %d on, %v", len(history), history[0].Seq, err)
	}
	if st.turns > 10 {
		t.Errorf("read %d turns of units to show 6", st.turns)
	}
}

func TestQueryPastTheEndIsEmpty(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "a")
	say(t, s, turn.User, "one")
	for _, q := range []turn.Query{{After: math.MaxInt64}, {After: math.MaxInt64 - 1}, {From: math.MaxInt64}} {
		if page, err := s.Query(t.Context(), q); err != nil || len(page.Turns) != 0 {
			t.Errorf("%+v: %d turns, %v", q, len(page.Turns), err)
		}
	}
}

// TestTimesBetweenTwoMicrosecondsMeanTheSameByEveryWay: by rows and by id.
func TestTimesBetweenTwoMicrosecondsMeanTheSameByEveryWay(t *testing.T) {
	clock := scenario.NewClock()
	eng := open(t, mem.New(mem.Config{Clock: clock.Now}), turnstone.Config{Clock: clock.Now})
	s := session(t, eng, "a")
	one := say(t, s, turn.User, "one")
	for _, c := range []struct {
		since, until time.Duration
		found        int
	}{{-1, 1, 1}, {0, 1, 1}, {1, 1000, 0}, {-1000, 0, 0}, {0, 999, 1}} {
		q := turn.Query{Since: one.CreatedAt.Add(c.since), Until: one.CreatedAt.Add(c.until)}
		byID := q
		byID.ID = one.ID
		for _, q := range []turn.Query{q, byID} {
			if page, err := s.Query(t.Context(), q); err != nil || len(page.Turns) != c.found {
				t.Errorf("since %d ns until %d ns, id %q: %d turns, %v; want %d", c.since, c.until, q.ID, len(page.Turns), err, c.found)
			}
		}
	}
}
