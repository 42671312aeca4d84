package client_test

import (
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/client"
	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// opened is an engine on a new store.
func opened(t *testing.T, config turnstone.Config) *turnstone.Engine {
	t.Helper()
	db, err := sqlite.Open(t.Context(), litetest.File(t, filepath.Join(t.TempDir(), "t.db")), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	eng, err := turnstone.Open(t.Context(), db, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return eng
}

// world is a server and a client of it.
type world struct {
	*client.Client
	srv *httptest.Server
}

// start serves a new store.
func start(t *testing.T, engine turnstone.Config, config server.Config) *world {
	t.Helper()
	return serve(t, opened(t, engine), config)
}

// serve serves an engine.
func serve(t *testing.T, eng *turnstone.Engine, config server.Config) *world {
	t.Helper()
	w := &world{}
	config.Engine = eng
	s, err := server.New(config)
	if err != nil {
		t.Fatal(err)
	}
	w.srv = httptest.NewServer(s.Handler())
	t.Cleanup(w.srv.Close)
	if w.Client, err = client.New(w.srv.URL, client.Options{HTTP: w.srv.Client()}); err != nil {
		t.Fatal(err)
	}
	return w
}

// session is a new session of that id.
func (w *world) session(t *testing.T, id string) *client.Session {
	t.Helper()
	s, err := w.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
