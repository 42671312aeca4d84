package front_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server/front"
)

func (w *world) generate(call m) reply {
	w.Helper()
	body, err := json.Marshal(call)
	if err != nil {
		w.Fatal(err)
	}
	response := post(w.Context(), w.T, w.url+"/api/generate", http.Header{}, body)
	got, err := io.ReadAll(response.Body)
	if err != nil {
		w.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		w.Error(err)
	}
	return read(w.T, front.Ollama, true, response, got)
}

func TestGenerate(t *testing.T) {
	for _, upstream := range []front.Kind{front.Ollama, front.OpenAI} {
		for _, stream := range []bool{true, false} {
			t.Run(string(upstream), func(t *testing.T) {
				w := newWorld(t, newScripted(t, upstream, says("first"), says("second"), says("third")))
				first := w.generate(m{"model": "m", "prompt": "one", "system": "Be brief.", "stream": stream, "images": []string{pixel}})
				if first.text != "first" || first.reason != "stop" || len(first.context) == 0 || first.usage != [2]int{7, 3} {
					t.Fatalf("got %s", first.body)
				}
				second := w.generate(m{"model": "m", "prompt": "two", "stream": stream, "context": first.context})
				if second.text != "second" {
					t.Fatalf("got %s", second.body)
				}
				other := w.generate(m{"model": "m", "prompt": "three", "stream": stream, "context": []int{1, 2, 3}})
				if other.text != "third" {
					t.Fatalf("got %s", other.body)
				}
				ids := w.sessions()
				if len(ids) != 2 {
					t.Fatalf("sessions %v", ids)
				}
				if diff := cmp.Diff([]string{"user: one", "user: image image/png", "agent: first", "user: two", "agent: second"}, w.log(ids[0])); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff([]string{"user: three", "agent: third"}, w.log(ids[1])); diff != "" {
					t.Error(diff)
				}
				asked := w.upstream.requests()[0]
				if !strings.HasPrefix(asked.said()[0], "system: Be brief.") || strings.Contains(asked.raw, `"prompt"`) {
					t.Errorf("asked %s", asked.raw)
				}
			})
		}
	}
}

// A context that is not known begins a new session, and the client is told. One that is known, none, or a session that is named
// is nothing to be warned of.
func TestGenerateFromAnUnknownContext(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, newScripted(t, front.Ollama, says("first"), says("second"), says("third")), func(c *front.Config) {
		c.Log = slog.NewTextHandler(&log, nil)
	})
	w.upstream.oblige = func(*asked) answer { return says("fine") }
	first := w.generate(m{"model": "m", "prompt": "one"})
	gone := w.generate(m{"model": "m", "prompt": "soon gone"})
	if _, err := w.engine.Forget(t.Context(), turnstone.Target{Session: gone.header.Get(front.SessionHeader), All: true}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		context any
		session string
		warned  bool
	}{
		{"ours", first.context, "", false},
		{"none", nil, "", false},
		{"empty", []int{}, "", false},
		{"of another server", []int{1, 2, 3}, "", true},
		{"of nobody", []int{1, 2, 3, 4, 5, 6, 7, 8}, "", true},
		{"of a session that is gone", gone.context, "", true},
		{"of another server, in a session that is named", []int{1, 2, 3}, "mine", false},
	} {
		log.Reset()
		body, err := json.Marshal(m{"model": "m", "prompt": test.name, "context": test.context, "stream": true})
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{}
		if test.session != "" {
			header.Set(front.SessionHeader, test.session)
		}
		response := post(t.Context(), t, w.url+"/api/generate", header, body)
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		said := response.Header.Get(front.WarningHeader)
		if warned := strings.Contains(said, "a new session begins"); response.StatusCode != 200 || warned != test.warned || strings.Contains(log.String(), "a new session begins") != test.warned {
			t.Errorf("%s: status %d, told %q, logged %q", test.name, response.StatusCode, said, log.String())
		}
		id := response.Header.Get(front.SessionHeader)
		if log := w.log(id); test.warned && cmp.Diff([]string{"user: " + test.name, "agent: fine"}, log) != "" {
			t.Errorf("%s: %q", test.name, log)
		}
	}
}

// Two go on from the same answer: the second is a fork.
func TestGenerateTwice(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama, says("first"), says("second"), says("third")))
	first := w.generate(m{"model": "m", "prompt": "one"})
	w.generate(m{"model": "m", "prompt": "two", "context": first.context})
	w.generate(m{"model": "m", "prompt": "TWO", "context": first.context})
	ids := w.sessions()
	if len(ids) != 2 {
		t.Fatalf("sessions %v", ids)
	}
	if diff := cmp.Diff([]string{"user: one", "agent: first", "user: TWO", "agent: third"}, w.log(ids[1])); diff != "" {
		t.Error(diff)
	}
}

// What is no conversation passes as it is, and nothing is kept of it.
func TestBare(t *testing.T) {
	for name, test := range map[string]struct{ path, body string }{
		"load a model":    {"/api/generate", `{"model":"m"}`},
		"load, with chat": {"/api/chat", `{"model":"m","messages":[]}`},
		"load, with null": {"/api/chat", `{"model":"m","messages":null}`},
		"raw":             {"/api/generate", `{"model":"m","prompt":"x","raw":true}`},
		"fill in":         {"/api/generate", `{"model":"m","prompt":"x","suffix":"y"}`},
		"a template":      {"/api/generate", `{"model":"m","prompt":"x","template":"y"}`},
		"the system only": {"/api/chat", `{"model":"m","messages":[{"role":"system","content":"x"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, front.Ollama, answer{status: 200, body: `{"done":true}`}))
			if r, got := bytesOf(t, w.url+test.path, test.body); r.StatusCode != 200 || got != `{"done":true}` {
				t.Errorf("status %d: %s", r.StatusCode, got)
			}
			if asked := w.upstream.last(); asked.raw != test.body || asked.path != test.path {
				t.Errorf("asked %v", asked)
			}
			if ids := w.sessions(); len(ids) > 0 {
				t.Errorf("sessions %v", ids)
			}
		})
	}
	t.Run("to OpenAI", func(t *testing.T) {
		w := newWorld(t, newScripted(t, front.OpenAI))
		if r, got := bytesOf(t, w.url+"/api/chat", `{"model":"m","messages":[]}`); r.StatusCode != 200 || !strings.Contains(got, `"done_reason":"load"`) {
			t.Errorf("status %d: %s", r.StatusCode, got)
		}
		if r, got := bytesOf(t, w.url+"/api/generate", `{"model":"m","prompt":"x","raw":true}`); r.StatusCode != 400 {
			t.Errorf("status %d: %s", r.StatusCode, got)
		}
	})
}
