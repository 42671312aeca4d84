package server_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
)

func TestDocumentIsServedWithAPage(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{Version: "v1.2.3"})
	got := c.want(http.StatusOK, nil, "GET", "/openapi.json", nil)
	var doc struct {
		document
		Info struct{ Version string }
	}
	if err := json.Unmarshal([]byte(got.body), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "v1.2.3" || len(doc.Paths) != len(c.doc.Paths) || doc.Components.Schemas["ErrorModel"] != nil {
		t.Errorf("%s %s, %d paths", doc.OpenAPI, doc.Info.Version, len(doc.Paths))
	}
	page := c.want(http.StatusOK, nil, "GET", "/docs", nil)
	if page.header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(page.body, `fetch("openapi.json")`) {
		t.Errorf("%v", page.header)
	}
	for _, row := range []string{`<tr id="invalid"><td>400</td><td><code>/api/v1/docs#invalid</code></td><td>The input is not as it must be</td>`, `<tr id="rate"><td>429</td>`} {
		if !strings.Contains(page.body, row) {
			t.Errorf("the page has no %s", row)
		}
	}
	if elsewhere := regexp.MustCompile(`(?:src|href)="?(?:https?:)?//`).FindString(page.body); elsewhere != "" {
		t.Errorf("the page loads from elsewhere: %s", elsewhere)
	}
	for _, path := range []string{"/../../", "/", ""} {
		if got := c.do("GET", path, nil); got.status != http.StatusOK || got.body != page.body {
			t.Errorf("%q leads to %d", path, got.status)
		}
	}
}

// What a server is made of changes no word of its document but the version: clients are written for all servers at once.
func TestTheDocumentIsThatOfEveryServer(t *testing.T) {
	bare, err := server.New(server.Config{Engine: opened(t, turnstone.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(bare.Document())
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.Respond(func(llm.Request) llmtest.Reply { return llmtest.Reply{Text: "Yes."} })
	eng, answers := opened(t, turnstone.Config{Model: model}), http.NotFoundHandler()
	full, err := server.New(server.Config{
		Engine: eng, Guard: eng, Front: answers, MCP: answers, Open: map[string]http.Handler{"GET /healthz": answers},
		Observe: func(inner http.Handler) http.Handler { return inner },
		Model:   func(string) llm.Model { return model }, ModelName: "small", EndIdle: time.Hour,
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Origins: []string{server.AnyOrigin},
		Limits: server.Limits{Body: 1 << 10, Turns: 1 << 11, Bundle: 1 << 12, Bodies: 1 << 13, Answer: time.Second, Rate: 1, Strangers: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(full.Document())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("documents of %d and %d bytes", len(got), len(want))
	}
}

func TestEveryOperationIsDescribed(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	ids, page := map[string]string{}, c.want(http.StatusOK, nil, "GET", "/docs", nil).body
	for path, methods := range c.doc.Paths {
		for method, op := range methods {
			if op.Summary == "" || op.ID == "" || ids[op.ID] != "" {
				t.Errorf("%s %s: id %q, also of %s, summary %q", method, path, op.ID, ids[op.ID], op.Summary)
			}
			if ids[op.ID] = path; strings.Contains(page, `id="`+op.ID+`"`) {
				t.Errorf("%s is also an anchor of the page", op.ID)
			}
			if _, ok := op.Responses["default"]; !ok || len(op.Responses) < 2 {
				t.Errorf("%s %s: answers are missing", method, path)
			}
		}
	}
}

// The document says what everything in it is, and shows a body for every request that has one, which is taken.
func TestTheDocumentExplainsItself(t *testing.T) {
	s, err := server.New(server.Config{Engine: opened(t, turnstone.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	for name, schema := range s.Document().Components.Schemas.Map() {
		for property, of := range schema.Properties {
			if of.Description == "" && of.Ref == "" {
				t.Errorf("%s.%s is not described", name, property)
			}
		}
	}
	c := start(t, turnstone.Config{Model: llmtest.Respond(func(llm.Request) llmtest.Reply { return llmtest.Reply{Text: "Yes."} })}, server.Config{})
	for _, path := range slices.Sorted(maps.Keys(s.Document().Paths)) {
		item := s.Document().Paths[path]
		for method, op := range map[string]*huma.Operation{"POST": item.Post, "PUT": item.Put, "PATCH": item.Patch} {
			if op == nil {
				continue
			}
			if op.Description == "" && op.Summary == "" {
				t.Errorf("%s %s is not described", method, path)
			}
			if op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
				continue
			}
			shown, ok := op.RequestBody.Content["application/json"].Example.(json.RawMessage)
			if !ok {
				t.Errorf("%s %s has no example (%s)", method, path, op.OperationID)
				continue
			}
			c.do("POST", "/sessions/known/turns?create=true", `{"turns":[{"role":"user","text":"Hello"}]}`)
			target := strings.NewReplacer("{session}", "known", "{goal}", "none", "{action}", "none", "{slot}", "city").Replace(path)
			if got := c.do(method, target, string(shown)); got.status == http.StatusBadRequest || got.status >= 500 {
				t.Errorf("%s %s: %d %s", method, path, got.status, got.body)
			}
		}
	}
}

// What an exchange may hold is described as it is read, however deep it stands.
func TestTheDocumentDescribesExchanges(t *testing.T) {
	s, err := server.New(server.Config{Engine: opened(t, turnstone.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, turnstone.Config{}, server.Config{})
	schemas := s.Document().Components.Schemas.Map()
	for _, test := range []struct{ schema, body string }{
		{"Exchange", `{"zz":1}`}, {"DaemonOutput", `{"daemon_outputs":[{"zz":1}]}`},
		{"Draft", `{"turns":[{"zz":1}]}`},
		{"Candidate", `{"candidates":[{"zz":1}]}`}, {"Links", `{"candidates":[{"links":{"zz":1}}]}`}, {"Given", `{"candidates":[{"inputs":{"zz":1}}]}`},
		{"Changes", `{"intentions":{"zz":1}}`}, {"ActionChange", `{"intentions":{"actions":[{"zz":1}]}}`},
		{"GoalChange", `{"intentions":{"goals":[{"zz":1}]}}`}, {"DecisionChange", `{"intentions":{"goals":[{"set_decisions":[{"zz":1}]}]}}`},
		{"Milestone", `{"intentions":{"goals":[{"add_milestones":[{"zz":1}]}]}}`}, {"Decision", `{"intentions":{"goals":[{"add_decisions":[{"zz":1}]}]}}`},
		{"Artifact", `{"intentions":{"goals":[{"add_artifacts":[{"zz":1}]}]}}`},
		{"NoteChanges", `{"scratch":{"zz":1}}`}, {"NoteChange", `{"scratch":{"put":[{"zz":1}]}}`},
	} {
		var told server.Problem
		c.want(http.StatusBadRequest, &told, "POST", "/sessions/a/commit", test.body)
		_, legal, _ := strings.Cut(told.Detail, "legal here: ")
		want := slices.Sorted(slices.Values(strings.Split(legal, ", ")))
		if got := slices.Sorted(maps.Keys(schemas[test.schema].Properties)); !slices.Equal(got, want) {
			t.Errorf("%s has %q, and %s is told %q", test.schema, got, test.body, told.Detail)
		}
	}
}

// A name that is not known is refused with those that are, however deep it stands.
func TestUnknownNamesAreToldTheKnown(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	for _, test := range []struct{ path, body, says string }{
		{"/sessions", `{"titel":"x"}`, "use mode, model, session_id, title, user"},
		{"/sessions/s/prompt", `{"settings":{"sytem":"x"}}`, "use checks, mandates, skills, sticky, system, tools"},
		{"/sessions/s/prompt", `{"settings":{"tools":[{"name":"a","descripton":"x"}]}}`, "use description, name, schema"},
		{"/sessions/s/turns", `{"turns":[{"role":"user","txt":"x"}]}`, "text"},
	} {
		if got := c.want(http.StatusBadRequest, nil, "POST", test.path, test.body); !strings.Contains(got.body, test.says) {
			t.Errorf("%s: %s", test.body, got.body)
		}
	}
}
