package server_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// counting is a store that counts what requests read from it. Others read it too.
type counting struct {
	store.Store
	views atomic.Int64
}

func (c *counting) View(ctx context.Context, fn func(store.Tx) error) error {
	if server.RecordOf(ctx).ID != "" {
		c.views.Add(1)
	}
	return c.Store.View(ctx, fn)
}

// Whoever appends, or commits, says itself whether there is such a session: nothing is read before.
func TestWritingReadsNothing(t *testing.T) {
	db := &counting{Store: newStore(t, t.TempDir(), sqlite.Config{})}
	c := serve(t, openedOn(t, db, turnstone.Config{}), server.Config{})
	const turns = `{"turns":[{"role":"user","text":"Hello"}]}`
	c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns?create=true", turns)
	for _, path := range []string{"/sessions/s/turns", "/sessions/s/turns?create=true"} {
		before := db.views.Load()
		c.want(http.StatusCreated, nil, "POST", path, turns)
		if read := db.views.Load() - before; read > 0 {
			t.Errorf("%s reads %d times", path, read)
		}
	}
	for _, path := range []string{"/sessions/none/turns", "/sessions/none/commit"} {
		var told server.Problem
		c.want(http.StatusNotFound, &told, "POST", path, turns)
		if want := "session none: not found; add ?create=true to make it"; told.Detail != want {
			t.Errorf("%s: %q, want %q", path, told.Detail, want)
		}
		c.want(http.StatusNotFound, nil, "GET", "/sessions/none", nil)
	}
	c.want(http.StatusOK, nil, "POST", "/sessions/new/commit?create=true", turns)
	c.want(http.StatusOK, nil, "GET", "/sessions/new", nil)
}
