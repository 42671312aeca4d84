package front_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone/server/front"
)

// scripted is a model server of either kind that answers as it is told.
type scripted struct {
	*httptest.Server
	kind front.Kind

	mu      sync.Mutex // guards all below
	answers []answer
	asked   []asked
	// oblige, where it is set, answers in place of the answers.
	oblige func(*asked) answer
	lacks  string // a model that the server does not have
	direct bool   // the script has also the answers to who asks for a model
}

// answer is what a scripted server says next.
type answer struct {
	text     string
	thinking string
	calls    []called
	// status and body come in place of an answer.
	status int
	body   string
	// dies says after how many words the connection breaks; -1 is never.
	dies int
	// gate, where there is one, is received from before each word.
	gate <-chan struct{}
	// garbage stands in place of the second word.
	garbage string
}

type called struct{ id, name, arguments string }

// asked is a request that a scripted server got.
type asked struct {
	path string
	raw  string
	body struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role       string
			Content    any
			Images     []string
			ToolCalls  []any  `json:"tool_calls"`
			ToolName   string `json:"tool_name"`
			ToolCallID string `json:"tool_call_id"`
		}
		Tools   []any
		Options map[string]any
	}
	header http.Header
}

// said are the texts of the messages, with their roles.
func (a *asked) said() []string {
	var said []string
	for _, m := range a.body.Messages {
		said = append(said, fmt.Sprintf("%s: %v", m.Role, m.Content))
	}
	return said
}

func says(text string) answer { return answer{text: text, dies: -1} }

func newScripted(t *testing.T, kind front.Kind, answers ...answer) *scripted {
	s := &scripted{kind: kind, answers: answers}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// url is what the front is configured with.
func (s *scripted) url() string {
	if s.kind == front.OpenAI {
		return s.URL + "/v1"
	}
	return s.URL
}

// requests are those that it got so far.
func (s *scripted) requests() []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]asked(nil), s.asked...)
}

func (s *scripted) last() *asked {
	all := s.requests()
	return &all[len(all)-1]
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	a := asked{path: r.URL.Path, raw: string(raw), header: r.Header}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &a.body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	// Whether it has a model is not in the script.
	if !s.direct && (strings.HasPrefix(r.URL.Path, "/v1/models/") || strings.HasSuffix(a.raw, `"verbose":false}`)) {
		if s.lacks != "" && strings.Contains(r.URL.Path+a.raw, s.lacks) {
			w.WriteHeader(http.StatusNotFound)
			if s.kind == front.OpenAI {
				fmt.Fprint(w, `{"error":{"message":"model 'nobody' not found","code":"model_not_found"}}`)
			} else {
				fmt.Fprint(w, `{"error":"model 'nobody' not found"}`)
			}
		}
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, a)
	next := answer{status: 500, body: `{"error":"the script is over"}`}
	if len(s.answers) > 0 {
		next, s.answers = s.answers[0], s.answers[1:]
	}
	s.mu.Unlock()
	if s.oblige != nil {
		next = s.oblige(&a)
	}
	if next.status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Upstream", "yes")
		w.WriteHeader(next.status)
		fmt.Fprint(w, next.body)
		return
	}
	if s.kind == front.OpenAI || strings.HasPrefix(r.URL.Path, "/v1") {
		next.openai(w, r, &a)
	} else {
		next.ollama(w, r, &a)
	}
}

// words tells the text word by word, and whether to go on.
func (n *answer) words(w http.ResponseWriter, r *http.Request, tell func(word string), garbage func(string)) bool {
	flush := func() {
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
	flush()
	for i, word := range strings.SplitAfter(n.text, " ") {
		if n.gate != nil {
			select {
			case <-n.gate:
			case <-r.Context().Done():
				return false
			}
		}
		if n.dies == i {
			panic(http.ErrAbortHandler)
		}
		if n.garbage != "" && i == 1 {
			garbage(n.garbage)
			return false
		}
		tell(word)
		flush()
	}
	return true
}

const ollamaHead = `"model":"m","created_at":"2026-01-02T03:04:05.6Z"`

func (n *answer) ollama(w http.ResponseWriter, r *http.Request, a *asked) {
	generate := strings.HasSuffix(a.path, "/generate")
	message := func(text, more string) string {
		if generate {
			return `"response":` + quote(text)
		}
		return `"message":{"role":"assistant","content":` + quote(text) + more + `}`
	}
	end := `"done":true,"done_reason":"stop","total_duration":5000,"load_duration":1000,"prompt_eval_count":7,"prompt_eval_duration":2000,"eval_count":3,"eval_duration":1500`
	var calls string
	if len(n.calls) > 0 {
		var list []string
		for _, c := range n.calls {
			list = append(list, `{"function":{"name":`+quote(c.name)+`,"arguments":`+c.arguments+`}}`)
		}
		calls = `,"tool_calls":[` + strings.Join(list, ",") + `]`
	}
	if !a.body.Stream {
		if n.thinking != "" {
			calls += `,"thinking":` + quote(n.thinking)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprintf(w, `{%s,%s,%s}`, ollamaHead, message(n.text, calls), end)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	if n.thinking != "" {
		fmt.Fprintf(w, "{%s,%s,\"done\":false}\n", ollamaHead, message("", `,"thinking":`+quote(n.thinking)))
	}
	if !n.words(w, r, func(word string) {
		if word != "" {
			fmt.Fprintf(w, "{%s,%s,\"done\":false}\n", ollamaHead, message(word, ""))
		}
	}, func(garbage string) { fmt.Fprintln(w, garbage) }) {
		return
	}
	if calls != "" {
		fmt.Fprintf(w, "{%s,%s,\"done\":false}\n", ollamaHead, message("", calls))
	}
	fmt.Fprintf(w, "{%s,%s,%s}\n", ollamaHead, message("", ""), end)
}

const openaiHead = `"id":"chatcmpl-1","created":1700000000,"model":"m","system_fingerprint":"fp_1"`

func (n *answer) openai(w http.ResponseWriter, r *http.Request, a *asked) {
	usage := `"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}`
	reason := "stop"
	var calls []string
	for i, c := range n.calls {
		calls = append(calls, fmt.Sprintf(`{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, i, quote(c.id), quote(c.name), quote(c.arguments)))
		reason = "tool_calls"
	}
	if !a.body.Stream {
		w.Header().Set("Content-Type", "application/json")
		message := `"role":"assistant","content":` + quote(n.text)
		if len(calls) > 0 {
			message += `,"tool_calls":[` + strings.Join(calls, ",") + `]`
		}
		fmt.Fprintf(w, `{%s,"object":"chat.completion","choices":[{"index":0,"message":{%s},"logprobs":null,"finish_reason":%q}],%s}`, openaiHead, message, reason, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(delta, reason string) {
		fmt.Fprintf(w, "data: {%s,\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":%s}]}\n\n", openaiHead, delta, reason)
	}
	event(`"role":"assistant","content":""`, "null")
	if n.thinking != "" {
		event(`"reasoning_content":`+quote(n.thinking), "null")
	}
	if !n.words(w, r, func(word string) {
		if word != "" {
			event(`"content":`+quote(word), "null")
		}
	}, func(garbage string) { fmt.Fprintf(w, "data: %s\n\n", garbage) }) {
		return
	}
	for _, c := range calls {
		event(`"tool_calls":[`+c+`]`, "null")
	}
	event("", quote(reason))
	if strings.Contains(a.raw, `"include_usage":true`) {
		fmt.Fprintf(w, "data: {%s,\"object\":\"chat.completion.chunk\",\"choices\":[],%s}\n\n", openaiHead, usage)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}
