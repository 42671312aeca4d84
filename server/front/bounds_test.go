package front_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/store"
)

// The upstream server is asked what clients of a model API ask, and with the key of the operator: nothing else of it can
// be reached by a path that leads out of it.
func TestPathsLeadNowhereElse(t *testing.T) {
	for _, test := range []struct{ method, path, body string }{
		{"GET", "/v1/models/%2e%2e/files", ""},
		{"GET", "/v1/models/m/%2e%2e/%2e%2e/%2e%2e/admin", ""},
		{"GET", "/v1/models/%2e", ""},
		{"GET", "/v1/models/..%2ffiles", ""},
		{"POST", "/api/show", `{"model":"../files"}`},
	} {
		t.Run(test.path, func(t *testing.T) {
			w := newWorld(t, newScripted(t, front.OpenAI, answer{status: 200, body: "{}"}))
			if r, got := ask(t, test.method, w.url+test.path, test.body); r.StatusCode != http.StatusNotFound {
				t.Errorf("status %d: %s", r.StatusCode, got)
			}
			if asked := w.upstream.requests(); len(asked) > 0 {
				t.Errorf("asked for %s", asked[0].path)
			}
		})
	}
	t.Run("what is escaped stays so", func(t *testing.T) {
		w := newWorld(t, asksDirectly(newScripted(t, front.OpenAI, answer{status: 200, body: "{}"})))
		ask(t, "GET", w.url+"/v1/models/%252e%252e/100%25", "")
		if got := w.upstream.last().path; got != "/v1/models/%2e%2e/100%" {
			t.Errorf("asked for %s", got)
		}
	})
}

// late is a transport that sends a body when the answer has come already, as net/http may.
type late struct{ bodies []io.Reader }

func (l *late) RoundTrip(r *http.Request) (*http.Response, error) {
	l.bodies = append(l.bodies, r.Body)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

func TestBodiesAreTheirOwn(t *testing.T) {
	upstream := &late{}
	w := newWorld(t, newScripted(t, front.Ollama), func(c *front.Config) { c.Upstream.HTTP = &http.Client{Transport: upstream} })
	for _, word := range []string{"first", "other"} {
		ask(t, "POST", w.url+"/api/embed", `{"model":"m","input":"`+word+`"}`)
	}
	sent, err := io.ReadAll(upstream.bodies[0])
	if err != nil || !strings.Contains(string(sent), "first") {
		t.Errorf("sent %s, %v", sent, err)
	}
}

// A client that begins a call and never goes on is let go.
func TestSlowCall(t *testing.T) {
	for _, test := range []struct{ path, body string }{{"/api/chat", "{"}, {"/api/embed", "{"}} {
		w := newWorld(t, newScripted(t, front.Ollama), func(c *front.Config) { c.Limits.Read = time.Millisecond })
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "POST "+test.path+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"+test.body); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(answer.Body.Close(), conn.Close()); err != nil {
			t.Error(err)
		}
		if answer.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%s: it is told %s", test.path, answer.Status)
		}
	}
}

// away is a store whose errors say more than clients should know.
type away struct {
	store.Store
	gone atomic.Bool
	err  error
}

func (a *away) Update(ctx context.Context, fn func(store.Tx) error) error {
	if a.gone.Load() {
		return a.err
	}
	return a.Store.Update(ctx, fn)
}

func TestErrorsKeepSecrets(t *testing.T) {
	for name, test := range map[string]struct {
		err    error
		status int
		says   string
		again  bool
	}{
		"the store":     {fmt.Errorf("dial postgres://u:hunter2@db: %w", store.ErrUnavailable), 503, "store cannot be reached; try again", true},
		"a full disk":   {fmt.Errorf("/srv/hunter2.db: %w", store.ErrFull), 503, "no space left for the store; make room", false},
		"a lost file":   {fmt.Errorf("%w: /srv/hunter2.db: %w", store.ErrUnknown, store.ErrRemoved), 503, "was removed or replaced while it was in use; put the files back", false},
		"anything else": {errors.New("/srv/hunter2.db: broken"), 500, "internal error", false},
	} {
		t.Run(name, func(t *testing.T) {
			st := &away{Store: openStore(t, filepath.Join(t.TempDir(), "front.db")), err: test.err}
			eng := newEngine(t, st, nil)
			t.Cleanup(func() {
				if err := eng.Close(); err != nil {
					t.Error(err)
				}
			})
			st.gone.Store(true)
			for _, api := range []front.Kind{front.Ollama, front.OpenAI} {
				w := &world{T: t, upstream: newScripted(t, api), engine: eng}
				w.url = serve(t, eng, w.upstream)
				if r := w.talk(api, true).send(user("hi")); r.status != test.status || !strings.Contains(r.failure, test.says) || strings.Contains(r.body, "hunter2") || test.again != (r.header.Get("Retry-After") == "1") {
					t.Errorf("status %d: %s", r.status, r.body)
				}
			}
			st.gone.Store(false)
		})
	}
}
