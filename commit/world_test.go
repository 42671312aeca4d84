package commit_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

var key = turn.Key{Tenant: "default", Session: "talk"}

// world is a store with one session and a pipeline on it.
type world struct {
	testing.TB
	store    store.Store
	pipeline *commit.Pipeline
	config   commit.Config
	ids      *ids.Source

	mu     sync.Mutex // guards states
	states []commit.State
}

// onStores runs the test on every store.
func onStores(t *testing.T, f func(t *testing.T, open func(commit.Config) *world)) {
	onStoresOfParts(t, func(t *testing.T, open func(*testing.T, commit.Config) *world) {
		f(t, func(c commit.Config) *world { return open(t, c) })
	})
}

// onStoresOfParts is onStores for a test of many parts, each of which gives its store back when it is over: the next
// need not make tables of its own.
func onStoresOfParts(t *testing.T, f func(t *testing.T, open func(*testing.T, commit.Config) *world)) {
	for name, open := range map[string]func(t *testing.T) store.Store{
		"mem":    func(*testing.T) store.Store { return mem.New(mem.Config{}) },
		"sqlite": newSQLite,
		"postgres": func(t *testing.T) store.Store {
			st, err := postgres.Open(t.Context(), pgstore.URL(t), postgres.Config{})
			if err != nil {
				t.Fatal(err)
			}
			return st
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "postgres" {
				pgstore.URL(t) // skips the whole test where there is none
			}
			f(t, func(t *testing.T, c commit.Config) *world { return newWorld(t, open(t), c) })
		})
	}
}

func newSQLite(t *testing.T) store.Store {
	st, err := sqlite.Open(t.Context(), litetest.File(t, filepath.Join(t.TempDir(), "log.db")), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// onSharedStores runs the test on every store that processes share. Each open is a process.
func onSharedStores(t *testing.T, f func(t *testing.T, open func(commit.Config) *world)) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "log.db")
		f(t, func(c commit.Config) *world {
			st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
			if err != nil {
				t.Fatal(err)
			}
			return newWorld(t, st, c)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		url := pgstore.URL(t)
		f(t, func(c commit.Config) *world {
			st, err := postgres.Open(t.Context(), url, postgres.Config{})
			if err != nil {
				t.Fatal(err)
			}
			return newWorld(t, st, c)
		})
	})
}

func newWorld(t *testing.T, st store.Store, c commit.Config) *world {
	t.Helper()
	w := &world{TB: t, store: st, ids: ids.New(nil)}
	w.update(func(tx store.Tx) error {
		if _, err := tx.Log().Session(t.Context(), key); err == nil {
			return nil
		}
		segment, err := tx.Log().InsertSession(t.Context(), turn.SessionInfo{
			Key: key, User: "ann", Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now(),
		})
		if err != nil {
			return err
		}
		_, err = dialogue.Start(t.Context(), tx.Dialogue(), key.Tenant, segment, tx.Now())
		return err
	})
	if c.NewID == nil {
		c.NewID = func() string { return w.ids.Next(time.Now()) }
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	observe := c.Observe
	c.Observe = func(k turn.Key, s commit.State) {
		w.mu.Lock()
		w.states = append(w.states, s)
		w.mu.Unlock()
		if observe != nil {
			observe(k, s)
		}
	}
	p, err := commit.New(t.Context(), st, c)
	if err != nil {
		t.Fatal(err)
	}
	w.pipeline, w.config = p, c
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := w.pipeline.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) commit(ex commit.Exchange) commit.Result {
	w.Helper()
	res, err := w.pipeline.Commit(w.Context(), key, ex)
	if err != nil {
		w.Fatal(err)
	}
	return res
}

func (w *world) update(f func(store.Tx) error) {
	w.Helper()
	if err := w.store.Update(w.Context(), f); err != nil {
		w.Fatal(err)
	}
}

func (w *world) view(f func(tx store.Tx, info turn.SessionInfo) error) {
	w.Helper()
	err := w.store.View(w.Context(), func(tx store.Tx) error {
		info, err := tx.Log().Session(w.Context(), key)
		if err != nil {
			return err
		}
		return f(tx, info)
	})
	if err != nil {
		w.Fatal(err)
	}
}

// items are the texts of what is remembered, oldest first.
func (w *world) items() (texts []string) {
	w.Helper()
	w.view(func(tx store.Tx, info turn.SessionInfo) error {
		rows, err := tx.Memory().Items(w.Context(), memory.Filter{Tenant: key.Tenant, Archived: true, Limit: 1000, Now: tx.Now()})
		for i := range rows {
			texts = append(texts, rows[len(rows)-1-i].Text)
		}
		return err
	})
	return texts
}

func (w *world) intentions() (state *cortex.State) {
	w.Helper()
	w.view(func(tx store.Tx, info turn.SessionInfo) (err error) {
		state, err = cortex.Load(w.Context(), tx.Cortex(), key.Tenant, info.Lineage(info.Head), false)
		return err
	})
	return state
}

func (w *world) page() (page *scratch.Page) {
	w.Helper()
	w.view(func(tx store.Tx, info turn.SessionInfo) (err error) {
		page, err = scratch.Load(w.Context(), tx.Scratch(), key.Tenant, info.Segment, tx.Now())
		return err
	})
	return page
}

// turns are the texts of the log, summaries in brackets.
func (w *world) turns() (texts []string) {
	w.Helper()
	w.view(func(tx store.Tx, info turn.SessionInfo) error {
		for _, span := range info.Spans(info.Head) {
			turns, err := tx.Log().Scan(w.Context(), key.Tenant, span, turn.RowFilter{}, 10_000)
			if err != nil {
				return err
			}
			for _, t := range turns {
				text := t.Content.Searchable()
				if t.Kind == turn.KindSummary {
					text = "[" + text + "]"
				}
				texts = append(texts, text)
			}
		}
		return nil
	})
	return texts
}

func (w *world) export(id string) (export commit.StateExport) {
	w.Helper()
	w.view(func(tx store.Tx, _ turn.SessionInfo) error {
		row, err := tx.Outbox().Export(w.Context(), key.Tenant, id)
		if err != nil {
			return err
		}
		export, err = commit.Whole(w.Context(), tx, row)
		return err
	})
	return export
}

func (w *world) deferrals() (list []event.Deferral) {
	w.Helper()
	w.view(func(tx store.Tx, _ turn.SessionInfo) (err error) {
		list, err = tx.Outbox().Deferrals(w.Context(), key.Tenant)
		return err
	})
	return list
}

// talk is a plain exchange.
func talk(input, reply string) commit.Exchange {
	return commit.Exchange{Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: input}},
		{Role: turn.Agent, Content: turn.Text{Text: reply}},
	}}
}

func fact(text string) memory.Candidate {
	return memory.Candidate{Type: memory.UserData, Text: text, Source: memory.FromUser}
}

func newMem() store.Store { return mem.New(mem.Config{}) }

func ptr[T any](v T) *T { return &v }

// loseOneAnswer makes the next update durable without anybody hearing of it.
func (w *world) loseOneAnswer() *faulty.Store {
	faults := faulty.New(w.store)
	w.withStore(faults)
	var lost atomic.Bool // asked by the worker too
	faults.Set(func(at string) error {
		if at == "durable" && lost.CompareAndSwap(false, true) {
			return fmt.Errorf("connection lost: %w", store.ErrUnknown)
		}
		return nil
	})
	return faults
}
