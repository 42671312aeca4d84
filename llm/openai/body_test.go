package openai_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/llm/openai"
)

var ask = llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "u"}}}

const yes = `data: {"choices":[{"delta":{"content":"yes"},"finish_reason":"stop"}]}`

// sent is what a model sends: the body, the key and the address.
func sent(t *testing.T, o openai.Options, r llm.Request) (body, key, url string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			body, key, url = string(text), r.Header.Get("Authorization"), r.Host+r.URL.String()
			llmtest.Speak(w, r, yes, "data: [DONE]")
		}))
		o.HTTP = s.HTTP
		if o.BaseURL == "" {
			o.BaseURL = s.URL
		}
		if _, err := llm.Complete(t.Context(), openai.New("m", o), r); err != nil {
			t.Error(err)
		}
	})
	return body, key, url
}

func TestBody(t *testing.T) {
	warm := 0.7
	const always = `{"model":"m","stream":true,"stream_options":{"include_usage":true},`
	const said = `"messages":[{"role":"user","content":"u"}]}`
	for _, tt := range []struct {
		name string
		o    openai.Options
		r    llm.Request
		want string
	}{
		{"the least", openai.Options{}, ask, always + said},
		{
			"a limit", openai.Options{}, llm.Request{Messages: ask.Messages, MaxTokens: 9, Context: 512, Temperature: &warm},
			always + `"max_tokens":9,"temperature":0.7,` + said,
		},
		{"the other limit", openai.Options{LimitField: openai.MaxCompletionTokens}, llm.Request{Messages: ask.Messages, MaxTokens: 9}, always + `"max_completion_tokens":9,` + said},
		{"a limit that is none", openai.Options{}, llm.Request{Messages: ask.Messages, MaxTokens: -1}, always + said},
		{"JSON", openai.Options{}, llm.Request{Messages: ask.Messages, JSON: true}, always + `"response_format":{"type":"json_object"},` + said},
		{
			"tools", openai.Options{},
			llm.Request{Messages: ask.Messages, Tools: []llm.Tool{{Name: "now"}, {Name: "look", Description: "Looks <up>.", Schema: `{"type": "object"}`}}},
			always + `"tools":[` +
				`{"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}},` +
				`{"type":"function","function":{"name":"look","description":"Looks <up>.","parameters":{"properties":{},"type":"object"}}}],` + said,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, key, _ := sent(t, tt.o, tt.r)
			if diff := cmp.Diff(tt.want, got); diff != "" || key != "" {
				t.Errorf("key %q\n%s", key, diff)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	got, _, _ := sent(t, openai.Options{}, llm.Request{Messages: []llm.Message{
		{Role: llm.System, Text: "Be <brief>."},
		{Role: llm.User, Text: "see", Images: []llm.Image{
			{MediaType: "image/gif", Data: []byte{0xfe, 0xfe, 0xfe}}, {MediaType: "image/tiff", Data: []byte{1}, Alt: "a cat"}, {MediaType: "image/png"},
		}},
		{Role: llm.User, Images: []llm.Image{{MediaType: "image/tiff"}}},
		{Role: llm.Assistant, Thinking: "a cat?", Calls: []llm.Call{{ID: "a", Name: "look", Arguments: `{"q": 1}`}, {ID: "b", Name: "look", Arguments: `{"q":`}}},
		{Role: llm.ToolResult, CallID: "a", Name: "look", Text: "a cat"},
		{Role: llm.ToolResult, CallID: "b", Name: "look"},
		{Role: llm.Assistant, Text: "A cat.", Calls: []llm.Call{{ID: "c", Name: "now"}}},
		{Role: llm.ToolResult, CallID: "c", Name: "now", Text: "12"},
		{Role: llm.Assistant},
	}})
	_, list, _ := strings.Cut(got, `"messages":`)
	want := `[{"role":"system","content":"Be <brief>."},` +
		`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/gif;base64,/v7+"}},` +
		`{"type":"text","text":"[image: a cat]"},{"type":"text","text":"[image]"}]},` +
		`{"role":"user","content":[{"type":"text","text":"[image]"}]},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{\"q\": 1}"}},` +
		`{"id":"b","type":"function","function":{"name":"look","arguments":"{\"arguments\":\"{\\\"q\\\":\"}"}}]},` +
		`{"role":"tool","tool_call_id":"a","content":"a cat"},{"role":"tool","tool_call_id":"b","content":""},` +
		`{"role":"assistant","content":"A cat.","tool_calls":[{"id":"c","type":"function","function":{"name":"now","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"c","content":"12"},{"role":"assistant","content":""}]}`
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
}

// A model calls what is no tool at all, and from then on that name is in the history. OpenAI refuses all but plain ones.
func TestNamesThatNoToolHas(t *testing.T) {
	for name, want := range map[string]string{
		"weather":                 "weather",
		"multi_tool_use.parallel": "multi_tool_use_parallel",
		"fs/read it?":             "fs_read_it_",
		"größe":                   "gr__e",
		"azAZ09_-":                "azAZ09_-",
		"`{@[/:":                  "______",
		strings.Repeat("x", 65):   strings.Repeat("x", 64),
	} {
		body, _, _ := sent(t, openai.Options{}, llm.Request{Messages: []llm.Message{
			{Role: llm.Assistant, Calls: []llm.Call{{ID: "a", Name: name}}}, {Role: llm.ToolResult, CallID: "a", Name: name},
		}})
		if !strings.Contains(body, `"function":{"name":"`+want+`",`) {
			t.Errorf("%s: %s", name, body)
		}
	}
}

func TestKeysAndAddresses(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", " sk-own\n")
	t.Setenv("OTHER_KEY", "sk-other")
	const plain = "http://api.openai.com/v1" // as OpenAI's own, without encryption
	for _, tt := range []struct {
		name, base, variable string
		key, url             string
	}{
		{"another server gets no key", "http://model.test/v1/", "", "", "model.test/v1/chat/completions"},
		{"but the one that is named", "http://model.test", "OTHER_KEY", "Bearer sk-other", "model.test/chat/completions"},
		{"OpenAI gets its own", plain, "", "Bearer sk-own", "api.openai.com/v1/chat/completions"},
		{"or another", plain, "OTHER_KEY", "Bearer sk-other", "api.openai.com/v1/chat/completions"},
		{"a query stays", "http://model.test/v1?version=7", "", "", "model.test/v1/chat/completions?version=7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			limited := ask
			limited.MaxTokens = 9
			body, key, url := sent(t, openai.Options{BaseURL: tt.base, KeyVariable: tt.variable}, limited)
			if key != tt.key || url != tt.url {
				t.Errorf("got %q to %s, want %q to %s", key, url, tt.key, tt.url)
			}
			if own := strings.HasPrefix(tt.base, plain); strings.Contains(body, "max_completion_tokens") != own {
				t.Error(body)
			}
		})
	}
}

// Without an address it is OpenAI, encrypted.
func TestTheDefaultAddress(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-own")
	m := openai.New("m", openai.Options{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if got := r.URL.String() + " " + r.Header.Get("Authorization"); got != "https://api.openai.com/v1/chat/completions Bearer sk-own" {
			t.Error(got)
		}
		return nil, io.ErrClosedPipe
	})}, Backoff: llm.Backoff{Attempts: 1}})
	if _, err := llm.Complete(t.Context(), m, ask); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNoKey(t *testing.T) {
	t.Setenv("MISSING_KEY", "")
	m := openai.New("m", openai.Options{BaseURL: "http://127.0.0.1:1", KeyVariable: "MISSING_KEY"})
	if _, err := llm.Complete(t.Context(), m, ask); !errors.Is(err, llm.ErrRefused) || !strings.Contains(err.Error(), "MISSING_KEY") {
		t.Error(err)
	}
}

func TestKeysAreInNoError(t *testing.T) {
	const key = "sk-very-secret"
	t.Setenv("OTHER_KEY", key)
	for _, lines := range [][]string{
		{"401", `{"error":{"message":"Incorrect API key provided: ` + key + `"}}`},
		{"200", "data: {\"error\":{\"message\":\"bad key " + key + "\"}}"},
		{"200", key + " is no event"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if lines[0] == "401" {
					w.WriteHeader(http.StatusUnauthorized)
				}
				llmtest.Speak(w, r, lines[1])
			}))
			m := openai.New("m", openai.Options{BaseURL: s.URL, HTTP: s.HTTP, KeyVariable: "OTHER_KEY"})
			_, err := llm.Complete(t.Context(), m, ask)
			if err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "[key]") {
				t.Error(err)
			}
			if lines[0] == "401" && !strings.Contains(err.Error(), "OTHER_KEY") {
				t.Errorf("%v does not say where the key is", err)
			}
			if text := fmt.Sprintf("%+v", m); strings.Contains(text, key) {
				t.Error(text)
			}
		})
	}
}

func TestWrongAddress(t *testing.T) {
	for _, base := range []string{"localhost:8080/v1", "ftp://box/v1", "http://", "http://secret\x7f"} {
		_, err := llm.Complete(t.Context(), openai.New("m", openai.Options{BaseURL: base}), ask)
		if !errors.Is(err, llm.ErrUnreachable) || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "give a URL") {
			t.Errorf("%q: %v", base, err)
		}
	}
}

func TestADialectIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := 0
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			if strings.Contains(string(body), "stream_options") {
				refused++
				http.Error(w, `{"error":"unknown field stream_options"}`, http.StatusBadRequest)
				return
			}
			llmtest.Speak(w, r, yes, "data: [DONE]")
		}))
		m := openai.New("m", openai.Options{BaseURL: s.URL, HTTP: s.HTTP})
		for range 3 {
			if _, err := llm.Complete(t.Context(), m, ask); err != nil {
				t.Error(err)
			}
		}
		if refused != 1 {
			t.Errorf("%d refusals", refused)
		}
	})
}

// What a server does not know of a request and is not said in other words is not asked again, and nothing is learnt of it.
func TestAComplaintOfSomethingElse(t *testing.T) {
	for _, field := range []openai.LimitField{openai.MaxTokens, openai.MaxCompletionTokens} {
		synctest.Test(t, func(t *testing.T) {
			requests := 0
			s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests++
				http.Error(w, `{"error":"unsupported: temperature"}`, http.StatusBadRequest)
			}))
			m := openai.New("m", openai.Options{BaseURL: s.URL, HTTP: s.HTTP, LimitField: field})
			if _, err := llm.Complete(t.Context(), m, llm.Request{Messages: ask.Messages, MaxTokens: 9}); !errors.Is(err, llm.ErrRefused) || requests != 1 {
				t.Errorf("%v after %d requests", err, requests)
			}
		})
	}
}

func TestTheOtherLimit(t *testing.T) {
	for first, other := range map[openai.LimitField]openai.LimitField{
		openai.MaxTokens: openai.MaxCompletionTokens, openai.MaxCompletionTokens: openai.MaxTokens,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				if strings.Contains(string(body), `"`+string(first)+`"`) {
					http.Error(w, `{"error":"unrecognized: `+string(first)+`"}`, http.StatusBadRequest)
					return
				}
				if !strings.Contains(string(body), `"`+string(other)+`":9`) {
					t.Errorf("%s", body)
				}
				llmtest.Speak(w, r, yes, "data: [DONE]")
			}))
			m := openai.New("m", openai.Options{BaseURL: s.URL, HTTP: s.HTTP, LimitField: first})
			if _, err := llm.Complete(t.Context(), m, llm.Request{Messages: ask.Messages, MaxTokens: 9}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAServerThatUnderstandsNothing(t *testing.T) {
	for limit, want := range map[int]int{0: 1, 9: 3} {
		synctest.Test(t, func(t *testing.T) {
			requests := 0
			s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests++
				http.Error(w, "unknown: max_tokens max_completion_tokens", http.StatusBadRequest)
			}))
			m := openai.New("m", openai.Options{BaseURL: s.URL, HTTP: s.HTTP})
			r := ask
			r.MaxTokens = limit
			if _, err := llm.Complete(t.Context(), m, r); !errors.Is(err, llm.ErrRefused) || requests != want {
				t.Errorf("%v after %d requests, want %d", err, requests, want)
			}
		})
	}
}

// Mistral takes no ids of calls but such as its own. A call and its result keep one, the same in every request.
func TestIDsAsMistralWantsThem(t *testing.T) {
	ids := regexp.MustCompile(`"(?:id|tool_call_id)":"([^"]*)"`)
	fits := regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	const calls = 100 // so many that ids of a few letters would meet
	synctest.Test(t, func(t *testing.T) {
		var last [][]string
		refused := 0
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			var sent []string
			for _, found := range ids.FindAllStringSubmatch(string(body), -1) {
				if sent = append(sent, found[1]); !fits.MatchString(found[1]) {
					refused++
					http.Error(w, `{"object":"error","message":"Tool call id was `+found[1]+` but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_request_error","code":3280}`, http.StatusBadRequest)
					return
				}
			}
			last = append(last, sent)
			llmtest.Speak(w, r, yes, "data: [DONE]")
		}))
		m := openai.New("m", openai.Options{BaseURL: s.URL, HTTP: s.HTTP})
		asked := llm.Message{Role: llm.Assistant}
		var results []llm.Message
		for i := range calls {
			id := fmt.Sprint("call_2_", i)
			asked.Calls = append(asked.Calls, llm.Call{ID: id, Name: "look"})
			results = append(results, llm.Message{Role: llm.ToolResult, CallID: id, Name: "look", Text: "1"})
		}
		r := llm.Request{Messages: append([]llm.Message{asked}, results...)}
		for range 2 {
			if _, err := llm.Complete(t.Context(), m, r); err != nil {
				t.Fatal(err)
			}
		}
		if refused != 1 || len(last) != 2 || !slices.Equal(last[0], last[1]) {
			t.Fatalf("%d refusals, sent %q", refused, last)
		}
		sent := last[0]
		if len(sent) != 2*calls || !slices.Equal(sent[:calls], sent[calls:]) {
			t.Errorf("sent %q", sent)
		}
		slices.Sort(sent)
		if different := slices.Compact(sent); len(different) != calls {
			t.Errorf("%d calls have %d ids", calls, len(different))
		}
	})
}
