package server_test

import (
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/turn"
)

// planted is what nobody but its tenant may ever see.
const planted = "xyzzy-planted-4711"

// twoTenants serves two tenants, of which one has planted something of everything. Names are the real ids of that, by
// the parameters of paths that name them.
func twoTenants(t *testing.T) (c *client, names map[string]string) {
	t.Helper()
	eng := opened(t, turnstone.Config{})
	c = serve(t, eng, server.Config{Guard: doorman{
		"owner":  {Key: "o", Tenant: "one", Scopes: access.Everything()},
		"reader": {Key: "r", Tenant: "one", Scopes: scopes(t, access.Read)},
		"writer": {Key: "w", Tenant: "one", Scopes: scopes(t, access.Write)},
		"other":  {Key: "x", Tenant: "two", Scopes: access.Everything()},
	}})
	one, err := eng.ForTenant("one")
	if err != nil {
		t.Fatal(err)
	}
	done := committed(t, one, "theirs", "The word is "+planted+".", "It is "+planted+".", "the word is "+planted)
	chat, err := one.Find(t.Context(), "theirs")
	if err != nil {
		t.Fatal(err)
	}
	picture, err := chat.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Image{
		MediaType: "image/png", Alt: planted, Blob: turn.Blob{Data: []byte(planted)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	blob, _ := turn.BlobOf(picture[0].Content)
	snap(t, one, "theirs", planted)
	_, key, err := one.CreateKey(t.Context(), planted, access.Everything())
	if err != nil {
		t.Fatal(err)
	}
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	owner := []string{"Authorization", "Bearer owner"}
	c.want(http.StatusOK, nil, "POST", "/sessions/theirs/goals", `{"id":"their-goal","title":"`+planted+`"}`, owner...)
	c.want(http.StatusOK, nil, "POST", "/sessions/theirs/actions", `{"id":"their-action","title":"`+planted+`"}`, owner...)
	c.want(http.StatusOK, nil, "POST", "/sessions/theirs/scratch", `{"put":[{"id":"their-note","type":"note","content":"`+planted+`"}]}`, owner...)
	var items memoryPage
	c.want(http.StatusOK, &items, "GET", "/memory", nil, owner...)
	snapshots, err := chat.Snapshots(t.Context(), "", 1)
	if err != nil || len(snapshots) == 0 || len(items.Items) == 0 {
		t.Fatalf("%d snapshots, %d items, %v", len(snapshots), len(items.Items), err)
	}
	return c, map[string]string{
		"session": "theirs", "goal": "their-goal", "action": "their-action", "item": items.Items[0].ID, "export": done.ExportID,
		"turn": done.TurnID, "key": key.ID, "sha256": blob.SHA256, "snapshot": snapshots[0].ID, "format": "lines",
	}
}

// missing are names that nobody has.
var missing = map[string]string{
	"session": "nobodys", "goal": "no-goal", "action": "no-action", "item": "01JAAAAAAAAAAAAAAAAAAAAAAA", "export": "01JBBBBBBBBBBBBBBBBBBBBBBB",
	"turn": "01JCCCCCCCCCCCCCCCCCCCCCCC", "key": "01JEEEEEEEEEEEEEEEEEEEEEEE", "sha256": strings.Repeat("0", 64), "snapshot": "01JDDDDDDDDDDDDDDDDDDDDDDD", "format": "lines",
}

// endpoint is an operation and how it is reached.
type endpoint struct {
	method, path string
	operation
}

// operations are all of the document, in one order.
func (d *document) operations() (all []endpoint) {
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			all = append(all, endpoint{strings.ToUpper(method), path, d.Paths[path][method]})
		}
	}
	return all
}

// bodies are requests of operations that take more than their schema says, by the id of the operation.
var bodies = map[string]string{
	"appendTurns": `{"turns":[{"role":"user","text":"x"}]}`,
	"commit":      `{"turns":[{"role":"user","text":"x"}]}`,
	"say":         `{"text":"x"}`,
}

// request is the path of an operation with these names in it and what it requires, and its body.
func (d *document) request(path string, op operation, names map[string]string) (target string, body any, headers []string) {
	query := url.Values{}
	for _, p := range op.Parameters {
		name, known := names[p.Name]
		if !known {
			name, _ = d.sample(p.Schema).(string)
		}
		if name == "" {
			name = "1"
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(name))
		case p.In == "query" && p.Required:
			query.Set(p.Name, name)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	if op.RequestBody != nil {
		for media, content := range op.RequestBody.Content {
			headers = []string{"Content-Type", media}
			if body = any("x"); media == "application/json" {
				body = d.sample(content.Schema)
			}
			if more, ok := bodies[op.ID]; ok {
				body = more
			}
		}
	}
	return path, body, headers
}

// sample is the least that fits a schema.
func (d *document) sample(s *schema) any {
	s = d.resolve(s)
	switch {
	case s == nil:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	switch kind := s.kind(); kind {
	case "object":
		made := map[string]any{}
		for _, name := range s.Required {
			made[name] = d.sample(s.Properties[name])
		}
		return made
	case "array":
		return []any{d.sample(s.Items)}
	case "integer", "number":
		return 1
	case "boolean":
		return true
	}
	if s.Format == "date-time" {
		return "2026-01-02T15:04:05Z"
	}
	return "x"
}

func (d *document) resolve(s *schema) *schema {
	for s != nil && s.Ref != "" {
		s = d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	return s
}

// kind is the first type that is not null.
func (s *schema) kind() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if one != "null" {
				name, _ := one.(string)
				return name
			}
		}
	}
	return ""
}

// blank is an answer without what belongs to the request alone.
func blank(answer reply, path string, names map[string]string) string {
	body := strings.ReplaceAll(answer.body, answer.header.Get("X-Request-Id"), "REQUEST")
	path, _, _ = strings.Cut(path, "?")
	body = strings.ReplaceAll(body, "/api/v1"+path, "PATH")
	for _, name := range slices.Sorted(maps.Keys(names)) {
		body = strings.ReplaceAll(body, names[name], "{"+name+"}")
	}
	return body
}

// For every operation with a name in its path: what another tenant has under the name is not there, and cannot be told
// from what nobody has.
func TestTenantsSeeNothingOfEachOther(t *testing.T) {
	c, names := twoTenants(t)
	for _, op := range c.doc.operations() {
		method, path := op.method, op.path
		if !strings.Contains(path, "{") {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			c := c.in(t)
			for _, p := range op.Parameters {
				if _, known := names[p.Name]; p.In == "path" && !known && !strings.Contains(path, "{session}") && p.Name != "daemon" {
					t.Fatalf("nothing is planted under {%s}: do so in twoTenants", p.Name)
				}
			}
			real, body, headers := c.doc.request(path, op.operation, names)
			none, _, _ := c.doc.request(path, op.operation, missing)
			headers = append(headers, "Authorization", "Bearer other")
			theirs, nobodys := c.do(method, real, body, headers...), c.do(method, none, body, headers...)
			if strings.Contains(theirs.body, planted) {
				t.Fatalf("%s %s: %s", method, real, theirs.body)
			}
			if a, b := blank(theirs, real, names), blank(nobodys, none, missing); theirs.status != nobodys.status || a != b {
				t.Errorf("theirs: %d %s\nnobody's: %d %s", theirs.status, a, nobodys.status, b)
			}
			if theirs.status != http.StatusNotFound && !strings.Contains(path, "{daemon}") {
				t.Errorf("%s %s: %d %s", method, real, theirs.status, theirs.body)
			}
			if method == http.MethodGet && !unplanted(path) {
				headers[len(headers)-1] = "Bearer owner"
				if got := c.do(method, real, body, headers...); got.status != http.StatusOK {
					t.Errorf("for its tenant it is not there either: %d %s", got.status, got.body)
				}
			}
		})
	}
}

// What another tenant has is in no list, and in no session of one's own either, whoever knows its ids.
func TestTenantsShareNoLists(t *testing.T) {
	c, names := twoTenants(t)
	other := []string{"Authorization", "Bearer other"}
	c.want(http.StatusCreated, nil, "POST", "/sessions/own/turns?create=true", `{"turns":[{"role":"user","text":"x"}]}`, other...)
	inOwn, nobodys := maps.Clone(names), maps.Clone(missing)
	inOwn["session"], nobodys["session"] = "own", "own"
	for _, op := range c.doc.operations() {
		if op.method != http.MethodGet && !strings.Contains(strings.TrimPrefix(op.path, "/sessions/{session}"), "{") {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			c := c.in(t)
			real, body, headers := c.doc.request(op.path, op.operation, inOwn)
			none, _, _ := c.doc.request(op.path, op.operation, nobodys)
			headers = append(headers, other...)
			got, empty := c.do(op.method, real, body, headers...), c.do(op.method, none, body, headers...)
			if got.status != empty.status || strings.Contains(got.body, planted) {
				t.Errorf("%s %s: %d %s, and for nobody's %d", op.method, real, got.status, got.body, empty.status)
			}
			for name, id := range names {
				if name != "format" && !strings.Contains(real, id) && strings.Contains(got.body, id) {
					t.Errorf("%s %s shows another's %s: %s", op.method, real, name, got.body)
				}
			}
		})
	}
}

// Who knows the hash of another tenant's bytes cannot have them by appending a turn that names it.
func TestBytesAreOfOneTenant(t *testing.T) {
	c, names := twoTenants(t)
	other := []string{"Authorization", "Bearer other"}
	c.want(http.StatusBadRequest, nil, "POST", "/sessions/own/turns?create=true",
		`{"turns":[{"role":"user","form":"image","content":{"media_type":"image/png","sha256":"`+names["sha256"]+`","size":18}}]}`, other...)
	c.want(http.StatusNotFound, nil, "GET", "/blobs/"+names["sha256"], nil, other...)
}

// unplanted are paths of parts of a session that nothing is planted for: the session itself is what is not found.
func unplanted(path string) bool {
	inner := strings.TrimPrefix(path, "/sessions/{session}")
	for _, planted := range []string{"{goal}", "{action}", "{format}"} {
		inner = strings.ReplaceAll(inner, planted, "")
	}
	return inner != path && strings.Contains(inner, "{") || strings.HasSuffix(path, "/prompt") || strings.HasSuffix(path, "/prompts")
}

// A key does what its scopes say and nothing else.
func TestScopesHoldOnEveryOperation(t *testing.T) {
	c, names := twoTenants(t)
	for _, op := range c.doc.operations() {
		method, path := op.method, op.path
		if len(op.Security) != 1 {
			t.Errorf("%s says nothing about who may call it", op.ID)
			continue
		}
		var needed []string
		for _, scope := range op.Security[0] {
			needed = scope
		}
		target, body, headers := c.doc.request(path, op.operation, names)
		for secret, scope := range map[string]string{"reader": "read", "writer": "write"} {
			if slices.Contains(needed, scope) {
				continue
			}
			got := c.do(method, target, body, append(slices.Clone(headers), "Authorization", "Bearer "+secret)...)
			if got.status != http.StatusForbidden {
				t.Errorf("%s needs %v, and for a key to %s it is %d: %s", op.ID, needed, scope, got.status, got.body)
			}
		}
		if method != http.MethodGet && slices.Contains(needed, "read") && op.ID != "countTokens" { // its text is too long for a URL
			t.Errorf("%s changes something for those who may only read", op.ID)
		}
		if got := c.do(method, target, body, append(slices.Clone(headers), "Authorization", "Bearer "+base64.StdEncoding.EncodeToString([]byte("none")))...); got.status != http.StatusUnauthorized {
			t.Errorf("%s: %d for nobody", op.ID, got.status)
		}
	}
}
