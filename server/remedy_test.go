package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
)

// formed is what the document says of a parameter that a wrong value can be made of.
type formed struct {
	Name, In string
	Schema   struct {
		Type             any
		Format           string
		Enum             []string
		Minimum, Maximum *float64
		MaxLength        *int
	}
}

// wrong are values that the parameter does not take.
func (d *formed) wrong() (values []string) {
	if slices.Contains([]any{"integer", "number", "boolean"}, d.Schema.Type) || len(d.Schema.Enum) > 0 || d.Schema.Format == "date-time" {
		values = append(values, "bogus")
	}
	if d.Schema.Minimum != nil {
		values = append(values, fmt.Sprint(*d.Schema.Minimum-1))
	}
	if d.Schema.Maximum != nil {
		values = append(values, fmt.Sprint(*d.Schema.Maximum+1))
	}
	if d.Schema.MaxLength != nil {
		values = append(values, strings.Repeat("x", *d.Schema.MaxLength+1))
	}
	return values
}

// Whatever of a request's form is wrong, on every path the answer says what is, and what to do.
func TestWhatIsWrongWithAFormSaysWhatToDo(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"there"}`)
	var document struct {
		Paths map[string]map[string]struct {
			Parameters  []formed
			RequestBody *struct{ Content map[string]any }
		}
	}
	if err := json.Unmarshal([]byte(c.want(http.StatusOK, nil, "GET", "/openapi.json", nil).body), &document); err != nil {
		t.Fatal(err)
	}
	asked := 0
	says := func(method, path string, body any, media string) {
		t.Helper()
		asked++
		got := c.do(method, path, body, "Content-Type", media)
		var told server.Problem
		if got.status == http.StatusNotFound {
			return // what is there at all is looked at first
		}
		if err := json.Unmarshal([]byte(got.body), &told); err != nil || got.status != http.StatusBadRequest {
			t.Errorf("%s %s %v: %d %s, %v", method, path, body, got.status, got.body, err)
			return
		}
		if before, next, both := strings.Cut(told.Detail, "; "); !both || before == "" || next == "" {
			t.Errorf("%s %s %v: %q does not say what to do", method, path, body, told.Detail)
		}
	}
	variable := regexp.MustCompile(`\{[^}]+\}`)
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for method, op := range document.Paths[path] {
			var body any // what is wrong is the query alone
			media := "application/json"
			if op.RequestBody != nil {
				body, media = `{}`, slices.Min(slices.Collect(maps.Keys(op.RequestBody.Content)))
			}
			at := variable.ReplaceAllString(strings.TrimPrefix(path, "/api/v1"), "there")
			method = strings.ToUpper(method)
			for _, p := range op.Parameters {
				if p.In != "query" {
					continue
				}
				for _, value := range p.wrong() {
					says(method, at+"?"+url.Values{p.Name: {value}}.Encode(), body, media)
				}
			}
			says(method, at+"?no_such=1", body, media)
			if body == nil || media != "application/json" || at == "/context" { // which answers as its protocol has it
				continue
			}
			for _, body := range []string{`{"no_such":1}`, `{`, `[]`, `7`} {
				says(method, at, body, media)
			}
		}
	}
	if asked < 200 {
		t.Errorf("only %d were asked", asked)
	}
}
