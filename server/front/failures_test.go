package front_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/server/front"
)

func TestUpstreamFails(t *testing.T) {
	for name, test := range map[string]struct {
		answer answer
		status int // of an answer that is not streamed
		said   string
		log    []string
	}{
		"it refuses": {answer{status: 404, body: `{"error":"model 'm' not found"}`}, 404, "model 'm' not found", []string{"user: hi"}},
		"it refuses as OpenAI does": {
			answer{status: 429, body: `{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}`}, 429, "slow down", []string{"user: hi"},
		},
		"it breaks down":       {answer{status: 500, body: "oops"}, 500, "oops", []string{"user: hi"}},
		"it dies at once":      {answer{text: "one two three", dies: 0}, 502, "interrupted", []string{"user: hi"}},
		"it dies in mid-reply": {answer{text: "one two three", dies: 2}, 502, "interrupted", []string{"user: hi", "agent: one two  […]"}},
		"it talks nonsense":    {answer{text: "one two three", dies: -1, garbage: "{nonsense"}, 502, "makes no sense", []string{"user: hi", "agent: one  […]"}},
		"it complains in mid-reply": {
			answer{text: "one two three", dies: -1, garbage: `{"error":"out of memory"}`}, 500, "out of memory", []string{"user: hi", "agent: one  […]"},
		},
		"it has no error in mid-reply, and stops": {
			answer{text: "one two three", dies: -1, garbage: `{"error":null}`}, 502, "interrupted", []string{"user: hi", "agent: one  […]"},
		},
		"it stops in mid-reply": {answer{text: "one two three", dies: -1, garbage: `{}`}, 502, "interrupted", []string{"user: hi", "agent: one  […]"}},
	} {
		t.Run(name, func(t *testing.T) {
			combinations(t, func(t *testing.T, api, upstream front.Kind, stream bool) {
				if !stream && test.answer.status == 0 {
					t.Skip("an answer that is not streamed comes whole or not at all")
				}
				w := newWorld(t, newScripted(t, upstream, test.answer, says("fine")))
				chat := w.talk(api, stream)
				r := chat.send(user("hi"))
				if !strings.Contains(r.failure, test.said) {
					t.Errorf("status %d, failure %q in %s", r.status, r.failure, r.body)
				}
				if begun := test.answer.status == 0; !begun && r.status != test.status || begun && r.status != http.StatusOK {
					t.Errorf("status %d", r.status)
				}
				if diff := cmp.Diff(test.log, w.log(w.sessions()[0])); diff != "" {
					t.Error(diff)
				}
				want := commit.Failed
				if len(test.log) > 1 {
					want = commit.Interrupted
				}
				if state := w.ended(); state != want {
					t.Errorf("it ended as %s", state)
				}
				chat.history = nil
				if r := chat.say("again"); r.text != "fine" {
					t.Errorf("then %q", r.text)
				}
			})
		})
	}
}

// Clients of OpenAI tell errors apart by their code, whatever the words of the server upstream.
func TestOpenAIErrorObject(t *testing.T) {
	for name, test := range map[string]struct {
		status           int
		said, kind, code string
	}{
		"no such model": {404, "model 'm' not found", "invalid_request_error", `"model_not_found"`},
		"no such path":  {404, "404 page not found", "invalid_request_error", "null"},
		"too long":      {400, "the input length exceeds the context length", "invalid_request_error", `"context_length_exceeded"`},
		"no key":        {401, "unauthorized", "authentication_error", `"invalid_api_key"`},
		"too many":      {429, "slow down", "rate_limit_error", `"rate_limit_exceeded"`},
		"broken":        {500, "oops", "server_error", "null"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, front.Ollama, answer{status: test.status, body: fmt.Sprintf(`{"error":%q}`, test.said)}))
			r := w.talk(front.OpenAI, true).send(user("hi"))
			want := fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%s}}`, test.said, test.kind, test.code)
			if strings.ReplaceAll(r.body, `\u0027`, "'") != want || r.status != test.status {
				t.Errorf("status %d: %s", r.status, r.body)
			}
		})
	}
}

// What the server itself refuses has the codes too.
func TestRefuseHasACode(t *testing.T) {
	for status, code := range map[int]string{401: `"invalid_api_key"`, 429: `"rate_limit_exceeded"`, 403: "null", 404: "null"} {
		w := httptest.NewRecorder()
		front.Refuse(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", nil), status, "no")
		if body := w.Body.String(); w.Code != status || !strings.Contains(body, `"param":null,"code":`+code+"}") {
			t.Errorf("%d: %s", w.Code, body)
		}
	}
}

func TestUpstreamIsAway(t *testing.T) {
	upstream := newScripted(t, front.Ollama)
	w := newWorld(t, upstream)
	upstream.Close()
	if r := w.talk(front.Ollama, true).send(user("hi")); r.status != http.StatusBadGateway || !strings.Contains(r.failure, "cannot be reached") {
		t.Errorf("status %d: %s", r.status, r.body)
	}
}

// A server that closes the connection runs: the client is told what happened, whatever it speaks and asks for.
func TestUpstreamCloses(t *testing.T) {
	closing := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(closing.Close)
	combinations(t, func(t *testing.T, api, upstream front.Kind, stream bool) {
		w := newWorld(t, newScripted(t, upstream), func(c *front.Config) { c.Upstream.URL = closing.URL })
		r := w.talk(api, stream).send(user("hi"))
		if r.status != http.StatusBadGateway || !strings.Contains(r.failure, "the model server closed the connection before it answered; ask again") {
			t.Errorf("status %d: %s", r.status, r.body)
		}
		if strings.Contains(r.failure, "cannot be reached") || strings.Contains(r.failure, "127.0.0.1") {
			t.Errorf("it says %s", r.failure)
		}
	})
}

func TestUpstreamHangs(t *testing.T) {
	for name, text := range map[string]string{"at once": "never", "in mid-reply": "one never"} {
		t.Run(name, func(t *testing.T) {
			gate := make(chan struct{}, 1)
			gate <- struct{}{}
			stuck := answer{text: text, dies: -1, gate: gate}
			seen := newSeen()
			w := newWorld(t, newScripted(t, front.Ollama, stuck), seen.watch, func(c *front.Config) {
				c.Limits = front.Limits{First: 300 * time.Millisecond, Idle: 300 * time.Millisecond}
			})
			if name == "at once" {
				<-gate
			}
			r := w.talk(front.Ollama, true).send(user("hi"))
			if !strings.Contains(r.failure, "said nothing") {
				t.Errorf("status %d: %s", r.status, r.body)
			}
			w.ended()
			if chats := seen.chats(); len(chats) != 1 || !strings.Contains(chats[0], "error.type=timeout") {
				t.Errorf("it is seen as %q", chats)
			}
		})
	}
}

// A server that hangs is not waited for where calls are only handed on either: before it answers, and in the middle.
func TestUpstreamHangsUnheard(t *testing.T) {
	for name, test := range map[string]struct {
		kind       front.Kind
		path, body string
		record     bool
	}{
		"recorded":   {front.Ollama, "/api/chat", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, true},
		"passed on":  {front.Ollama, "/api/embed", `{"model":"m","input":"hi"}`, false},
		"translated": {front.OpenAI, "/api/show", `{"model":"m"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, first := range []string{"", "{\n"} {
				hangs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if _, err := io.Copy(io.Discard, r.Body); err != nil {
						return
					}
					if first != "" {
						fmt.Fprint(w, first)
						w.(http.Flusher).Flush()
					}
					<-r.Context().Done()
				}))
				t.Cleanup(hangs.Close)
				w := newWorld(t, newScripted(t, test.kind), func(c *front.Config) {
					c.RecordOnly, c.Upstream.URL = test.record, hangs.URL
					c.Limits = front.Limits{First: 300 * time.Millisecond, Idle: 300 * time.Millisecond}
				})
				response := post(t.Context(), t, w.url+test.path, http.Header{}, []byte(test.body))
				body, err := io.ReadAll(response.Body)
				if closed := response.Body.Close(); closed != nil {
					t.Error(closed)
				}
				if first == "" && (response.StatusCode != http.StatusGatewayTimeout || !strings.Contains(string(body), "said nothing")) {
					t.Errorf("status %d: %s", response.StatusCode, body)
				}
				if first != "" && response.StatusCode == http.StatusOK && err == nil {
					t.Errorf("%q is taken for the whole", body)
				}
			}
		})
	}
}

func TestBadCalls(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama))
	for name, test := range map[string]struct {
		path, body string
		status     int
		said       string
	}{
		"no JSON":            {"/api/chat", `{"model":"m"`, 400, "closing bracket"},
		"no object":          {"/api/chat", `[]`, 400, "an object"},
		"more than one":      {"/api/chat", `{"model":"m","messages":[]}{}`, 400, "nothing more"},
		"a bad message":      {"/api/chat", `{"model":"m","messages":[{"role":7}]}`, 400, "messages[0]"},
		"a bad later one":    {"/api/chat", `{"model":"m","messages":[{"role":"user","content":"a"},{"role":7}]}`, 400, "role"},
		"a role of nobody's": {"/api/chat", `{"model":"m","messages":[{"role":"robot","content":"a"}]}`, 400, `Invalid value for 'messages[0].role': 'robot'. Supported values are: 'system', 'developer'`},
		"a later one":        {"/v1/chat/completions", `{"model":"m","messages":[{"role":"User","content":"a"},{"content":"b"}]}`, 400, `"param":"messages[1].role","code":"invalid_value"`},
		"several answers":    {"/v1/chat/completions", `{"model":"m","n":2,"messages":[{"role":"user","content":"a"}]}`, 400, "Invalid value for 'n': 2 answers at once"},
		"answers of what":    {"/v1/chat/completions", `{"model":"m","n":"2","messages":[{"role":"user","content":"a"}]}`, 400, `"Invalid type for 'n': expected an integer, but got a string instead.","type":"invalid_request_error","param":"n","code":"invalid_type"`},
		"no list":            {"/v1/chat/completions", `{"model":"m","messages":"hi"}`, 400, `"Invalid type for 'messages': expected an array of objects, but got a string instead."`},
		"a bad picture":      {"/api/chat", `{"model":"m","messages":[{"role":"user","images":["%"]}]}`, 400, "images[0]"},
		"bad content":        {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":7}]}`, 400, `"Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an integer instead.","type":"invalid_request_error","param":"messages[0].content","code":"invalid_type"`},
		"bad content, later": {"/v1/chat/completions", `{"model":"m","messages":[{"role":"system","content":"s"}, {"role":"user","content":"a"} , {"role":"user","content":7}]}`, 400, `"param":"messages[2].content"`},
		"a bad user":         {"/v1/chat/completions", `{"model":"m","user":5,"messages":[{"role":"user","content":"a"}]}`, 400, `"Invalid type for 'user': expected a string, but got an integer instead.","type":"invalid_request_error","param":"user","code":"invalid_type"`},
		"no messages":        {"/v1/chat/completions", `{"model":"m"}`, 400, `"Missing required parameter: 'messages'.","type":"invalid_request_error","param":"messages","code":"missing_required_parameter"`},
		"an empty list":      {"/v1/chat/completions", `{"model":"m","messages":[]}`, 400, `"param":"messages"`},
		"a bad URL":          {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:x"}}]}]}`, 400, "data URL"},
		"no model":           {"/api/chat", `{"messages":[{"role":"user","content":"hi"}]}`, 400, "model is required"},
		"a stream of what":   {"/api/chat", `{"model":"m","stream":"yes","messages":[{"role":"user","content":"hi"}]}`, 400, "stream"},
		"a bad tool":         {"/api/chat", `{"model":"m","tools":[{"function":{"name":"a","parameters":7}}],"messages":[{"role":"user","content":"hi"}]}`, 400, "tools[0]"},
		"brackets":           {"/api/chat", `{"model":"m","messages":[{"a":[}]}`, 400, "bracket"},
		"a bad prompt":       {"/api/generate", `{"model":"m","prompt":7}`, 400, "prompt"},
		"too much":           {"/api/chat", `{"model":"m","x":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "too large"},
		"nothing there":      {"/api/pull", `{}`, 404, "nothing at POST /api/pull"},
		"nothing there, too": {"/v1/responses", `{}`, 404, "nothing at POST /v1/responses"},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, w.engine, w.upstream, func(c *front.Config) { c.Limits.Body = 1 << 20 })
			response := post(t.Context(), t, url+test.path, http.Header{}, []byte(test.body))
			body := make([]byte, 1000)
			n, _ := response.Body.Read(body)
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
			api := front.Ollama
			if strings.HasPrefix(test.path, "/v1") {
				api = front.OpenAI
			}
			r := read(t, api, false, response, body[:n])
			if r.status != test.status || !strings.Contains(r.failure+r.body, test.said) {
				t.Errorf("status %d: %s", r.status, r.body)
			}
		})
	}
	if asked := w.upstream.requests(); len(asked) > 0 {
		t.Errorf("asked %v", asked)
	}
	if ids := w.sessions(); len(ids) > 0 {
		t.Errorf("sessions %v", ids)
	}
}

// Routes say which methods they take, in the words of their API.
func TestMethods(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama))
	for _, test := range []struct{ method, path, allow, said string }{
		{"GET", "/api/chat", "POST", `{"error":"/api/chat takes POST"}`},
		{"DELETE", "/api/generate", "POST", `{"error":"/api/generate takes POST"}`},
		{"POST", "/api/tags", "GET, HEAD", `{"error":"/api/tags takes GET"}`},
		{"GET", "/api/embed", "POST", `{"error":"/api/embed takes POST"}`},
		{"GET", "/v1/chat/completions", "POST", `{"error":{"message":"/v1/chat/completions takes POST","type":"invalid_request_error","param":null,"code":null}}`},
		{"DELETE", "/v1/models/m", "GET, HEAD", `{"error":{"message":"/v1/models/m takes GET","type":"invalid_request_error","param":null,"code":null}}`},
		{"PUT", "/v1/embeddings", "POST", `{"error":{"message":"/v1/embeddings takes POST","type":"invalid_request_error","param":null,"code":null}}`},
		{"POST", "/", "GET, HEAD", `{"error":"/ takes GET"}`},
	} {
		r, got := ask(t, test.method, w.url+test.path, "")
		if allow := r.Header.Get("Allow"); r.StatusCode != http.StatusMethodNotAllowed || allow != test.allow || got != test.said {
			t.Errorf("%s %s: status %d, allow %q: %s", test.method, test.path, r.StatusCode, allow, got)
		}
	}
	if asked := w.upstream.requests(); len(asked) > 0 {
		t.Errorf("asked %v", asked)
	}
}

// Several answers at once can be had where calls are only recorded. The first is the reply.
func TestSeveralAnswersAreRecorded(t *testing.T) {
	w := newWorld(t, newScripted(t, front.OpenAI, says("one")), recording)
	chat := w.talk(front.OpenAI, true)
	chat.more = m{"n": 2}
	chat.say("hi")
	if got := w.upstream.last().raw; !strings.Contains(got, `"n":2`) {
		t.Errorf("asked %s", got)
	}
	if diff := cmp.Diff([]string{"user: hi", "agent: one"}, w.log(w.sessions()[0])); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownCaller(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama))
	for _, record := range []bool{true, false} {
		w.url = serve(t, w.engine, w.upstream, func(c *front.Config) {
			c.RecordOnly = record
			c.Engine = func(*http.Request) (*turnstone.Engine, error) { return nil, errors.New("who are you?") }
		})
		if r := w.talk(front.OpenAI, false).send(user("hi")); r.status != http.StatusUnauthorized || r.failure != "who are you?" {
			t.Errorf("status %d: %s", r.status, r.body)
		}
	}
}

// The client hangs up: before anything came, in the middle, and when all but the end has come.
func TestAbort(t *testing.T) {
	for name, words := range map[string]int{"at once": 0, "after a word": 1, "after two": 2} {
		t.Run(name, func(t *testing.T) {
			combinations(t, func(t *testing.T, api, upstream front.Kind, stream bool) {
				if !stream {
					t.Skip("there is no middle")
				}
				gate := make(chan struct{}, 10)
				for range words {
					gate <- struct{}{}
				}
				w := newWorld(t, newScripted(t, upstream, answer{text: "one two three", dies: -1, gate: gate}, says("fine")))
				chat := w.talk(api, true)
				chat.history = []m{user("hi")}
				ctx, hangUp := context.WithCancel(t.Context())
				response := chat.open(ctx)
				seen := ""
				for lines := bufio.NewScanner(response.Body); words > 0 && lines.Scan(); {
					for _, word := range []string{"one ", "two "} {
						if strings.Contains(lines.Text(), quote(word)) {
							seen += word
							words--
						}
					}
				}
				hangUp()
				if err := response.Body.Close(); err != nil {
					t.Error(err)
				}
				if state := w.ended(); state != commit.Interrupted {
					t.Errorf("it ended as %s", state)
				}
				session := w.sessions()[0]
				want := []string{"user: hi"}
				if seen != "" {
					want = append(want, "agent: "+seen+" […]")
					chat.history = append(chat.history, assistant(strings.TrimSpace(seen)))
				}
				if diff := cmp.Diff(want, w.log(session)); diff != "" {
					t.Error(diff)
				}
				chat.say("and now?")
				got := w.log(w.sessions()[len(w.sessions())-1])
				want = append(want, "user: and now?", "agent: fine")
				if diff := cmp.Diff(want, got); diff != "" && seen != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A client that saw less of a reply than the log goes on where it was cut off.
func TestSawLess(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama, answer{text: "one two three", dies: 2}, says("fine")))
	chat := w.talk(front.Ollama, true)
	chat.send(user("hi"))
	chat.history = []m{user("hi"), assistant("one")}
	chat.say("go on")
	ids := w.sessions()
	if len(ids) != 1 {
		t.Fatalf("sessions %v", ids)
	}
	if diff := cmp.Diff([]string{"user: hi", "agent: one two  […]", "user: go on", "agent: fine"}, w.log(ids[0])); diff != "" {
		t.Error(diff)
	}
}

func TestNoAnswer(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama, says(""), says("fine")))
	chat := w.talk(front.Ollama, true)
	if r := chat.say("hi"); r.text != "" || r.reason != "stop" {
		t.Errorf("got %s", r.body)
	}
	if r := chat.say("hello?"); r.text != "fine" {
		t.Errorf("got %s", r.body)
	}
}

// What does not fit the window is told before anybody is asked.
func TestOverBudget(t *testing.T) {
	w := newWorld(t, newScripted(t, front.OpenAI))
	chat := w.talk(front.OpenAI, true)
	r := chat.send(user(strings.Repeat("far too much to say ", 4000)))
	const code = `"type":"invalid_request_error","param":null,"code":"context_length_exceeded"`
	if r.status != http.StatusBadRequest || !strings.Contains(r.body, code) || len(w.upstream.requests()) > 0 {
		t.Errorf("status %d: %s", r.status, r.body)
	}
}

// A server may be silent while a model writes a call, as long as before its answer.
func TestUpstreamWritesACall(t *testing.T) {
	gate := make(chan struct{}, 1)
	gate <- struct{}{}
	w := newWorld(t, newScripted(t, front.Ollama, answer{text: "one never", dies: -1, gate: gate}), func(c *front.Config) {
		c.Limits = front.Limits{First: 500 * time.Millisecond}
	})
	const call = `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"search"}}]}`
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	response := post(ctx, t, w.url+"/api/chat", http.Header{}, []byte(call))
	body, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); closed != nil {
		t.Error(closed)
	}
	if err != nil || !strings.Contains(string(body), "one") || !strings.Contains(string(body), "said nothing") {
		t.Errorf("%v: %s", err, body)
	}
	w.ended()
}

// What is called with a model that does not exist leaves no session behind that would only be there for it.
func TestAModelThatDoesNotExistLeavesNoFork(t *testing.T) {
	combinations(t, func(t *testing.T, api, upstream front.Kind, stream bool) {
		s := newScripted(t, upstream, says("one"), says("two"), says("three"), says("four"), says("five"), says("six"))
		w := newWorld(t, s)
		chat := w.talk(api, stream)
		chat.say("first")
		chat.say("second")
		s.lacks = "nobody"
		edited, foreign, first, named := w.talk(api, stream), w.talk(api, stream), w.talk(api, stream), w.talk(api, stream)
		named.header.Set(front.SessionHeader, "named")
		edited.history = slices.Clone(chat.history[:2])
		foreign.history = []m{user("from"), assistant("elsewhere")}
		for name, other := range map[string]*talk{"an edit": edited, "a history from elsewhere": foreign, "a first call": first, "a session by name": named} {
			other.more = m{"model": "nobody"}
			before := w.rows()
			if r := other.send(user("changed")); r.status != http.StatusNotFound || !strings.Contains(r.failure, "model 'nobody' not found") {
				t.Errorf("%s: status %d: %s", name, r.status, r.body)
			}
			if diff := cmp.Diff(before, w.rows()); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			other.more, other.history = nil, other.history[:len(other.history)-1]
			if r := other.say("changed"); r.text == "" {
				t.Errorf("%s: then %s", name, r.body)
			}
		}
		if got := len(w.sessions()); got != 5 {
			t.Errorf("%d sessions", got)
		}
	})
}
