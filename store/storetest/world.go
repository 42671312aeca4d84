package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// noon is a time with microseconds that no test made up by rounding.
var noon = time.Date(2024, 2, 29, 12, 0, 0, 123456000, time.UTC)

// world is a store under test and what the tests need around it. Its methods fail the test where
// something that must work does not. They are safe for concurrent use only where they say so, and
// none of them may be called inside a transaction.
type world struct {
	testing.TB
	store.Store
	tenant string
	ids    *atomic.Uint64
}

func newWorld(t *testing.T, open opener) *world {
	w := &world{TB: t, Store: open(t), tenant: turn.DefaultTenant, ids: new(atomic.Uint64)}
	t.Cleanup(func() {
		if err := w.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
			t.Errorf("close: %v", err)
		}
	})
	return w
}

// as is the same store seen by a topic with a tenant of its own.
func (w *world) as(t *testing.T, tenant string) *world {
	return &world{TB: t, Store: w.Store, tenant: tenant, ids: w.ids}
}

// run is a subtest in which the world fails that subtest. Subtests of a world come one after the
// other.
func (w *world) run(name string, test func(t *testing.T)) {
	outer := w.TB.(*testing.T)
	outer.Run(name, func(t *testing.T) {
		w.TB = t
		defer func() { w.TB = outer }()
		test(t)
	})
}

// ctx is the context of the test's own calls.
func (w *world) ctx() context.Context { return w.TB.Context() }

// newID is safe for concurrent use.
func (w *world) newID() string { return turngen.ID(w.ids.Add(1)) }

func (w *world) update(fn func(store.Tx) error) {
	w.Helper()
	if err := w.Update(w.ctx(), fn); err != nil {
		w.Fatalf("update: %v", err)
	}
}

func (w *world) view(fn func(store.Tx) error) {
	w.Helper()
	if err := w.View(w.ctx(), fn); err != nil {
		w.Fatalf("view: %v", err)
	}
}

// key names a session of the world's tenant.
func (w *world) key(session string) turn.Key { return turn.Key{Tenant: w.tenant, Session: session} }

// elsewhere names a session of another tenant.
func (w *world) elsewhere(tenant, session string) turn.Key {
	return turn.Key{Tenant: w.tenant + "-" + tenant, Session: session}
}

// create makes a session and returns it as it was stored.
func (w *world) create(k turn.Key) turn.SessionInfo {
	w.Helper()
	w.update(func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(w.ctx(), blank(k, tx.Now()))
		return err
	})
	return w.session(k)
}

// blank is a new session as the engine makes it.
func blank(k turn.Key, now time.Time) turn.SessionInfo {
	return turn.SessionInfo{Key: k, Status: turn.Active, CreatedAt: now, LastActivity: now}
}

// now is the store's time.
func (w *world) now() (now time.Time) {
	w.Helper()
	w.view(func(tx store.Tx) error {
		now = tx.Now()
		return nil
	})
	return now
}

// later waits until the store's time is behind that of all it did so far, and returns it.
func (w *world) later() time.Time {
	w.Helper()
	for begin := w.now(); ; {
		if now := w.now(); now.After(begin) {
			return now
		}
	}
}

func (w *world) session(k turn.Key) (info turn.SessionInfo) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		info, err = tx.Log().Session(w.ctx(), k)
		return err
	})
	return info
}

// seal is safe for concurrent use.
func (w *world) seal(drafts ...turn.Draft) ([]turn.Sealed, error) {
	limits, err := turn.Limits{}.WithDefaults()
	if err != nil {
		return nil, err
	}
	sealed := make([]turn.Sealed, len(drafts))
	for i, d := range drafts {
		if d.ID == "" {
			d.ID = w.newID()
		}
		if sealed[i], err = d.Seal(limits); err != nil {
			return nil, err
		}
	}
	return sealed, nil
}

// try appends in an update of its own. It is safe for concurrent use.
func (w *world) try(k turn.Key, drafts ...turn.Draft) (turns []turn.Turn, err error) {
	sealed, err := w.seal(drafts...)
	if err != nil {
		return nil, err
	}
	err = w.Update(w.ctx(), func(tx store.Tx) (err error) {
		turns, err = turn.Append(w.ctx(), tx.Log(), k, tx.Now(), sealed...)
		return err
	})
	return turns, err
}

func (w *world) append(k turn.Key, drafts ...turn.Draft) []turn.Turn {
	w.Helper()
	turns, err := w.try(k, drafts...)
	if err != nil {
		w.Fatalf("append to %v: %v", k, err)
	}
	return turns
}

// log returns all turns of a session, oldest first.
func (w *world) log(k turn.Key) []turn.Turn {
	w.Helper()
	return w.query(k, turn.Query{Limit: 10_000}).Turns
}

func (w *world) query(k turn.Key, q turn.Query) (page turn.Page) {
	w.Helper()
	search, err := q.Compile()
	if err != nil {
		w.Fatalf("compile %+v: %v", q, err)
	}
	w.view(func(tx store.Tx) error {
		info, err := tx.Log().Session(w.ctx(), k)
		if err != nil {
			return err
		}
		page, err = search.Run(w.ctx(), tx.Log(), info)
		return err
	})
	return page
}

func (w *world) history(k turn.Key, o turn.HistoryOptions) (turns []turn.Turn) {
	w.Helper()
	w.view(func(tx store.Tx) error {
		info, err := tx.Log().Session(w.ctx(), k)
		if err != nil {
			return err
		}
		turns, err = turn.History(w.ctx(), tx.Log(), info, o)
		return err
	})
	return turns
}

func said(role turn.Role, text string) turn.Draft {
	return turn.Draft{Role: role, Content: turn.Text{Text: text}}
}

// says makes n numbered turns of a user.
func says(n int) []turn.Draft {
	drafts := make([]turn.Draft, n)
	for i := range drafts {
		drafts[i] = said(turn.User, fmt.Sprintf("turn %d", i+1))
	}
	return drafts
}

func called(ids ...string) turn.Draft {
	var c turn.Text
	for _, id := range ids {
		c.ToolCalls = append(c.ToolCalls, turn.ToolCall{ID: id, Name: "search", Arguments: `{"for": "` + id + `"}`})
	}
	return turn.Draft{Role: turn.Agent, Content: c}
}

func returned(id string) turn.Draft {
	return turn.Draft{Role: turn.System, Content: turn.Result{Name: "search", CallID: id, Status: turn.CallOK, Result: `"` + id + `"`}}
}

func seqs(turns []turn.Turn) []int64 {
	out := make([]int64, len(turns))
	for i := range turns {
		out[i] = turns[i].Seq
	}
	return out
}
