package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/server"
)

// doorman knows callers by secrets that are words.
type doorman map[string]access.Caller

func (d doorman) Identify(_ context.Context, secret string) (access.Caller, error) {
	caller, ok := d[secret]
	if !ok {
		return access.Caller{}, fmt.Errorf("identify: %w", access.ErrUnknownKey)
	}
	return caller, nil
}

func scopes(t *testing.T, list ...access.Scope) access.Scopes {
	t.Helper()
	set, err := access.ScopesOf(list...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestGuard(t *testing.T) {
	tell := func(w http.ResponseWriter, r *http.Request) {
		id := "nobody"
		if eng := server.EngineOf(r.Context()); eng != nil {
			s, err := eng.Session(r.Context(), "of-"+server.RecordOf(r.Context()).Caller.Tenant)
			if err != nil {
				t.Error(err)
				return
			}
			id = s.ID()
		}
		fmt.Fprint(w, id)
	}
	c := start(t, turnstone.Config{}, server.Config{
		Guard: doorman{
			"reader": {Key: "r", Tenant: "one", Scopes: scopes(t, access.Read)},
			"writer": {Key: "w", Tenant: "one", Scopes: scopes(t, access.Write)},
			"other":  {Key: "o", Tenant: "two", Scopes: access.Everything()},
		},
		Front: http.HandlerFunc(tell), MCP: http.HandlerFunc(tell),
		Open: map[string]http.Handler{"GET /healthz": http.HandlerFunc(tell)},
		Refuse: func(w http.ResponseWriter, _ *http.Request, status int, detail string) {
			w.WriteHeader(status)
			fmt.Fprint(w, "front: ", detail)
		},
	})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"mine"}`, "Authorization", "Bearer writer")
	for _, test := range []struct {
		method, path, auth string
		status             int
		says               string
	}{
		{"GET", "/sessions/mine", "Bearer reader", 200, `"tenant":"one"`},
		{"GET", "/sessions/mine", "bearer   reader ", 200, `"tenant":"one"`},
		{"GET", "/sessions/mine", "Bearer other", 404, "session mine: not found"},
		{"GET", "/sessions/none", "Bearer other", 404, "session none: not found"},
		{"GET", "/sessions/mine", "Bearer writer", 403, "the key has the scopes write; this needs read"},
		{"POST", "/sessions", "Bearer reader", 403, "the key has the scopes read; this needs write"},
		{"GET", "/sessions/mine", "", 401, "no key that is known was shown"},
		{"GET", "/sessions/mine", "Basic reader", 401, "no key that is known was shown"},
		{"GET", "/sessions/mine", "Bearer guess", 401, "no key that is known was shown"},
		{"GET", "/docs", "", 200, "<title>Turnstone API</title>"},
		{"GET", "/openapi.json", "Bearer guess", 200, `"openapi": "3.1.0"`},
		{"GET", "/", "", 200, "<title>Turnstone API</title>"},
		{"POST", "/docs", "", 405, "/api/v1/docs does not know POST; use GET, HEAD"},
		{"GET", "/nothing", "", 401, "no key that is known was shown"},
		{"GET", "/../../healthz", "", 200, "nobody"},
		{"GET", "/../../mcp", "Bearer reader", 200, "of-one"},
		{"GET", "/../../mcp", "Bearer writer", 403, "this needs read"},
		{"GET", "/../../mcp", "", 401, `"type":"/api/v1/docs#unauthorized"`},
		{"GET", "/../tags", "Bearer writer", 200, "of-one"},
		{"GET", "/../../v1/models", "Bearer other", 200, "of-two"},
		{"GET", "/../../", "Bearer other", 200, "of-two"},
		{"GET", "/../tags", "Bearer reader", 403, "front: the key has"},
		{"GET", "/../../v1/models", "", 401, "front: no key"},
	} {
		t.Run(test.path+" "+test.auth, func(t *testing.T) {
			got := c.do(test.method, test.path, nil, "Authorization", test.auth, "Host", "turnstone.example", "Origin", "https://else.example")
			if got.status != test.status || !strings.Contains(got.body, test.says) {
				t.Errorf("%d %s", got.status, got.body)
			}
			if asks := got.header.Get("WWW-Authenticate"); (asks != "") != (test.status == 401) {
				t.Errorf("asks for %q", asks)
			}
		})
	}
}

func TestRateOfEachKey(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{
		Guard: doorman{
			"fast": {Key: "f", Tenant: "one", Scopes: access.Everything()},
			"slow": {Key: "s", Tenant: "one", Scopes: access.Everything()},
		},
		Limits: server.Limits{Rate: 0.001, Burst: 2},
	})
	for range 2 {
		c.want(http.StatusOK, nil, "GET", "/sessions", nil, "Authorization", "Bearer fast")
	}
	got := c.want(http.StatusTooManyRequests, nil, "GET", "/sessions", nil, "Authorization", "Bearer fast")
	if got.header.Get("Retry-After") != "1000" || !strings.Contains(got.body, "the key may ask 0.001 times a second") {
		t.Errorf("%v %s", got.header, got.body)
	}
	c.want(http.StatusOK, nil, "GET", "/sessions", nil, "Authorization", "Bearer slow")
}

// asked counts who is looked for.
type asked struct {
	doorman
	times atomic.Int64
}

func (a *asked) Identify(ctx context.Context, secret string) (access.Caller, error) {
	a.times.Add(1)
	return a.doorman.Identify(ctx, secret)
}

// Whoever shows key after key that nobody knows is not listened to any more after a while. Keys that were good before
// still are, also from there.
func TestStrangers(t *testing.T) {
	secret := func(n int) string {
		made, _, err := access.New(fmt.Sprintf("01JAAAAAAAAAAAAAAAAAAAAA%02d", n), "one", "", access.Everything(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	good := secret(0)
	guard := &asked{doorman: doorman{good: {Key: "g", Tenant: "one", Scopes: access.Everything()}}}
	c := start(t, turnstone.Config{}, server.Config{Guard: guard, Limits: server.Limits{Strangers: 0.001}})
	ask := func(secret string) (got reply, looked bool) {
		before := guard.times.Load()
		got = c.do("GET", "/sessions", nil, "Authorization", "Bearer "+secret)
		return got, guard.times.Load() > before
	}
	for _, test := range []struct {
		name, secret string
		status       int
		looked       bool
	}{
		{"a good one", good, http.StatusOK, true},
		{"what is no key", "sesame", http.StatusUnauthorized, true},
		{"one that nobody knows", secret(10), http.StatusUnauthorized, true},
		{"one too many", secret(11), http.StatusTooManyRequests, false},
		{"again", secret(11), http.StatusTooManyRequests, false},
		{"what is no key, which costs nothing", "sesame", http.StatusUnauthorized, true},
		{"what was good before", good, http.StatusOK, true},
	} {
		got, looked := ask(test.secret)
		if got.status != test.status || looked != test.looked {
			t.Errorf("%s: %d %s, looked for %v", test.name, got.status, got.body, looked)
		}
		if wait := got.header.Get("Retry-After"); (wait == "1000") != (test.status == http.StatusTooManyRequests) {
			t.Errorf("%s: Retry-After %q", test.name, wait)
		}
	}
}

// Who mistook a key, or shows one for a neighbour of somebody who did, is still listened to.
func TestAGoodKeyAfterAWrongOne(t *testing.T) {
	good := "ts_01jaaaaaaaaaaaaaaaaaaaaa00_" + strings.Repeat("a", 52)
	wrong := strings.Replace(good, "00_", "11_", 1)
	guard := doorman{good: {Key: "g", Tenant: "one", Scopes: access.Everything()}}
	c := start(t, turnstone.Config{}, server.Config{Guard: guard})
	c.want(http.StatusUnauthorized, nil, "GET", "/sessions", nil, "Authorization", "Bearer "+wrong)
	c.want(http.StatusOK, nil, "GET", "/sessions", nil, "Authorization", "Bearer "+good)
}

// Without keys only names of this machine lead to it, also to what is open to everybody: a page may have another that
// does.
func TestNamesOfThisMachine(t *testing.T) {
	open := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	c := start(t, turnstone.Config{}, server.Config{Front: open, MCP: open, Open: map[string]http.Handler{"GET /metrics": open}})
	for host, status := range map[string]int{
		"localhost": 200, "localhost:7411": 200, "127.0.0.1": 200, "[::1]:7411": 200, "box.localhost": 200,
		"LOCALHOST": 200, "LocalHost:7411": 200, "localhost.": 200, "localhost.:7411": 200, "Box.LOCALHOST.:80": 200, "localhost:": 200,
		"[::1]": 200, "[0:0:0:0:0:0:0:1]:7411": 200, "[::FFFF:127.0.0.1]:7411": 200, "127.0.0.1:7411": 200,
		"evil.example": 403, "192.168.1.7": 403, "localhost.evil.example": 403, "EVIL.example.": 403, "localhost.evil.example:80": 403,
		"[::2]:7411": 403, "[fe80::1]": 403, "evillocalhost": 403, "localhost..": 403, "localhost:80:80": 403, ".": 403,
	} {
		for _, path := range []string{"/sessions", "/../../metrics", "/../../mcp", "/../tags"} {
			if got := c.do("GET", path, nil, "Host", host); got.status != status {
				t.Errorf("%s at %q: %d, want %d: %s", path, host, got.status, status, got.body)
			}
		}
	}
}

// Pages of other origins are told nothing by any route: no header lets them read an answer, and nobody is told that it
// may ask.
func TestNoCrossOrigin(t *testing.T) {
	open := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for name, config := range map[string]server.Config{
		"without keys": {},
		"with keys":    {Guard: doorman{"k": {Key: "k", Tenant: "one", Scopes: access.Everything()}}},
	} {
		t.Run(name, func(t *testing.T) {
			config.Front, config.MCP, config.Open = open, open, map[string]http.Handler{"GET /healthz": open}
			c := start(t, turnstone.Config{}, config)
			paths := []string{"/docs", "/openapi.json", "/nothing", "/../chat", "/../../v1/models", "/../../mcp", "/../../healthz", "/../../"}
			for _, op := range c.doc.operations() {
				target, body, headers := c.doc.request(op.path, op.operation, missing)
				paths = append(paths, target)
				if op.ID == "say" {
					continue
				}
				headers = append(headers, "Origin", "https://else.example", "Authorization", "Bearer k", "Sec-Fetch-Site", "cross-site")
				c.shut(op.method, target, body, headers...)
			}
			for _, path := range paths {
				got := c.shut("OPTIONS", path, nil, "Origin", "https://else.example", "Access-Control-Request-Method", "POST",
					"Access-Control-Request-Headers", "authorization,content-type", "Sec-Fetch-Site", "cross-site")
				if ours := !strings.HasPrefix(path, "/.."); ours && got.status < 400 {
					t.Errorf("OPTIONS %s: %d", path, got.status)
				}
			}
		})
	}
}

// shut is do for an answer that lets no other origin in.
func (c *client) shut(method, path string, body any, headers ...string) reply {
	c.t.Helper()
	got := c.do(method, path, body, headers...)
	for name := range got.header {
		if strings.HasPrefix(name, "Access-Control-") {
			c.t.Errorf("%s %s: %s: %s", method, path, name, got.header.Get(name))
		}
	}
	return got
}
