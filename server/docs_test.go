package server_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
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
