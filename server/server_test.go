package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// client talks to a server of a test as anybody would.
type client struct {
	t    *testing.T
	base string
	http *http.Client
	doc  *document // every answer is held against it
}

// start opens an engine on a new store and serves it.
func start(t *testing.T, engine turnstone.Config, config server.Config) *client {
	t.Helper()
	return serve(t, opened(t, engine), config)
}

// opened is an engine on a new store.
func opened(t *testing.T, engine turnstone.Config) *turnstone.Engine {
	t.Helper()
	return openedOn(t, newStore(t, t.TempDir(), sqlite.Config{}), engine)
}

// newStore is a store in a folder. Who opens an engine on it closes it.
func newStore(t *testing.T, folder string, config sqlite.Config) store.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), litetest.File(t, filepath.Join(folder, "t.db")), config)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// openedOn is an engine on a store, until the test ends.
func openedOn(t *testing.T, db store.Store, engine turnstone.Config) *turnstone.Engine {
	t.Helper()
	eng, err := turnstone.Open(t.Context(), db, engine)
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

// serve serves an engine.
func serve(t *testing.T, eng *turnstone.Engine, config server.Config) *client {
	t.Helper()
	config.Engine = eng
	s, err := server.New(config)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s.Handler())
	t.Cleanup(srv.Close)
	described.Do(func() { described.document, described.err = documentOf(s) })
	if described.err != nil {
		t.Fatal(described.err)
	}
	return &client{t: t, base: srv.URL, http: srv.Client(), doc: described.document}
}

// described is the document of the first server that there is. All have the same: [TestTheDocumentIsThatOfEveryServer].
// Reading it takes longer than most tests do.
var described struct {
	sync.Once
	document *document
	err      error
}

func documentOf(s *server.Server) (*document, error) {
	text, err := json.Marshal(s.Document())
	if err != nil {
		return nil, err
	}
	doc := new(document)
	return doc, json.Unmarshal(text, doc)
}

// in is the client for a part of a test.
func (c *client) in(t *testing.T) *client {
	part := *c
	part.t = t
	return &part
}

// reply is an answer, read whole.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request to a path below /api/v1, or beside it after as many /.. as it takes. A body that is not a string is sent as JSON. Headers come in pairs.
func (c *client) do(method, path string, body any, headers ...string) reply {
	c.t.Helper()
	var sent io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		sent = strings.NewReader(body)
	default:
		text, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		sent = bytes.NewReader(text)
	}
	place := c.base + "/api/v1"
	for strings.HasPrefix(path, "/..") {
		place, path = place[:strings.LastIndexByte(place, '/')], path[len("/.."):]
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, place+path, sent)
	if err != nil {
		c.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	answer, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	got := reply{answer.StatusCode, answer.Header, string(text)}
	if err := c.doc.check(method, path, got); err != nil {
		c.t.Error(err)
	}
	return got
}

// want is do for an answer of that status, which it reads into a value.
func (c *client) want(status int, into any, method, path string, body any, headers ...string) reply {
	c.t.Helper()
	got := c.do(method, path, body, headers...)
	if got.status != status {
		c.t.Fatalf("%s %s: %d, want %d: %s", method, path, got.status, status, got.body)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(got.body), into); err != nil {
			c.t.Fatalf("%s %s: %v: %s", method, path, err, got.body)
		}
	}
	return got
}
