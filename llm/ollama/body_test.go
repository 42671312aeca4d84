package ollama_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/llm/ollama"
)

// sent is the body of the request that a model makes.
func sent(t *testing.T, o ollama.Options, r llm.Request) string {
	t.Helper()
	var body []byte
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var err error
			if body, err = io.ReadAll(r.Body); err != nil {
				t.Error(err)
			}
			llmtest.Speak(w, r, `{"message":{"content":"yes"},"done":true}`)
		}))
		o.BaseURL, o.HTTP = s.URL, s.HTTP
		if _, err := llm.Complete(t.Context(), ollama.New("m", o), r); err != nil {
			t.Error(err)
		}
	})
	return string(body)
}

func TestBody(t *testing.T) {
	cold := 0.0
	user := []llm.Message{{Role: llm.User, Text: "u"}}
	const always = `{"model":"m","stream":true,"truncate":false,"shift":false,`
	const said = `"messages":[{"role":"user","content":"u"}]}`
	for _, tt := range []struct {
		name string
		o    ollama.Options
		r    llm.Request
		want string
	}{
		{"the least", ollama.Options{}, llm.Request{Messages: user}, always + `"options":{"num_ctx":8192},` + said},
		{"a context of the model's", ollama.Options{Context: 4096}, llm.Request{Messages: user}, always + `"options":{"num_ctx":4096},` + said},
		{
			"a context of the request's", ollama.Options{Context: 4096},
			llm.Request{Messages: user, Context: 6963, MaxTokens: 100, Temperature: &cold},
			always + `"options":{"num_ctx":6963,"num_predict":100,"temperature":0},` + said,
		},
		{"a limit that is none", ollama.Options{}, llm.Request{Messages: user, MaxTokens: -1}, always + `"options":{"num_ctx":8192},` + said},
		{"JSON", ollama.Options{}, llm.Request{Messages: user, JSON: true}, always + `"format":"json","options":{"num_ctx":8192},` + said},
		{"for a while", ollama.Options{KeepAlive: 90 * time.Second}, llm.Request{Messages: user}, always + `"keep_alive":"1m30s","options":{"num_ctx":8192},` + said},
		{"for ever", ollama.Options{KeepAlive: -1}, llm.Request{Messages: user}, always + `"keep_alive":-1,"options":{"num_ctx":8192},` + said},
		{"thinking", ollama.Options{Think: ollama.ThinkOn}, llm.Request{Messages: user}, always + `"think":true,"options":{"num_ctx":8192},` + said},
		{"not thinking", ollama.Options{Think: ollama.ThinkOff}, llm.Request{Messages: user}, always + `"think":false,"options":{"num_ctx":8192},` + said},
		{"thinking hard", ollama.Options{Think: ollama.ThinkHigh}, llm.Request{Messages: user}, always + `"think":"high","options":{"num_ctx":8192},` + said},
		{
			"tools", ollama.Options{},
			llm.Request{Messages: user, Tools: []llm.Tool{{Name: "now"}, {Name: "look", Description: "Looks <up>.", Schema: `{"type": "object"}`}}},
			always + `"options":{"num_ctx":8192},"tools":[` +
				`{"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}},` +
				`{"type":"function","function":{"name":"look","description":"Looks <up>.","parameters":{"properties":{},"type":"object"}}}],` + said,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, sent(t, tt.o, tt.r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	got := sent(t, ollama.Options{}, llm.Request{Messages: []llm.Message{
		{Role: llm.System, Text: "Be <brief>."},
		{Role: llm.User, Text: "see [img-7]", Images: []llm.Image{
			{MediaType: "image/png", Data: []byte{0xfe, 0xfe, 0xfe}}, {MediaType: "image/gif", Data: []byte{1}, Alt: "a cat"}, {MediaType: "image/png"},
		}},
		{Role: llm.User, Images: []llm.Image{{MediaType: "image/tiff"}}},
		{Role: llm.Assistant, Text: "Looking.", Thinking: "a cat?", Calls: []llm.Call{
			{ID: "a", Name: "look", Arguments: `{"q": "[img-7]"}`}, {ID: "b", Name: "look", Arguments: `{"q":`}, {ID: "c", Name: "now"}, {ID: "d", Name: "now", Arguments: "[1]"},
		}},
		{Role: llm.ToolResult, CallID: "a", Name: "look", Text: "a cat"},
		{Role: llm.ToolResult, CallID: "b", Name: "look"},
		{Role: llm.ToolResult, CallID: "c", Name: "now", Text: "12"},
		{Role: llm.ToolResult, CallID: "d", Name: "now", Text: "12"},
	}})
	_, list, _ := strings.Cut(got, `"messages":`)
	want := `[{"role":"system","content":"Be <brief>."},` +
		`{"role":"user","content":"see [img -7]\n[image: a cat]\n[image]","images":["/v7+"]},` +
		`{"role":"user","content":"[image]"},` +
		`{"role":"assistant","content":"Looking.","thinking":"a cat?","tool_calls":[` +
		`{"function":{"name":"look","arguments":{"q":"[img -7]"}}},{"function":{"name":"look","arguments":{"arguments":"{\"q\":"}}},` +
		`{"function":{"name":"now","arguments":{}}},{"function":{"name":"now","arguments":{"arguments":[1]}}}]},` +
		`{"role":"tool","content":"a cat","tool_name":"look"},{"role":"tool","content":"","tool_name":"look"},` +
		`{"role":"tool","content":"12","tool_name":"now"},{"role":"tool","content":"12","tool_name":"now"}]}`
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
}

func TestOneTokenThatWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			llmtest.Speak(w, r, `{"message":{"content":"It"},"done":true,"done_reason":"length","prompt_eval_count":5,"eval_count":1}`)
		}))
		m := ollama.New("m", ollama.Options{BaseURL: s.URL, HTTP: s.HTTP})
		got, err := llm.Complete(t.Context(), m, llm.Request{MaxTokens: 1, Messages: []llm.Message{{Role: llm.User, Text: "u"}}})
		if err != nil || got.Text != "It" || got.Stop != llm.StopLength {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestAddress(t *testing.T) {
	for given, want := range map[string]string{
		"":                       ollama.DefaultURL,
		" ":                      ollama.DefaultURL,
		"127.0.0.1":              "http://127.0.0.1:11434",
		"box:8080":               "http://box:8080",
		":8080":                  "http://127.0.0.1:8080",
		"0.0.0.0":                "http://127.0.0.1:11434",
		"0.0.0.0:99":             "http://127.0.0.1:99",
		"http://[::]:99":         "http://127.0.0.1:99",
		"http://box":             "http://box",
		"http://0.0.0.0":         "http://127.0.0.1",
		"https://box/ollama/":    "https://box/ollama",
		"https://[fe80::1]/":     "https://[fe80::1]",
		" http://a:b@box:1 ":     "http://a:b@box:1",
		"ftp://box":              "",
		"http://":                "",
		"http://a:secret@box:p":  "",
		"unix:///run/ollama.soc": "",
	} {
		got, err := ollama.Address(given)
		if got != want || (err == nil) != (want != "") || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %q, %v, want %q", given, got, err, want)
		}
	}
}

func TestTheServerOfTheEnvironment(t *testing.T) {
	t.Setenv("OLLAMA_HOST", "ftp://nowhere")
	ask := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "u"}}}
	if _, err := llm.Complete(t.Context(), ollama.New("m", ollama.Options{}), ask); !errors.Is(err, llm.ErrUnreachable) || !strings.Contains(err.Error(), "no address") {
		t.Error(err)
	}
	t.Setenv("OLLAMA_HOST", "model.test")
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			llmtest.Speak(w, r, `{"message":{"content":"from `+r.Host+`"},"done":true}`)
		}))
		got, err := llm.Complete(t.Context(), ollama.New("m", ollama.Options{HTTP: s.HTTP}), ask)
		if err != nil || got.Text != "from model.test:11434" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestNobodyListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.Serve(t, http.NotFoundHandler())
		s.Refuse(9)
		m := ollama.New("m", ollama.Options{BaseURL: s.URL, HTTP: s.HTTP})
		_, err := llm.Complete(t.Context(), m, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "u"}}})
		if !errors.Is(err, llm.ErrUnreachable) || !strings.Contains(err.Error(), "is Ollama running? start it with `ollama serve`") {
			t.Error(err)
		}
	})
}
