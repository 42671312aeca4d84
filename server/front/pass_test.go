package front_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server/front"
)

func ask(t *testing.T, method, url, body string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer theirs")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	return response, string(got)
}

func TestPass(t *testing.T) {
	for _, test := range []struct {
		upstream           front.Kind
		method, path, body string
	}{
		{front.Ollama, "GET", "/api/tags", ""},
		{front.Ollama, "POST", "/api/show", `{"model":"m"}`},
		{front.Ollama, "GET", "/api/version", ""},
		{front.Ollama, "GET", "/api/ps", ""},
		{front.Ollama, "POST", "/api/embed", `{"model":"m","input":"x"}`},
		{front.Ollama, "POST", "/api/embeddings", `{"model":"m","prompt":"x"}`},
		{front.Ollama, "GET", "/v1/models", ""},
		{front.Ollama, "GET", "/v1/models/m:latest", ""},
		{front.Ollama, "POST", "/v1/embeddings", `{"model":"m","input":"x"}`},
		{front.OpenAI, "GET", "/v1/models", ""},
		{front.OpenAI, "GET", "/v1/models/org/m", ""},
		{front.OpenAI, "POST", "/v1/embeddings", `{"model":"m","input":"x"}`},
	} {
		t.Run(string(test.upstream)+" "+test.path, func(t *testing.T) {
			for _, status := range []int{200, 404} {
				w := newWorld(t, asksDirectly(newScripted(t, test.upstream, answer{status: status, body: "{\"as\" : \"it is\"}\n"})))
				r, got := ask(t, test.method, w.url+test.path, test.body)
				if r.StatusCode != status || got != "{\"as\" : \"it is\"}\n" || r.Header.Get("X-Upstream") != "yes" {
					t.Errorf("status %d: %s", r.StatusCode, got)
				}
				if asked := w.upstream.last(); asked.path != test.path || asked.raw != test.body || asked.header.Get("Authorization") != "Bearer theirs" {
					t.Errorf("asked %v", asked)
				}
			}
		})
	}
}

// What a client of Ollama asks, said to a server that speaks as OpenAI does.
// A server that lets all pages read what it says lets nobody read what is said here.
func TestPagesOfOthersReadNothing(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Credentials", "true")
		w.Header().Set("Content-Type", "application/json")
		if _, err := io.WriteString(w, "{}"); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(upstream.Close)
	for name, recordOnly := range map[string]bool{"": false, "record only": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, front.Ollama), func(c *front.Config) { c.Upstream.URL, c.RecordOnly = upstream.URL, recordOnly })
			for _, path := range []string{"/api/tags", "/v1/models"} {
				if r, _ := ask(t, "GET", w.url+path, ""); r.Header.Get("Access-Control-Allow-Origin") != "" || r.Header.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%s: %v", path, r.Header)
				}
			}
			r, _ := ask(t, "POST", w.url+"/api/chat", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`)
			if r.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%v", r.Header)
			}
		})
	}
}

// A client that hangs up is no error of the server's.
func TestHangingUpIsNoError(t *testing.T) {
	arrived := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	}))
	t.Cleanup(upstream.Close)
	var log bytes.Buffer
	f, err := front.New(front.Config{
		Engine:   func(*http.Request) (*turnstone.Engine, error) { return nil, nil },
		Upstream: front.Upstream{URL: upstream.URL}, Log: slog.NewTextHandler(&log, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	go func() {
		<-arrived
		hangUp()
	}()
	f.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/api/tags", nil))
	if log.Len() > 0 {
		t.Errorf("logged %s", log.String())
	}
}

func TestTranslated(t *testing.T) {
	embeddings := `{"data":[{"embedding":[0.5,1]}],"usage":{"prompt_tokens":3}}`
	for _, test := range []struct {
		method, path, body string
		answer, want       string
		asked              string
	}{
		{"GET", "/api/tags", "", `{"data":[{"id":"m","created":60}]}`,
			`{"models":[{"name":"m","model":"m","modified_at":"1970-01-01T00:01:00Z","size":0,"digest":"","details":{"parent_model":"","format":"","family":"","families":[],"parameter_size":"","quantization_level":""}}]}`,
			"/v1/models "},
		{"POST", "/api/show", `{"model":"m"}`, `{"id":"m","created":60}`,
			`{"details":{"parent_model":"","format":"","family":"","families":[],"parameter_size":"","quantization_level":""},"model_info":{},"capabilities":["completion","tools"],"modified_at":"1970-01-01T00:01:00Z"}`,
			"/v1/models/m "},
		{"GET", "/api/ps", "", "", `{"models":[]}`, ""},
		{"POST", "/api/embed", `{"model":"m","input":["x"]}`, embeddings, `{"model":"m","embeddings":[[0.5,1]],"prompt_eval_count":3}`, `/v1/embeddings {"input":["x"],"model":"m"}`},
		{"POST", "/api/embeddings", `{"model":"m","prompt":"x"}`, embeddings, `{"embedding":[0.5,1]}`, `/v1/embeddings {"input":"x","model":"m"}`},
	} {
		t.Run(test.path, func(t *testing.T) {
			w := newWorld(t, asksDirectly(newScripted(t, front.OpenAI, answer{status: 200, body: test.answer})))
			r, got := ask(t, test.method, w.url+test.path, test.body)
			if r.StatusCode != http.StatusOK {
				t.Fatalf("status %d: %s", r.StatusCode, got)
			}
			var is, want any
			if err := json.Unmarshal([]byte(got), &is); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, is); diff != "" {
				t.Error(diff)
			}
			if test.asked == "" {
				return
			}
			if asked := w.upstream.last(); asked.path+" "+asked.raw != test.asked {
				t.Errorf("asked %s %s", asked.path, asked.raw)
			}
		})
	}
	t.Run("version", func(t *testing.T) {
		w := newWorld(t, newScripted(t, front.OpenAI))
		if _, got := ask(t, "GET", w.url+"/api/version", ""); !strings.HasPrefix(got, `{"version":"0.`) {
			t.Error(got)
		}
	})
	// Servers that have no path for one model have them in their list.
	for _, status := range []int{404, 405} {
		t.Run(fmt.Sprintf("a list only, status %d", status), func(t *testing.T) {
			missing, list := answer{status: status, body: `{"error":{"message":"File Not Found"}}`}, answer{status: 200, body: `{"data":[{"id":"other","created":1},{"id":"m","created":60}]}`}
			w := newWorld(t, asksDirectly(newScripted(t, front.OpenAI, missing, list, missing, list)))
			if r, got := ask(t, "POST", w.url+"/api/show", `{"model":"m"}`); r.StatusCode != 200 || !strings.Contains(got, `"modified_at":"1970-01-01T00:01:00Z"`) {
				t.Errorf("status %d: %s", r.StatusCode, got)
			}
			if r, got := ask(t, "POST", w.url+"/api/show", `{"model":"none"}`); r.StatusCode != status || got != `{"error":"File Not Found"}` {
				t.Errorf("of a model that is not in the list: status %d: %s", r.StatusCode, got)
			}
		})
	}
	t.Run("a refusal", func(t *testing.T) {
		w := newWorld(t, asksDirectly(newScripted(t, front.OpenAI, answer{status: 404, body: `{"error":{"message":"no such model","type":"x","code":"y"}}`})))
		if r, got := ask(t, "POST", w.url+"/api/show", `{"model":"m"}`); r.StatusCode != 404 || got != `{"error":"no such model"}` {
			t.Errorf("status %d: %s", r.StatusCode, got)
		}
	})
}

func TestKeys(t *testing.T) {
	for name, test := range map[string]struct{ ours, theirs, want string }{
		"the configured one":  {"secret", "Bearer theirs", "Bearer secret"},
		"the client's":        {"", "Bearer theirs", "Bearer theirs"},
		"never one of ours":   {"", "Bearer ts_1_abc", ""},
		"in small letters":    {"", "bearer ts_1_abc", ""},
		"with more blanks":    {"", "Bearer  ts_1_abc", ""},
		"in place of one too": {"secret", "Bearer ts_1_abc", "Bearer secret"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, record := range []bool{true, false} {
				w := newWorld(t, newScripted(t, front.OpenAI, says("hi"), says("{}")), func(c *front.Config) {
					c.Upstream.Key, c.RecordOnly = test.ours, record
				})
				chat := w.talk(front.OpenAI, true)
				chat.header.Set("Authorization", test.theirs)
				chat.say("hello")
				if got := w.upstream.last().header.Get("Authorization"); got != test.want {
					t.Errorf("sent %q", got)
				}
			}
		})
	}
}

func TestHeartbeat(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama))
	for _, method := range []string{"GET", "HEAD"} {
		if r, _ := ask(t, method, w.url+"/", ""); r.StatusCode != http.StatusOK {
			t.Errorf("status %d", r.StatusCode)
		}
	}
}

func TestConfig(t *testing.T) {
	engine := func(*http.Request) (*turnstone.Engine, error) { return nil, errors.New("none") }
	for name, config := range map[string]front.Config{
		"Engine":        {Upstream: front.Upstream{URL: "http://127.0.0.1"}},
		"Upstream.URL":  {Engine: engine, Upstream: front.Upstream{URL: "nowhere"}},
		"Upstream.Kind": {Engine: engine, Upstream: front.Upstream{URL: "http://127.0.0.1", Kind: "other"}},
	} {
		if _, err := front.New(config); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// asksDirectly has the script answer also who asks for a model.
func asksDirectly(s *scripted) *scripted {
	s.direct = true
	return s
}
