package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
)

// saysWhatToDo holds an answer to the form of others: what is wrong, and what to do. A path that it names is there.
func saysWhatToDo(t *testing.T, c *client, asked string, got reply) {
	t.Helper()
	var told server.Problem
	if err := json.Unmarshal([]byte(got.body), &told); err != nil {
		t.Fatal(err)
	}
	wrong, step, both := strings.Cut(told.Detail, "; ")
	if !both || wrong == "" || step == "" {
		t.Errorf("%s: %d %q does not say what to do", asked, got.status, told.Detail)
	}
	for _, m := range regexp.MustCompile(`GET /api/v1(\S+)`).FindAllStringSubmatch(step, -1) {
		if there := c.do("GET", m[1], nil); there.status != http.StatusOK {
			t.Errorf("%s: %q names %s, which is answered with %d", asked, told.Detail, m[1], there.status)
		}
	}
}

// Whatever is not there, on every path the answer says what to do.
func TestWhatIsNotThereSaysWhatToDo(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"there"}`)
	var document struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal([]byte(c.want(http.StatusOK, nil, "GET", "/openapi.json", nil).body), &document); err != nil {
		t.Fatal(err)
	}
	lacked, variable := 0, regexp.MustCompile(`\{[^}]+\}`)
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for method := range document.Paths[path] {
			for _, session := range []string{"nowhere", "there"} {
				for _, id := range []string{"77", "01ARZ3NDEKTSV4RRFFQ69G5FAV", strings.Repeat("0", 64)} {
					asked := variable.ReplaceAllString(strings.ReplaceAll(path, "{session}", session), id)
					for _, body := range []string{`{}`, `{"snapshot":"none"}`, `{"bookmark":"none"}`, `{"at":77}`, `{"seqs":[77]}`, `{"seq":77,"name":"x"}`} {
						got := c.do(strings.ToUpper(method), asked, body, "Content-Type", "application/json")
						if got.status == http.StatusNotFound || got.status == http.StatusConflict {
							lacked++
							saysWhatToDo(t, c, fmt.Sprint(method, " ", asked, " ", body), got)
						}
					}
				}
			}
		}
	}
	if lacked < 500 {
		t.Errorf("%d answers were looked at", lacked)
	}
	// What looks like a step in a name is none.
	got := c.do("POST", "/sessions/there/fork", `{"bookmark":"x; y"}`)
	if !strings.Contains(got.body, "GET /api/v1/sessions/there/bookmarks ") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// A name that reads like what something else is told with picks no step: what is looked for does.
func TestNamesPickNoStep(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"turn"}`)
	turns := `{"turns":[{"role":"user","text":"%s","idempotency_key":"k: session x; y"}]}`
	c.want(http.StatusCreated, nil, "POST", "/sessions/turn/turns", fmt.Sprintf(turns, "one"))
	for _, test := range []struct{ method, path, body, step string }{
		{"POST", "/sessions/turn/fork", `{"bookmark":"x: goal y"}`, "GET /api/v1/sessions/turn/bookmarks lists those there are"},
		{"POST", "/sessions/turn/restore", `{"snapshot":"x: goal y; z"}`, "GET /api/v1/sessions/turn/snapshots lists those there are"},
		{"GET", "/sessions/turn/goals/x:%20snapshot%20y", "", "GET /api/v1/sessions/turn/goals lists those there are"},
		{"GET", "/sessions/turn/actions/x:%20goal%20y", "", "GET /api/v1/sessions/turn/actions lists those there are"},
		{"DELETE", "/memory/x:%20goal%20y", "", "GET /api/v1/memory lists what there is"},
		{"DELETE", "/keys/x:%20goal%20y", "", "GET /api/v1/keys lists those there are"},
		{"GET", "/exports/goal%20y", "", "GET /api/v1/exports lists those there are"},
		{"GET", "/traces/x:%20goal%20y", "", "GET /api/v1/exports lists the exchanges of 7 days, and a trace of up to 90 is found by the turn that opened its exchange"},
		{"POST", "/sessions/turn/turns", fmt.Sprintf(turns, "two"), "use a new key"},
	} {
		got := c.do(test.method, test.path, test.body, "Content-Type", "application/json")
		var told server.Problem
		if err := json.Unmarshal([]byte(got.body), &told); err != nil {
			t.Fatal(err)
		}
		if step := told.Detail[strings.LastIndex(told.Detail, "; ")+2:]; step != test.step {
			t.Errorf("%s %s %s: %d %q ends with %q, want %q", test.method, test.path, test.body, got.status, told.Detail, step, test.step)
		}
	}
}

// What contradicts what is stored is told with what to do.
func TestConflictsSayWhatToDo(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"there"}`)
	turns := `{"turns":[{"role":"user","text":"%s","turn_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","idempotency_key":"k"}]}`
	c.want(http.StatusCreated, nil, "POST", "/sessions/there/turns", fmt.Sprintf(turns, "one"))
	c.want(http.StatusCreated, nil, "POST", "/sessions/there/bookmarks", `{"name":"here"}`)
	exchange := `{"export_id":"01ARZ3NDEKTSV4RRFFQ69G5FA%s","turn_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}`
	c.want(http.StatusOK, nil, "POST", "/sessions/there/commit", fmt.Sprintf(exchange, "A"))
	for _, test := range []struct{ name, path, body, step string }{
		{"a session", "/sessions", `{"session_id":"there"}`, "use another id, "},
		{"a fork", "/sessions/there/fork", `{"session_id":"there"}`, "use another id, "},
		{"a bookmark", "/sessions/there/bookmarks", `{"name":"here"}`, "use another name"},
		{"a key of other words", "/sessions/there/turns", fmt.Sprintf(turns, "two"), "use a new key"},
		{"a turn", "/sessions/there/turns", `{"turns":[{"role":"user","text":"x","turn_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}]}`, "use another turn_id"},
		{"an exchange", "/sessions/there/commit", fmt.Sprintf(exchange, "B"), "try again under that export_id"},
		{"an undo", "/sessions/there/undo", `{}`, "GET /api/v1/sessions/there/checkpoints "},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := c.do("POST", test.path, test.body)
			if got.status != http.StatusConflict || !strings.Contains(got.body, "; "+test.step) {
				t.Errorf("%d %s, want 409 and %q", got.status, got.body, test.step)
			}
			saysWhatToDo(t, c, test.name, got)
		})
	}
}
