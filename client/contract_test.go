package client_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/client"
	"github.com/turnstone-dev/turnstone/server"
)

// items is a list as the client reads it.
type items[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}

// unpaged is a list that comes as a whole.
type unpaged[T any] struct {
	Items []T `json:"items"`
}

// contract says for each method which operation it is and what its answer is read into, nil where it is not JSON.
var contract = map[string]struct {
	operation string
	answer    any
}{
	"Client.Session":       {"GET /sessions/{session}", client.SessionInfo{}},
	"Client.Find":          {"GET /sessions/{session}", client.SessionInfo{}},
	"Client.Create":        {"POST /sessions", client.SessionInfo{}},
	"Client.Sessions":      {"GET /sessions", items[client.SessionInfo]{}},
	"Client.Memory":        {"GET /memory", items[client.Item]{}},
	"Client.ForgetItem":    {"DELETE /memory/{item}", nil},
	"Client.Forget":        {"POST /forget", client.Receipt{}},
	"Client.Import":        {"POST /bundles", client.SessionInfo{}},
	"Client.ImportHistory": {"POST /histories", client.Imported{}},
	"Client.Models":        {"GET /models", unpaged[client.ModelInfo]{}},
	"Client.Count":         {"POST /tokens", client.Count{}},
	"Client.Events":        {"GET /events", items[client.Event]{}}, // an event of a stream is what stands in a page
	"Session.Info":         {"GET /sessions/{session}", client.SessionInfo{}},
	"Session.Describe":     {"PATCH /sessions/{session}", client.SessionInfo{}},
	"Session.End":          {"POST /sessions/{session}/end", nil},
	"Session.Fork":         {"POST /sessions/{session}/fork", client.SessionInfo{}},
	"Session.Append":       {"POST /sessions/{session}/turns", client.Appended{}},
	"Session.AppendOnce":   {"POST /sessions/{session}/turns", client.Appended{}},
	"Session.Extend":       {"POST /sessions/{session}/turns", client.Appended{}},
	"Session.Query":        {"GET /sessions/{session}/turns", items[client.Turn]{}},
	"Session.History":      {"GET /sessions/{session}/history", items[client.Turn]{}},
	"Session.Say":          {"POST /sessions/{session}/say", client.Reply{}},
	"Session.Stream":       {"POST /sessions/{session}/say", client.Reply{}}, // the last event of it
	"Session.Prompt":       {"POST /sessions/{session}/prompt", client.Prompt{}},
	"Session.PromptAs":     {"POST /sessions/{session}/prompt", nil},
	"Session.PromptAt":     {"GET /sessions/{session}/prompt", client.Prompt{}},
	"Session.Report":       {"POST /sessions/{session}/prompt/usage", client.Reported{}},
	"Session.Status":       {"GET /sessions/{session}/status", client.Status{}},
	"Session.Commit":       {"POST /sessions/{session}/commit", client.Committed{}},
	"Session.Recall":       {"GET /sessions/{session}/recall", client.Recalled{}},
	"Session.Memory":       {"GET /sessions/{session}/memory", items[client.Item]{}},
	"Session.Goals":        {"GET /sessions/{session}/goals", unpaged[client.Goal]{}},
	"Session.Goal":         {"GET /sessions/{session}/goals/{goal}", client.Goal{}},
	"Session.ChangeGoal":   {"POST /sessions/{session}/goals", client.Goal{}},
	"Session.Snapshot":     {"POST /sessions/{session}/snapshots", client.Snapshot{}},
	"Session.Snapshots":    {"GET /sessions/{session}/snapshots", items[client.Snapshot]{}},
	"Session.Restore":      {"POST /sessions/{session}/restore", client.Restored{}},
	"Session.Undo":         {"POST /sessions/{session}/undo", client.Undone{}},
	"Session.Forget":       {"POST /sessions/{session}/forget", client.Receipt{}},
	"Session.Bundle":       {"GET /sessions/{session}/bundle", nil},
	"Session.Events":       {"GET /sessions/{session}/events", items[client.Event]{}},
}

// whole are the methods that can send all that is described of their operation.
var whole = []string{"Session.Commit"}

// TestContract calls every method with all that it can be given, and holds what goes over the wire, and what answers are
// read into, against the document of the server.
func TestContract(t *testing.T) {
	s, err := server.New(server.Config{Engine: opened(t, turnstone.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	var doc document
	text, err := json.Marshal(s.Document())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	wire := &taken{}
	c, err := client.New("http://server.example/below/", client.Options{HTTP: &http.Client{Transport: wire}})
	if err != nil {
		t.Fatal(err)
	}
	session, err := c.Find(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	for _, receiver := range []any{c, session} {
		v := reflect.ValueOf(receiver)
		for i := range v.NumMethod() {
			method := v.Type().Method(i).Name
			if method == "Do" || method == "ID" {
				continue // one can make any request, the other makes none
			}
			name := v.Type().Elem().Name() + "." + method
			t.Run(name, func(t *testing.T) {
				want, ok := contract[name]
				if !ok {
					t.Fatal("nothing says which operation it is")
				}
				invoke(t, v.Method(i))
				doc.holds(t, wire, want.operation, want.answer)
				if slices.Contains(whole, name) {
					doc.sendsAll(t, wire, want.operation)
				}
			})
		}
	}
	problem := doc.Components.Schemas["Problem"]
	if err := doc.read(problem, reflect.TypeFor[client.Problem](), "problem"); err != nil {
		t.Error(err)
	}
}

// holds finds what a request and the type of its answer have that the document does not.
func (d *document) holds(t *testing.T, wire *taken, name string, answer any) {
	t.Helper()
	method, template, _ := strings.Cut(name, " ")
	op, ok := d.Paths[template][strings.ToLower(method)]
	below, found := strings.CutPrefix(wire.path, "/below/api/v1")
	if !ok || !found || method != wire.method || !of(template, below) {
		t.Fatalf("%s %s is not the %s of the document", wire.method, wire.path, name)
	}
	for query := range wire.query {
		if !op.takes("query", query) {
			t.Errorf("the query has %s, which is not described", query)
		}
	}
	for _, header := range []string{"Idempotency-Key", "Last-Event-ID", "Accept"} {
		if wire.header.Get(header) != "" && !op.takes("header", header) {
			t.Errorf("the header %s is not described", header)
		}
	}
	if media := wire.header.Get("Content-Type"); media != "" {
		content, ok := op.RequestBody.Content[media]
		if !ok {
			t.Errorf("it takes no %s", media)
		}
		if media == "application/json" {
			if err := d.sent(content.Schema, wire.body, "body"); err != nil {
				t.Error(err)
			}
		}
	}
	if answer == nil {
		return
	}
	response, ok := op.Responses["200"]
	if !ok {
		response = op.Responses["201"]
	}
	if err := d.read(response.Content["application/json"].Schema, reflect.TypeOf(answer), "answer"); err != nil {
		t.Error(err)
	}
}

// sendsAll finds what a request lacks that the document describes.
func (d *document) sendsAll(t *testing.T, wire *taken, name string) {
	t.Helper()
	method, template, _ := strings.Cut(name, " ")
	described := d.whole(d.Paths[template][strings.ToLower(method)].RequestBody.Content["application/json"].Schema).Properties
	sent, _ := wire.body.(map[string]any)
	for field := range described {
		if _, ok := sent[field]; !ok && field != "$schema" {
			t.Errorf("%s is described and cannot be sent", field)
		}
	}
	if len(described) == 0 {
		t.Errorf("nothing is described of %s", name)
	}
}

// of reports whether a path is of a template.
func of(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	for i := range want {
		if len(got) != len(want) || got[i] == "" != (want[i] == "") || !strings.HasPrefix(want[i], "{") && got[i] != want[i] {
			return false
		}
	}
	return true
}

// taken is the last request of a client. Everything is answered with nothing, as JSON or as an event that ends a reply.
type taken struct {
	method, path string
	query        map[string][]string
	header       http.Header
	body         any
}

func (w *taken) RoundTrip(r *http.Request) (*http.Response, error) {
	*w = taken{method: r.Method, path: r.URL.Path, query: r.URL.Query(), header: r.Header}
	if r.Header.Get("Content-Type") == "application/json" {
		if err := json.NewDecoder(r.Body).Decode(&w.body); err != nil {
			return nil, err
		}
	}
	answer := "{}"
	if r.Header.Get("Accept") == "text/event-stream" {
		answer = "id: 1\nevent: reply\ndata: {}\n\n"
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(answer)), Header: http.Header{"Content-Type": r.Header["Accept"]}}, nil
}

// invoke calls a method with everything that it can be given.
func invoke(t *testing.T, method reflect.Value) {
	t.Helper()
	var args []reflect.Value
	for i := range method.Type().NumIn() {
		args = append(args, filled(t, method.Type().In(i)))
	}
	call := method.Call
	if method.Type().IsVariadic() {
		call = method.CallSlice
	}
	for _, result := range call(args) {
		if result.Kind() == reflect.Func {
			for _, err := range result.Seq2() {
				result = err
				break
			}
		}
		if err, failed := result.Interface().(error); failed {
			t.Fatal(err)
		}
	}
}

// filled is a value of a type without an empty field.
func filled(t *testing.T, of reflect.Type) reflect.Value {
	t.Helper()
	v := reflect.New(of).Elem()
	switch {
	case of == reflect.TypeFor[context.Context]():
		return reflect.ValueOf(t.Context())
	case of == reflect.TypeFor[io.Reader]():
		return reflect.ValueOf(strings.NewReader("a bundle"))
	case of == reflect.TypeFor[time.Time]():
		return reflect.ValueOf(time.Unix(1, 0))
	case of == reflect.TypeFor[json.RawMessage]():
		return reflect.ValueOf(json.RawMessage("{}"))
	case of.Kind() == reflect.String:
		v.SetString("x")
	case of.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(1)
	case v.CanFloat():
		v.SetFloat(0.5)
	case of.Kind() == reflect.Slice:
		return reflect.Append(v, filled(t, of.Elem()))
	case of.Kind() == reflect.Map:
		return reflect.MakeMap(of)
	case of.Kind() == reflect.Pointer:
		v.Set(reflect.New(of.Elem()))
		v.Elem().Set(filled(t, of.Elem()))
	case of.Kind() == reflect.Struct:
		for i := range of.NumField() {
			v.Field(i).Set(filled(t, of.Field(i).Type))
		}
	default:
		t.Fatalf("nothing to fill a %s with", of)
	}
	return v
}
