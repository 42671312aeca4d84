package recall_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// world is a store whose clock stands where it is put.
type world struct {
	testing.TB
	store.Store
	clock *clock
	ids   uint64
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is read by stores in the background while it is put on.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time { return time.UnixMicro(c.at.Load()).UTC() }

func (c *clock) put(t time.Time) { c.at.Store(t.UnixMicro()) }

func newWorld(t testing.TB) *world {
	return with(t, func(clock func() time.Time) (store.Store, error) { return mem.New(mem.Config{Clock: clock}), nil })
}

func with(t testing.TB, open func(clock func() time.Time) (store.Store, error)) *world {
	t.Helper()
	now := new(clock)
	now.put(start)
	st, err := open(now.now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &world{TB: t, Store: st, clock: now}
}

// stores opens one of each kind.
func stores(t testing.TB) map[string]*world {
	t.Helper()
	url := pgstore.URL(t)
	return map[string]*world{
		"mem": newWorld(t),
		"sqlite": with(t, func(clock func() time.Time) (store.Store, error) {
			return sqlite.Open(t.Context(), litetest.File(t, filepath.Join(t.TempDir(), "log.db")), sqlite.Config{Clock: clock})
		}),
		"postgres": with(t, func(clock func() time.Time) (store.Store, error) {
			return postgres.Open(t.Context(), url, postgres.Config{Clock: clock})
		}),
	}
}

func (w *world) update(fn func(tx store.Tx) error) {
	w.Helper()
	if err := w.Update(context.WithoutCancel(w.Context()), fn); err != nil {
		w.Fatal(err)
	}
}

func (w *world) id() string {
	w.ids++
	return turngen.ID(w.ids)
}

func (w *world) create(session, user string) turn.Key {
	w.Helper()
	key := turn.Key{Tenant: "acme", Session: session}
	w.update(func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(w.Context(), turn.SessionInfo{
			Key: key, User: user, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now(),
		})
		return err
	})
	return key
}

func (w *world) append(key turn.Key, drafts ...turn.Draft) []turn.Turn {
	w.Helper()
	sealed := make([]turn.Sealed, len(drafts))
	for i, d := range drafts {
		var err error
		d.ID = w.id()
		if sealed[i], err = d.Seal(turn.Limits{Text: 4 << 20, Blob: 1 << 20, Calls: 64}); err != nil {
			w.Fatal(err)
		}
	}
	var turns []turn.Turn
	w.update(func(tx store.Tx) (err error) {
		turns, err = turn.Append(w.Context(), tx.Log(), key, tx.Now(), sealed...)
		return err
	})
	return turns
}

// talk appends lines such as "user: Hello" and "agent: Hi".
func (w *world) talk(key turn.Key, lines ...string) {
	w.Helper()
	drafts := make([]turn.Draft, len(lines))
	for i, line := range lines {
		role, text, _ := strings.Cut(line, ": ")
		drafts[i] = turn.Draft{Role: turn.Role(role), Content: turn.Text{Text: text}}
	}
	w.append(key, drafts...)
}

// remember adds an item of memory.
func (w *world) remember(key turn.Key, text string, importance float64, links ...string) string {
	w.Helper()
	id := w.id()
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().Session(w.Context(), key)
		if err != nil {
			return err
		}
		e := memory.Episode{ID: id, Type: memory.UserData, Text: text, Importance: importance, Created: tx.Now(), Links: memory.Links{Turns: links}}
		_, err = tx.Memory().InsertItems(w.Context(), []memory.Row{e.Row(memory.Owner{
			Tenant: key.Tenant, Segment: info.Segment, Session: key.Session, User: info.User,
		})})
		return err
	})
	return id
}

func (w *world) try(key turn.Key, q recall.Query) (hits []recall.Hit, err error) {
	w.Helper()
	err = w.View(w.Context(), func(tx store.Tx) error {
		if q.Home, err = tx.Log().Session(w.Context(), key); err != nil {
			return err
		}
		q.Now = tx.Now()
		hits, err = recall.Search(w.Context(), tx.Log(), tx.Memory(), q)
		return err
	})
	return hits, err
}

func (w *world) search(key turn.Key, q recall.Query) []recall.Hit {
	w.Helper()
	hits, err := w.try(key, q)
	if err != nil {
		w.Fatal(err)
	}
	return hits
}

// cited are the citations of what a query finds.
func (w *world) cited(key turn.Key, q recall.Query) []string {
	w.Helper()
	return citations(w.search(key, q))
}

func citations(hits []recall.Hit) []string {
	list := []string{}
	for _, h := range hits {
		list = append(list, h.Citation)
	}
	return list
}
