package commit_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
)

// looking counts how often somebody looks for the least important items, and archives some.
type looking struct {
	store.Store
	looks, rooms int
}

func (l *looking) Update(ctx context.Context, fn func(store.Tx) error) error {
	return l.Store.Update(ctx, func(tx store.Tx) error { return fn(lookingTx{tx, l}) })
}

type lookingTx struct {
	store.Tx
	l *looking
}

func (t lookingTx) Memory() memory.Rows { return lookingRows{t.Tx.Memory(), t.l} }

type lookingRows struct {
	memory.Rows
	l *looking
}

func (r lookingRows) Items(ctx context.Context, f memory.Filter) ([]memory.Row, error) {
	if f.Lowest && f.Type == memory.Event {
		r.l.looks++
	}
	return r.Rows.Items(ctx, f)
}

func (r lookingRows) ArchiveItems(ctx context.Context, tenant string, ids []string, at time.Time) error {
	r.l.rooms++
	return r.Rows.ArchiveItems(ctx, tenant, ids, at)
}

// A session whose quota is used up by what is never archived must not make room in every commit, and need not look for it
// again once it has seen all that may be archived.
func TestACrowdedSessionSeldomMakesRoom(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Selection: memory.Selection{Quota: memory.Quota{Session: 160}}})
	l := &looking{Store: w.store}
	w.withStore(l)
	say := func(n, facts, events int) {
		ex := talk("a", "b")
		for i := range facts {
			ex.Candidates = append(ex.Candidates, fact(fmt.Sprint("fact ", n, "-", i)))
		}
		for i := range events {
			ex.Candidates = append(ex.Candidates, memory.Candidate{Type: memory.Event, Text: fmt.Sprint("event ", n, "-", i), Given: full(0.5)})
		}
		w.commit(ex)
	}
	for _, step := range []struct{ facts, events, rooms int }{
		{80, 80, 0},  // as many as there may be
		{0, 20, 1},   // too many: events go, and ten more than need to
		{100, 0, 2},  // too many again, and nothing is left to go
		{1, 3, 2},    // not worth a try
		{1, 4, 2},    //
		{1, 3, 3},    // by now it is
		{0, 9, 3},    // and now there is room for so many again
		{0, 200, 4},  //
		{60, 200, 5}, //
	} {
		say(step.facts*1000+step.events+step.rooms*7, step.facts, step.events)
		if l.rooms != step.rooms || l.looks != min(1, step.rooms) {
			t.Errorf("after %+v: made room %d times, %d looks", step, l.rooms, l.looks)
		}
	}
}
