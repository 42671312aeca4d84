package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestServerURL(t *testing.T) {
	for given, want := range map[string]string{
		"127.0.0.1":              "http://127.0.0.1:11434",
		"box:8080":               "http://box:8080",
		":8080":                  "http://127.0.0.1:8080",
		"0.0.0.0":                "http://127.0.0.1:11434",
		"0.0.0.0:99":             "http://127.0.0.1:99",
		"http://0.0.0.0:99/":     "http://127.0.0.1:99",
		"http://[::]:99":         "http://127.0.0.1:99",
		"http://box":             "http://box",
		"https://box/ollama/":    "https://box/ollama",
		"https://[fe80::1]/":     "https://[fe80::1]",
		" http://a:b@box:1 ":     "http://a:b@box:1",
		"8080":                   "",
		"8080/ollama":            "",
		"http://8080":            "http://8080", // a name for whoever says so
		"70000":                  "http://70000:11434",
		"ftp://box":              "",
		"http://":                "",
		"http://box:port":        "",
		"http://box:1/\x7f":      "",
		"unix:///run/ollama.soc": "",
	} {
		got, err := serverURL(given)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", given, got, err, want)
		}
	}
}

// A server with OpenAI's API is named as an Ollama is, by serve as by chat, but one elsewhere has no usual port.
func TestAddressesOfServersWithOpenAIsAPI(t *testing.T) {
	for given, want := range map[string]string{
		"localhost:1234/v1":    "http://localhost:1234/v1",
		"box:8080/v1/":         "http://box:8080/v1",
		":8080/v1":             "http://127.0.0.1:8080/v1",
		"localhost/v1":         "http://localhost:11434/v1", // an Ollama's
		"http://box/v1":        "http://box/v1",
		"https://box/v1":       "https://box/v1",
		"api.openai.com/v1":    "",
		"192.0.2.1/v1":         "",
		"ftp://box/v1":         "",
		"a:password@box/v1":    "",
		"http://box:port/v1":   "",
		"http://box:1/\x7f/v1": "",
	} {
		a := &app{system: system{getenv: func(string) string { return "" }}}
		got, api, err := a.upstreamURL(upstreamFlags{url: given})
		if strings.Contains(given, "password") && !slices.Contains(a.secrets, "password") {
			t.Errorf("the password in %q may be told", given)
		}
		if err == nil && api != apiOpenAI {
			t.Errorf("%q is taken for one that speaks %s", given, api)
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", given, got, err, want)
		}
		if want == "" && !strings.Contains(given, "://") && (err == nil || !strings.Contains(err.Error(), "put https:// or http:// before it")) {
			t.Errorf("%q: %v does not say what to put before it", given, err)
		}
	}
}

const tinyDigest = "a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72"

// tinyInfo is what a server says of a model whose vocabulary are the bytes, a space, "a", "b" and "ab".
func tinyInfo() map[string]any {
	tokens, types, scores := []string{"<unk>"}, []int{2}, []float64{0}
	for b := range 256 {
		tokens, types, scores = append(tokens, fmt.Sprintf("<0x%02X>", b)), append(types, 6), append(scores, 0)
	}
	for i, token := range []string{"\u2581", "a", "b", "ab"} {
		tokens, types, scores = append(tokens, token), append(types, 1), append(scores, -float64(i))
	}
	return map[string]any{
		"general.architecture": "llama", "general.parameter_count": 8_000_000_000, "llama.context_length": 32768,
		"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types,
		"tokenizer.ggml.scores": scores, "tokenizer.ggml.add_space_prefix": false,
	}
}

// lies are what a server can say that is not so, by the name that startOllama takes.
var lies = map[string]func(tags, info map[string]any){
	"honest": func(_, _ map[string]any) {},
	"digest": func(tags, _ map[string]any) {
		for _, m := range tags["models"].([]map[string]any) {
			m["digest"] = "../../etc/passwd"
		}
	},
	"tokens": func(_, info map[string]any) { info["tokenizer.ggml.tokens"] = "none" },
	"scores": func(_, info map[string]any) { info["tokenizer.ggml.scores"] = []float64{1, 2, 3} },
	"pre": func(_, info map[string]any) {
		info["tokenizer.ggml.model"], info["tokenizer.ggml.pre"] = "gpt2", "of its own"
		info["tokenizer.ggml.merges"] = []string{"a b"}
	},
	"merges": func(_, info map[string]any) {
		info["tokenizer.ggml.model"], info["tokenizer.ggml.pre"] = "gpt2", "llama-bpe"
		info["tokenizer.ggml.merges"] = []string{"nowhere to be found"}
	},
	"context": func(_, info map[string]any) { info["llama.context_length"] = -1 },
}

// startOllama runs a server for the script, names it in the environment, and has it lie about one thing:
// ollama scores. Down is one that does not answer, web one that is no Ollama server.
func startOllama(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ollama lie")
	}
	tags := map[string]any{"models": []map[string]any{{"name": "llama3.2:latest", "digest": tinyDigest}, {"name": "mine:latest", "digest": strings.Repeat("b", 64)}}}
	info := tinyInfo()
	mux := http.NewServeMux()
	answer := func(answer any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if err := json.NewEncoder(w).Encode(answer); err != nil {
				panic(http.ErrAbortHandler)
			}
		}
	}
	if tell := lies[args[0]]; tell != nil {
		tell(tags, info)
		mux.HandleFunc("GET /api/tags", answer(tags))
		mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
			var asked struct{ Model string }
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Model == "nobody" {
				w.WriteHeader(http.StatusNotFound)
				answer(map[string]string{"error": "model 'nobody' not found"})(w, r)
				return
			}
			answer(map[string]any{"details": map[string]any{"family": "llama"}, "model_info": info})(w, r)
		})
	} else if args[0] == "web" {
		mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Welcome!</html>") })
	} else if args[0] != "down" {
		ts.Fatalf("%s is no lie", args[0])
	}
	server := httptest.NewServer(mux)
	ts.Setenv(envOllama, server.URL)
	if args[0] == "down" {
		server.Close()
		return
	}
	ts.Defer(server.Close)
}
