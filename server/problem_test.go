package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
)

// A body that says it is not packed is not.
func TestABodyAsItIs(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`, "Content-Encoding", "Identity")
}

func TestProblems(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{Limits: server.Limits{Body: 100}})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"there"}`)
	for _, test := range []struct {
		name, method, path string
		body               any
		headers            []string
		want               server.Problem
	}{
		{"no such path", "GET", "/nothing", nil, nil, server.Problem{Status: 404, Type: "not-found", Detail: "there is no /api/v1/nothing; see /api/v1/docs"}},
		{"no such session", "GET", "/sessions/nobody", nil, nil, server.Problem{Status: 404, Type: "not-found", Detail: "session nobody: not found; GET /api/v1/sessions lists those there are"}},
		{"another method", "DELETE", "/sessions", nil, nil, server.Problem{Status: 405, Type: "method", Detail: "/api/v1/sessions does not know DELETE; use GET, HEAD, POST"}},
		{"a session is not deleted", "DELETE", "/sessions/there", nil, nil, server.Problem{Status: 405, Type: "method",
			Detail: "/api/v1/sessions/there does not know DELETE; use GET, HEAD, PATCH; POST …/end ends it, and POST …/forget takes what was said out of it"}},
		{"turns of no session", "POST", "/sessions/nobody/turns", `{"turns":[{"role":"user","text":"x"}]}`, nil, server.Problem{Status: 404, Type: "not-found",
			Detail: "session nobody: not found; add ?create=true to make it"}},
		{"no place of a stream", "GET", "/events", nil, []string{"Accept", "text/event-stream", "Last-Event-ID", "bogus"}, server.Problem{Status: 400, Type: "invalid",
			Field: "Last-Event-ID", Detail: "Last-Event-ID: it is not a cursor; use one that came with an event"}},
		{"no place of a page", "GET", "/events?cursor=bogus", nil, nil, server.Problem{Status: 400, Type: "invalid",
			Field: "cursor", Detail: "cursor: it is not a cursor; use one that came with an event"}},
		{"no place yet of a stream", "GET", "/events", nil, []string{"Accept", "text/event-stream", "Last-Event-ID", "99999"}, server.Problem{Status: 400, Type: "invalid",
			Field: "Last-Event-ID", Detail: "Last-Event-ID: no event has come so far; use one that came with an event"}},
		{"no place yet of a session's stream", "GET", "/sessions/there/events?cursor=99999", nil, []string{"Accept", "text/event-stream"}, server.Problem{Status: 400,
			Type: "invalid", Field: "cursor", Detail: "cursor: no event has come so far; use one that came with an event"}},
		{"no place yet of a page", "GET", "/events?cursor=99999", nil, nil, server.Problem{Status: 400, Type: "invalid",
			Field: "cursor", Detail: "cursor: no event has come so far; use one that came with an event"}},
		{"taken", "POST", "/sessions", `{"session_id":"there"}`, nil, server.Problem{Status: 409, Type: "conflict", Detail: "session there: exists already; use another id, or leave it out to have one made"}},
		{"bad id", "POST", "/sessions", `{"session_id":"a/b"}`, nil, server.Problem{Status: 400, Type: "invalid", Field: "session_id",
			Detail: `session_id: "a/b" holds '/'; use 1 to 128 letters, digits and . _ : -`}},
		{"bad id of a fork", "POST", "/sessions/there/fork", `{"session_id":"a b"}`, nil, server.Problem{Status: 400, Type: "invalid", Field: "session_id",
			Detail: `session_id: "a b" holds ' '; use 1 to 128 letters, digits and . _ : -`}},
		{"no snapshot", "POST", "/sessions/there/restore", `{}`, nil, server.Problem{Status: 400, Type: "invalid", Field: "snapshot", Detail: "snapshot: is required; give it"}},
		{"nothing said", "POST", "/sessions/there/say", `{}`, nil, server.Problem{Status: 400, Type: "invalid", Field: "text", Detail: "text: is empty; give the text that was said"}},
		{"nothing below", "POST", "/sessions/there/prompt", `{"settings":{"tools":[{}]}}`, nil, server.Problem{Status: 400, Type: "invalid",
			Field: "settings.tools[0].name", Detail: "settings.tools[0].name: is required; give it"}},
		{"unknown field", "POST", "/sessions", `{"titel":"x"}`, nil, server.Problem{Status: 400, Type: "invalid", Field: "titel", Detail: "titel: unexpected property; use mode, model, session_id, title, user"}},
		{"another name", "POST", "/sessions/there/say", `{"message":"x"}`, nil, server.Problem{Status: 400, Type: "invalid", Field: "message",
			Detail: "message: unexpected property; use context, late, model, parts, settings, text"}},
		{"given twice", "POST", "/sessions", ` {"title":"x","title":"y"}`, nil, server.Problem{Status: 400, Type: "invalid", Field: "body",
			Detail: `body: offset 13: member "title" appears twice; send one JSON object, as /api/v1/docs describes it`}},
		{"given twice below", "POST", "/sessions/there/prompt", `{"settings":{"system":"x","system":"y"}}`, nil, server.Problem{Status: 400, Type: "invalid", Field: "body",
			Detail: `body: offset 14: member "system" appears twice; send one JSON object, as /api/v1/docs describes it`}},
		{"something behind it", "POST", "/sessions", `{} {}`, nil, server.Problem{Status: 400, Type: "invalid", Field: "body",
			Detail: "body: invalid character '{' after top-level value; send one JSON object, as /api/v1/docs describes it"}},
		{"packed", "POST", "/sessions", "\x1f\x8b", []string{"Content-Encoding", "gzip"}, server.Problem{Status: 415, Type: "media-type",
			Detail: `content-encoding: "gzip" is not known here; send the body as it is`}},
		{"wrong type", "POST", "/sessions", `{"title":7}`, nil, server.Problem{Status: 400, Type: "invalid", Field: "title", Detail: "title: expected string; give a text in quotes"}},
		{"no JSON", "POST", "/sessions", `{"title":`, nil, server.Problem{Status: 400, Type: "invalid", Field: "body", Detail: "body: unexpected end of JSON input; send one JSON object, as /api/v1/docs describes it"}},
		{"no body", "POST", "/sessions", ``, nil, server.Problem{Status: 400, Type: "invalid", Detail: "request body is required; send one"}},
		{"too large", "POST", "/sessions", `{"title":"` + strings.Repeat("x", 89) + `"}`, nil, server.Problem{Status: 413, Type: "too-large", Detail: "the body is larger than 100 bytes, the most that is taken here; serve with a larger --max-body"}},
		{"not JSON", "POST", "/sessions", `title=x`, []string{"Content-Type", "application/x-www-form-urlencoded"}, server.Problem{Status: 415, Type: "media-type",
			Detail: `content-type: "application/x-www-form-urlencoded" is not known here; send application/json`}},
		{"bad number", "GET", "/sessions?limit=x", nil, nil, server.Problem{Status: 400, Type: "invalid", Field: "limit", Detail: "limit: invalid integer; give a whole number such as 10"}},
		{"no time", "GET", "/sessions/there/turns?since=yesterday", nil, nil, server.Problem{Status: 400, Type: "invalid", Field: "since", Detail: "since: is not a time; use one such as 2006-01-02T15:04:05Z"}},
		{"too many", "GET", "/sessions?limit=1001", nil, nil, server.Problem{Status: 400, Type: "invalid", Field: "limit", Detail: "limit: expected number <= 1000; give 1000 or less"}},
		{"unknown parameter", "GET", "/sessions?limt=1", nil, nil, server.Problem{Status: 400, Type: "invalid", Field: "limt", Detail: "limt: unknown query parameter; use cursor, limit, user, status, idle_minutes"}},
		{"a parameter twice", "GET", "/sessions?limit=1&limit=2", nil, nil, server.Problem{Status: 400, Type: "invalid", Field: "limit", Detail: "limit: is given twice; give it once"}},
		{"no query", "GET", "/sessions?user=%zz", nil, nil, server.Problem{Status: 400, Type: "invalid", Detail: "query: invalid URL escape \"%zz\"; write what is no letter or digit as % and two digits"}},
		{"two queries", "GET", "/sessions?user=a;limit=1", nil, nil, server.Problem{Status: 400, Type: "invalid",
			Detail: "query: invalid semicolon separator in query; write what is no letter or digit as % and two digits"}},
		{"a body of nothing", "POST", "/sessions/there/end", `{"bundle":false}`, nil, server.Problem{Status: 400, Type: "invalid", Field: "bundle",
			Detail: "bundle: unexpected property; send no body"}},
		{"no JSON where there is nothing", "POST", "/sessions/there/end", `x`, nil, server.Problem{Status: 400, Type: "invalid", Field: "body",
			Detail: "body: offset 0: expected an object, found 'x'; send none"}},
		{"too large for nothing", "POST", "/sessions/there/end", `{` + strings.Repeat(" ", 100) + `}`, nil, server.Problem{Status: 413, Type: "too-large",
			Detail: "the body is larger than 100 bytes, the most that is taken here; serve with a larger --max-body"}},
		{"two cursors", "GET", "/exports?cursor=a&after=b", nil, nil, server.Problem{Status: 400, Type: "invalid", Field: "after", Detail: "after: is given beside cursor; give one of them"}},
		{"place of nothing", "GET", "/exports?after=abc", nil, nil, server.Problem{Status: 400, Type: "invalid", Field: "after", Detail: "after: is none of this list; give the next of the page before"}},
		{"cursor of nothing", "GET", "/sessions?cursor=abc", nil, nil, server.Problem{Status: 400, Type: "invalid", Field: "cursor", Detail: "cursor: is none of this list; give the next of the page before"}},
		{"another host", "GET", "/sessions", nil, []string{"Host", "evil.example:80"}, server.Problem{Status: 403, Type: "forbidden",
			Detail: "host evil.example:80 is not this machine; ask for it by localhost or its address, or use keys"}},
		{"another origin", "POST", "/sessions", `{}`, []string{"Origin", "https://evil.example"}, server.Problem{Status: 403, Type: "forbidden",
			Detail: "the request comes from a page of another origin, https://evil.example; let its pages ask with: serve --cors-origin https://evil.example"}},
		{"whether a page of another origin may", "OPTIONS", "/sessions", nil, []string{"Origin", "https://evil.example", "Access-Control-Request-Method", "POST"}, server.Problem{Status: 403, Type: "forbidden",
			Detail: "the request comes from a page of another origin, https://evil.example; let its pages ask with: serve --cors-origin https://evil.example"}},
		{"a page of no origin", "POST", "/sessions", `{}`, []string{"Origin", "null"}, server.Problem{Status: 403, Type: "forbidden",
			Detail: "the request comes from a page of another origin, and not of one that can be let ask; serve the page over HTTP, and let it ask with: serve --cors-origin ORIGIN"}},
		{"an explanation in a format", "GET", "/sessions/there/prompt?format=ollama&explain=true", nil, nil, server.Problem{Status: 400, Type: "invalid", Field: "explain",
			Detail: "explain: is given beside format ollama; give one of them"}},
		{"a new explanation in a format", "POST", "/sessions/there/prompt?format=text&explain=true", `{}`, nil, server.Problem{Status: 400, Type: "invalid", Field: "explain",
			Detail: "explain: is given beside format text; give one of them"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := c.do(test.method, test.path, test.body, append(test.headers, "X-Request-Id", "mine")...)
			var told server.Problem
			if err := json.Unmarshal([]byte(got.body), &told); err != nil {
				t.Fatal(err, got.body)
			}
			path, _, _ := strings.Cut(test.path, "?")
			test.want.Type = "/api/v1/docs#" + test.want.Type
			test.want.Instance, test.want.RequestID = "/api/v1"+path, "mine"
			if diff := cmp.Diff(test.want, told, cmpopts.IgnoreFields(server.Problem{}, "Title")); diff != "" || told.Title == "" {
				t.Error(diff)
			}
			if got.status != told.Status || got.header.Get("Content-Type") != "application/problem+json" || got.header.Get("X-Request-Id") != "mine" {
				t.Errorf("%d %v", got.status, got.header)
			}
		})
	}
}

func TestBodyOfExactlyTheLimit(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{Limits: server.Limits{Body: 100}})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"title":"`+strings.Repeat("x", 88)+`"}`)
}

func TestTooLargeNamesItsFlag(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{Limits: server.Limits{Turns: 10, Bundle: 10}})
	for _, test := range []struct{ path, media, flag string }{
		{"/sessions/s/turns", "application/json", "--max-append"},
		{"/bundles", "application/octet-stream", "--max-bundle"},
	} {
		got := c.want(http.StatusRequestEntityTooLarge, nil, "POST", test.path, strings.Repeat("x", 11), "Content-Type", test.media)
		if !strings.Contains(got.body, "larger than 10 bytes, the most that is taken here; serve with a larger "+test.flag) {
			t.Errorf("%s: %s", test.path, got.body)
		}
	}
}

// Somebody who finds a session busy is told when to come again.
func TestBusySaysWhenToComeAgain(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	c := serve(t, eng, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"there"}`)
	s, err := eng.Session(t.Context(), "there")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := c.do("POST", "/sessions/there/end", `{}`)
	if got.status != http.StatusLocked || got.header.Get("Retry-After") != "1" || !strings.Contains(got.body, `"retry_after":1`) {
		t.Error(got.status, got.header, got.body)
	}
}
