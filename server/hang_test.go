package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// unasked are operations that do not need the store for what they are sent here, and those that may take as long as they
// like.
var unasked = []string{"say", "importBundle", "importHistory", "followUp", "listModels"}

// The database stops answering without a word, its connections still open. Every request ends in its time with a problem
// that says so, and when the database goes on, so does the server.
func TestADatabaseThatHangs(t *testing.T) {
	address, err := url.Parse(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	way := newLine(t, address.Host)
	address.Host = way.addr
	st, err := postgres.Open(t.Context(), address.String(), postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	eng := openedOn(t, st, turnstone.Config{})
	c := serve(t, eng, server.Config{})
	hasty := serve(t, eng, server.Config{Limits: server.Limits{Answer: 200 * time.Millisecond}})
	guarded := serve(t, eng, server.Config{Guard: eng, Limits: server.Limits{Answer: 200 * time.Millisecond}})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"nobodys"}`)
	secret, _, err := eng.CreateKey(t.Context(), "", access.Everything())
	if err != nil {
		t.Fatal(err)
	}

	way.flow.Lock()
	var asked sync.WaitGroup
	for _, op := range c.doc.operations() {
		if slices.Contains(unasked, op.ID) {
			continue
		}
		target, body, headers := c.doc.request(op.path, op.operation, missing)
		asked.Go(func() { hasty.hangs(op.method, target, body, headers) })
	}
	asked.Go(func() { guarded.hangs("GET", "/sessions", nil, []string{"Authorization", "Bearer " + secret}) })
	asked.Wait()
	way.flow.Unlock()

	c.want(http.StatusOK, nil, "GET", "/sessions/nobodys", nil)
	c.want(http.StatusCreated, nil, "POST", "/sessions/nobodys/turns", `{"turns":[{"role":"user","text":"Hello"}]}`)
}

// hangs asks for what the store cannot answer now. It may run beside the test.
func (c *client) hangs(method, path string, body any, headers []string) {
	text, isText := body.(string)
	if body != nil && !isText {
		made, err := json.Marshal(body)
		if err != nil {
			c.t.Error(err)
		}
		text = string(made)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.base+"/api/v1"+path, bytes.NewReader([]byte(text)))
	if err != nil {
		c.t.Error(err)
		return
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := c.http.Do(r)
	if err != nil {
		c.t.Error(err)
		return
	}
	told, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		c.t.Error(err)
	case answer.StatusCode != http.StatusServiceUnavailable && answer.StatusCode != http.StatusGatewayTimeout,
		!strings.Contains(string(told), "/api/v1/docs#"):
		c.t.Errorf("%s %s: %s %s", method, path, answer.Status, told)
	}
	if err := answer.Body.Close(); err != nil {
		c.t.Error(err)
	}
}
