package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// holding is a store that keeps the first update of one request waiting.
type holding struct {
	store.Store
	id      string
	once    sync.Once
	entered chan struct{}
	leave   chan struct{}
}

func (h *holding) Update(ctx context.Context, fn func(store.Tx) error) error {
	if server.RecordOf(ctx).ID == h.id {
		h.once.Do(func() {
			close(h.entered)
			<-h.leave
		})
	}
	return h.Store.Update(ctx, fn)
}

// The bodies of all requests under way have so much room together. Who has none is told so, and to try again; when there
// is room again, it is let in.
func TestRoomForBodies(t *testing.T) {
	db := &holding{Store: newStore(t, t.TempDir(), sqlite.Config{}), id: "held", entered: make(chan struct{}), leave: make(chan struct{})}
	eng := openedOn(t, db, turnstone.Config{})
	swallow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			w.Header().Set("Content-Length", "7")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, "garbage")
		}
	})
	c := serve(t, eng, server.Config{
		Limits: server.Limits{Body: 1 << 20, Turns: 1 << 20, Bodies: 1 << 20}, MCP: swallow, Front: swallow,
		Refuse: func(w http.ResponseWriter, _ *http.Request, status int, detail string) {
			w.WriteHeader(status)
			fmt.Fprint(w, "front: ", detail)
		},
	})
	turn := fmt.Sprintf(`{"turns":[{"role":"user","text":%q}]}`, strings.Repeat("x", 600<<10))
	answered := make(chan int, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), "POST", c.base+"/api/v1/sessions/s/turns?create=true", strings.NewReader(turn))
		if err != nil {
			t.Error(err)
			return
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Request-Id", db.id)
		answer, err := c.http.Do(r)
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		answered <- answer.StatusCode
		if err := answer.Body.Close(); err != nil {
			t.Error(err)
		}
	}()
	<-db.entered
	for _, test := range []struct {
		path, says string
		chunked    bool
	}{
		{"/api/v1/sessions/t/turns?create=true", `"type":"/api/v1/docs#unavailable"`, false},
		{"/api/v1/sessions/t/turns?create=true", `"type":"/api/v1/docs#unavailable"`, true},
		{"/mcp", `"type":"/api/v1/docs#unavailable"`, false},
		{"/mcp", `"type":"/api/v1/docs#unavailable"`, true},
		{"/api/chat", "front: the requests under way take all the memory", false},
		{"/api/chat", "front: the requests under way take all the memory", true},
	} {
		body := io.Reader(strings.NewReader(turn))
		if test.chunked {
			body = io.MultiReader(body) // of which nobody knows the length
		}
		answer, err := c.http.Post(c.base+test.path, "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		told, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Error(err)
		}
		if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") != "1" || !strings.Contains(string(told), test.says) || strings.Contains(string(told), "garbage") {
			t.Errorf("%+v: %s %v: %s", test, answer.Status, answer.Header, told)
		}
		if err := answer.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	// Who is refused takes nothing of it, however often.
	for range 40 {
		answer, err := c.http.Post(c.base+"/mcp", "application/json", io.MultiReader(strings.NewReader(turn)))
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s, %v", answer.Status, err)
		}
	}
	// What is small has room, and what is not kept in memory takes none.
	c.admitted("/sessions", `{"session_id":"small"}`)
	c.want(http.StatusUnprocessableEntity, nil, "POST", "/bundles", turn, "Content-Type", octets)
	close(db.leave)
	if status := <-answered; status != http.StatusCreated {
		t.Errorf("what was there first is answered with %d", status)
	}
	c.admitted("/sessions/t/turns?create=true", turn)
}

// admitted posts until there is room: a request before gives its room back after its client was answered.
func (c *client) admitted(path, body string) {
	c.t.Helper()
	status := http.StatusServiceUnavailable
	for status == http.StatusServiceUnavailable {
		answer, err := c.http.Post(c.base+"/api/v1"+path, "application/json", strings.NewReader(body))
		if err != nil {
			c.t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil {
			c.t.Error(err)
		}
		status = answer.StatusCode
	}
	if status != http.StatusCreated {
		c.t.Errorf("%s is answered with %d", path, status)
	}
}

// What is sent to be imported and cannot be put anywhere is not the client's fault.
func TestNowhereToPutABundle(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	got := c.want(http.StatusServiceUnavailable, nil, "POST", "/bundles", "{}", "Content-Type", octets)
	if strings.Contains(got.body, os.Getenv("TMPDIR")) {
		t.Error(got.body)
	}
}
