package front_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// world is a front between scripted servers and clients.
type world struct {
	*testing.T
	upstream *scripted
	store    store.Store
	engine   *turnstone.Engine
	url      string
	over     <-chan commit.State // how exchanges ended
}

func openStore(t *testing.T, path string) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), litetest.File(t, path), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func newEngine(t *testing.T, st store.Store, over chan<- commit.State) *turnstone.Engine {
	t.Helper()
	eng, err := turnstone.Open(t.Context(), st, turnstone.Config{Context: 4096, Observe: func(_ turn.Key, s commit.State) {
		switch s {
		case commit.Complete, commit.CompleteWithErrors, commit.Interrupted, commit.Failed:
			if over != nil {
				over <- s
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

func newWorld(t *testing.T, upstream *scripted, change ...func(*front.Config)) *world {
	over := make(chan commit.State, 64)
	st := openStore(t, filepath.Join(t.TempDir(), "front.db"))
	eng := newEngine(t, st, over)
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return &world{T: t, upstream: upstream, store: st, engine: eng, url: serve(t, eng, upstream, change...), over: over}
}

// serve starts a front of the engine.
func serve(t *testing.T, eng *turnstone.Engine, upstream *scripted, change ...func(*front.Config)) string {
	t.Helper()
	config := front.Config{
		Engine:   func(*http.Request) (*turnstone.Engine, error) { return eng, nil },
		Upstream: front.Upstream{URL: upstream.url(), Kind: upstream.kind},
		Log:      slog.NewTextHandler(t.Output(), nil),
	}
	for _, c := range change {
		c(&config)
	}
	f, err := front.New(config)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(f.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

// m is a message, or any other object.
type m = map[string]any

func user(text string) m      { return m{"role": "user", "content": text} }
func assistant(text string) m { return m{"role": "assistant", "content": text} }

// talk is a client that keeps its conversation, as those of both APIs do.
type talk struct {
	world   *world
	api     front.Kind
	url     string
	stream  bool
	header  http.Header
	more    m // of every call
	history []m
}

func (w *world) talk(api front.Kind, stream bool) *talk {
	return &talk{world: w, api: api, url: w.url, stream: stream, header: http.Header{}}
}

// reply is an answer as a client sees it.
type reply struct {
	status  int
	header  http.Header
	body    string // as it came
	text    string
	thought string
	calls   []m
	reason  string
	usage   [2]int
	failure string
	context []any
}

func (t *talk) path() string {
	if t.api == front.OpenAI {
		return "/v1/chat/completions"
	}
	return "/api/chat"
}

// body is the call that the history makes.
func (t *talk) body() []byte {
	call := m{"model": "m", "stream": t.stream, "messages": t.history}
	for name, value := range t.more {
		call[name] = value
	}
	data, err := json.Marshal(call)
	if err != nil {
		t.world.Fatal(err)
	}
	return data
}

// send sends messages and keeps the reply.
func (t *talk) send(messages ...m) reply {
	t.world.Helper()
	t.history = append(t.history, messages...)
	r := t.call(t.world.Context())
	if r.status == http.StatusOK && r.failure == "" {
		said := assistant(r.text)
		if len(r.calls) > 0 {
			said["tool_calls"] = r.calls
		}
		t.history = append(t.history, said)
	}
	return r
}

// say sends what the user says and expects an answer.
func (t *talk) say(text string) reply {
	t.world.Helper()
	r := t.send(user(text))
	if r.status != http.StatusOK || r.failure != "" {
		t.world.Fatalf("%s: status %d: %s", text, r.status, r.body)
	}
	return r
}

func (t *talk) call(ctx context.Context) reply {
	t.world.Helper()
	response := t.open(ctx)
	body, err := io.ReadAll(response.Body)
	if err != nil && ctx.Err() == nil {
		body = append(body, "\n{\"error\":\"broken off\"}\n"...)
	}
	if err := response.Body.Close(); err != nil {
		t.world.Error(err)
	}
	return read(t.world.T, t.api, t.stream, response, body)
}

func (t *talk) open(ctx context.Context) *http.Response {
	t.world.Helper()
	return post(ctx, t.world.T, t.url+t.path(), t.header, t.body())
}

func post(ctx context.Context, t *testing.T, url string, header http.Header, body []byte) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header.Clone()
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// read decodes an answer as clients of the API do.
func read(t *testing.T, api front.Kind, stream bool, response *http.Response, body []byte) reply {
	t.Helper()
	r := reply{status: response.StatusCode, header: response.Header, body: string(body)}
	if api == front.OpenAI && stream && r.status == http.StatusOK {
		r.events(t)
		return r
	}
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) > 0 {
			r.line(t, lines.Bytes())
		}
	}
	return r
}

func (r *reply) events(t *testing.T) {
	t.Helper()
	done := false
	for event := range strings.SplitSeq(r.body, "\n\n") {
		data, ok := strings.CutPrefix(event, "data: ")
		switch {
		case strings.TrimSpace(event) == "":
		case !ok && !strings.Contains(event, "broken off"):
			t.Errorf("event %q", event)
		case data == "[DONE]":
			done = true
		default:
			r.line(t, []byte(strings.TrimSpace(data)))
		}
	}
	if !done && r.failure == "" {
		t.Errorf("no [DONE]: %s", r.body)
	}
}

func (r *reply) line(t *testing.T, line []byte) {
	t.Helper()
	var l struct {
		Message  said
		Response string
		Choices  []struct {
			Message, Delta said
			Reason         string `json:"finish_reason"`
		}
		Usage *struct {
			Prompt int `json:"prompt_tokens"`
			Answer int `json:"completion_tokens"`
		}
		Reason  string `json:"done_reason"`
		Prompt  int    `json:"prompt_eval_count"`
		Answer  int    `json:"eval_count"`
		Context []any
		Error   any
	}
	if err := json.Unmarshal(line, &l); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	r.add(l.Message)
	r.text += l.Response
	for _, c := range l.Choices {
		r.add(c.Message)
		r.add(c.Delta)
		r.reason += c.Reason
	}
	r.reason += l.Reason
	if l.Usage != nil {
		r.usage = [2]int{l.Usage.Prompt, l.Usage.Answer}
	} else if l.Prompt > 0 {
		r.usage = [2]int{l.Prompt, l.Answer}
	}
	r.context = append(r.context, l.Context...)
	switch e := l.Error.(type) {
	case string:
		r.failure = e
	case m:
		r.failure, _ = e["message"].(string)
	}
}

type said struct {
	Content   string
	Thinking  string
	Reasoning string `json:"reasoning_content"`
	ToolCalls []m    `json:"tool_calls"`
}

func (r *reply) add(s said) {
	r.text += s.Content
	r.thought += s.Thinking + s.Reasoning
	r.calls = append(r.calls, s.ToolCalls...)
}

// ended waits for the end of an exchange and returns how it ended.
func (w *world) ended() commit.State {
	w.Helper()
	select {
	case state := <-w.over:
		return state
	case <-time.After(2 * time.Minute):
		w.Fatal("no exchange ends")
		return ""
	}
}

// sessions are the ids of all sessions, the oldest first.
func (w *world) sessions() []string {
	w.Helper()
	list, err := w.engine.Sessions(w.Context(), turn.SessionFilter{})
	if err != nil {
		w.Fatal(err)
	}
	var ids []string
	for _, s := range list {
		ids = append(ids, s.Session)
	}
	slices.Reverse(ids)
	return ids
}

// log is what was said in a session.
func (w *world) log(id string) []string {
	w.Helper()
	return logOf(w.T, w.engine, id)
}

func logOf(t *testing.T, eng *turnstone.Engine, id string) []string {
	t.Helper()
	session, err := eng.Find(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	turns, err := session.Since(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, u := range turns {
		line := string(u.Role) + ": "
		switch c := u.Content.(type) {
		case turn.Text:
			line += c.Text
			for _, call := range c.ToolCalls {
				line += " " + call.Name + call.Arguments
			}
		case turn.Result:
			line += c.Name + " " + string(c.Status) + " " + c.Result
		case turn.Image:
			line += "image " + c.MediaType
		}
		if u.Meta.Interrupted {
			line += " […]"
		}
		said = append(said, line)
	}
	return said
}

// rows is everything in the store but for what is written in the background.
func (w *world) rows() []store.Row {
	w.Helper()
	var all []store.Row
	if err := w.store.Dump(w.Context(), func(r store.Row) error {
		if r.Table != "trace_parts" && r.Table != "exports" {
			all = append(all, r)
		}
		return nil
	}); err != nil {
		w.Fatal(err)
	}
	return all
}

// combinations are the ways that clients and servers can speak to each other.
func combinations(t *testing.T, test func(t *testing.T, api, upstream front.Kind, stream bool)) {
	for _, api := range []front.Kind{front.Ollama, front.OpenAI} {
		for _, upstream := range []front.Kind{front.Ollama, front.OpenAI} {
			for _, stream := range []bool{true, false} {
				name := string(api) + " to " + string(upstream)
				if stream {
					name += ", streamed"
				}
				t.Run(name, func(t *testing.T) { test(t, api, upstream, stream) })
			}
		}
	}
}
