package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/sse"
)

// chaos makes requests that the document describes, and such that it does not.
type chaos struct {
	*rand.Rand
	doc   *document
	names map[string]string // of the other tenant
}

func pick[T any](r *chaos, list ...T) T { return list[r.IntN(len(list))] }

// odd is text that somebody might send.
func (r *chaos) odd() string {
	return pick(r, "", "x", "0", "-1", "1e309", "9223372036854775808", "null", "true", "..", "../../etc/passwd", "a/b", "%", "\x00", "\xff\xfe", "\u202e\U0001f600",
		"' OR 1=1 --", "<script>", "{{.}}", "own", strings.Repeat("long", 1+r.IntN(3000)), "2026-13-45T99:99:99Z", "*", `"1"`, "\r\nX: y", planted[:5],
		r.names[pick(r, "session", "goal", "action", "item", "export", "turn", "sha256", "snapshot")])
}

// value is something for a schema, seldom what it asks for.
func (r *chaos) value(s *schema, depth int) any {
	s = r.doc.resolve(s)
	if s == nil || depth > 6 || r.IntN(8) == 0 {
		return r.wrong(depth)
	}
	if len(s.Enum) > 0 && r.IntN(4) > 0 {
		return pick(r, s.Enum...)
	}
	switch s.kind() {
	case "object":
		made := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if r.IntN(3) > 0 {
				made[name] = r.value(s.Properties[name], depth+1)
			}
		}
		if r.IntN(6) == 0 {
			made[r.odd()] = r.wrong(depth + 1)
		}
		return made
	case "array":
		made := make([]any, r.IntN(4))
		for i := range made {
			made[i] = r.value(s.Items, depth+1)
		}
		return made
	case "integer", "number":
		return pick[any](r, 0, 1, 2, -1, 1<<53, 0.5, 1e300, json.Number("1e400"), json.Number(strings.Repeat("9", 400)))
	case "boolean":
		return pick[any](r, true, false)
	}
	if s.Format == "date-time" && r.IntN(2) == 0 {
		return pick(r, "2026-01-02T15:04:05Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999+23:59")
	}
	return r.odd()
}

// wrong is of any type.
func (r *chaos) wrong(depth int) any {
	if depth > 6 {
		return nil
	}
	return pick[any](r, nil, true, 1, -1.5, r.odd(), []any{}, []any{r.wrong(depth + 1)}, map[string]any{}, map[string]any{r.odd(): r.wrong(depth + 1)},
		json.Number("1e400"))
}

// body is what is sent to an operation.
func (r *chaos) body(op operation) (text, media string) {
	media = "application/json"
	var asked *schema
	if op.RequestBody != nil {
		for name, content := range op.RequestBody.Content {
			media, asked = name, content.Schema
		}
	}
	switch r.IntN(12) {
	case 0:
		return "", media
	case 1:
		return strings.Repeat("[", 100_000), media
	case 2:
		return strings.Repeat(`{"a":`, 50_000), media
	case 3:
		return `{"a":"` + strings.Repeat("x", 2<<20) + `"}`, media
	case 4:
		return r.odd(), media
	case 5:
		return "{}", pick(r, "text/plain", "", "application/json; charset=utf-16", "multipart/form-data", "\x00")
	}
	made, err := json.Marshal(r.value(asked, 0))
	if err != nil {
		return "{\"", media
	}
	if len(made) > 2 && r.IntN(10) == 0 {
		made = made[:r.IntN(len(made))]
	}
	return string(made), media
}

// request is one for an operation, or nearly.
func (r *chaos) request(ctx context.Context, base string, op endpoint) (*http.Request, error) {
	path, query := op.path, url.Values{}
	for _, p := range op.Parameters {
		switch p.In {
		case "path":
			name := r.names[p.Name]
			switch {
			case p.Name == "session" && r.IntN(2) == 0:
				name = "own"
			case r.IntN(3) > 0 || name == "":
				name = r.odd()
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(name))
		case "query":
			if p.Required || r.IntN(3) == 0 {
				query.Add(p.Name, fmt.Sprint(r.value(p.Schema, 0)))
			}
		}
	}
	if r.IntN(10) == 0 {
		query.Add(r.odd(), r.odd())
	}
	method := op.method
	if r.IntN(12) == 0 {
		method = pick(r, "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND")
	}
	text, media := r.body(op.operation)
	made, err := http.NewRequestWithContext(ctx, method, base+"/api/v1"+path+"?"+query.Encode(), strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	made.Header.Set("Authorization", "Bearer other")
	for _, h := range []struct{ name, value string }{
		{"Content-Type", media}, {"Accept", pick(r, "", "application/json", sse.ContentType, "*/*", r.odd())}, {"Idempotency-Key", r.odd()},
		{"If-Match", r.odd()}, {"If-None-Match", r.odd()}, {"Last-Event-ID", r.odd()}, {"X-Request-Id", r.odd()},
	} {
		if (h.name == "Content-Type" || r.IntN(4) == 0) && !strings.ContainsAny(h.value, "\x00\r\n") {
			made.Header.Set(h.name, h.value)
		}
	}
	return made, nil
}

// TestTortureRoutesTakeAnything: whatever is sent to whatever route, nothing breaks, nothing of another tenant is
// answered, and nobody waits for ever. Each round is made from its seed, which a failure names.
func TestTortureRoutesTakeAnything(t *testing.T) {
	rounds := 1500
	if os.Getenv("TURNSTONE_TORTURE") != "" {
		rounds = 12_000
	}
	c, names := twoTenants(t)
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"own"}`, "Authorization", "Bearer other")
	all := c.doc.operations()
	answered := map[int]int{}
	for seed := range rounds {
		r := &chaos{Rand: rand.New(rand.NewPCG(11, uint64(seed))), doc: c.doc, names: names}
		op := pick(r, all...)
		status, text := c.send(t, r, op, seed)
		answered[status/100]++
		if status >= 500 {
			t.Errorf("seed %d, %s: %d %s", seed, op.ID, status, text)
		}
		if strings.Contains(text, planted) {
			t.Errorf("seed %d, %s tells another tenant's secret: %s", seed, op.ID, text)
		}
	}
	t.Logf("%v", answered)
	if answered[2] == 0 || answered[4] == 0 {
		t.Errorf("nothing was asked right, or nothing wrong: %v", answered)
	}
	var theirs struct{ Items []any }
	c.want(http.StatusOK, &theirs, "GET", "/sessions/theirs/turns", nil, "Authorization", "Bearer owner")
	if len(theirs.Items) != 4 {
		t.Errorf("another tenant has %d turns now", len(theirs.Items))
	}
}

// send makes a request and returns what is answered, of a stream its beginning.
func (c *client) send(t *testing.T, r *chaos, op endpoint, seed int) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	request, err := r.request(ctx, c.base, op)
	if err != nil {
		return 0, ""
	}
	answer, err := c.http.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			t.Fatalf("seed %d, %s: nothing was answered", seed, op.ID)
		}
		return 0, "" // the server hung up on what is no HTTP, or the client would not send it
	}
	defer answer.Body.Close()
	from := io.Reader(answer.Body)
	if strings.HasPrefix(answer.Header.Get("Content-Type"), sse.ContentType) && op.ID != "say" {
		from = io.LimitReader(from, 8) // it has no end
	}
	text, err := io.ReadAll(from)
	if err != nil && ctx.Err() != nil {
		t.Fatalf("seed %d, %s: the answer has no end: %s", seed, op.ID, text)
	}
	return answer.StatusCode, string(text)
}
