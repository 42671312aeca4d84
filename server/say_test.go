package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/sse"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
)

type replied struct {
	Text, Model, Stop, Status string
	Prompt                    int    `json:"prompt_tokens"`
	TurnID                    string `json:"turn_id"`
	Warnings                  []string
}

func TestSay(t *testing.T) {
	script := llmtest.Replies(
		llmtest.Reply{Text: "Good day.", Usage: llm.Usage{Prompt: 100, Answer: 10}},
		llmtest.Reply{Err: &llm.Error{Kind: llm.ErrUnreachable}},
	)
	c := start(t, turnstone.Config{Model: script}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	var got replied
	c.want(http.StatusOK, &got, "POST", "/sessions/s/say", `{"text":"Hello.","late":["It is Monday."]}`)
	if got.Text != "Good day." || got.Status != "complete" || got.Prompt != 100 || got.TurnID == "" || got.Warnings != nil {
		t.Errorf("%+v", got)
	}
	var shown turnsShown
	c.want(http.StatusOK, &shown, "GET", "/sessions/s/turns?kind=turn", nil)
	if len(shown.Items) != 2 || shown.Items[0].TurnID != got.TurnID || shown.Items[1].Content.Text != "Good day." {
		t.Errorf("%+v", shown)
	}
	for _, test := range []struct {
		path, body, detail string
		status             int
	}{
		{"/sessions/s/say", `{"text":""}`, "text: expected length >= 1", 400},
		{"/sessions/none/say?create=true", `{"text":" \n "}`, "text: is empty", 400},
		{"/sessions/s/say", `{"text":"x","model":"other"}`, "model: cannot be chosen", 400},
		{"/sessions/none/say?create=true", `{"text":"x","model":"other"}`, "model: cannot be chosen", 400},
		{"/sessions/none/say", `{"text":"x"}`, "session none: not found; add ?create=true to make it", 404},
		{"/sessions/s/say", `{"text":"x"}`, "the model server cannot be reached", 502},
	} {
		var told server.Problem
		c.want(test.status, &told, "POST", test.path, test.body)
		if !strings.Contains(told.Detail, test.detail) {
			t.Errorf("%s: %s", test.body, told.Detail)
		}
	}
}

// That the model did not see all of the prompt stands in the answer, and is an event of its own in a stream.
func TestSayWarnsOfAPromptThatWasCut(t *testing.T) {
	cut := llmtest.Reply{Text: "What?", Usage: llm.Usage{Prompt: 9, Answer: 2}}
	c := start(t, turnstone.Config{Model: llmtest.Replies(cut, cut)}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	story := strings.Repeat("A long story. ", 100)
	var got replied
	c.want(http.StatusOK, &got, "POST", "/sessions/s/say", `{"text":"`+story+`"}`)
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "its server counted 9;") {
		t.Errorf("%+v", got)
	}
	answer, events := c.hear(t.Context(), "s", story)
	all := c.rest(events)
	if n := len(all); n < 3 || all[n-1].Name != "reply" || all[n-2].Name != "warning" || !strings.Contains(all[n-2].Data, "its server counted 9;") {
		t.Errorf("%+v", all)
	}
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
}

// Whoever says something first need not make the session before. What cannot be answered makes none.
func TestSayMakesTheSession(t *testing.T) {
	models := func(string) llm.Model { return llmtest.NewScript("Good day.") }
	c := start(t, turnstone.Config{}, server.Config{Model: models})
	var told server.Problem
	c.want(http.StatusBadRequest, &told, "POST", "/sessions/new/say?create=true", `{"text":"Hello."}`)
	if !strings.Contains(told.Detail, "model: neither the request nor the session names one") {
		t.Error(told.Detail)
	}
	c.want(http.StatusNotFound, nil, "GET", "/sessions/new", nil)
	var got replied
	c.want(http.StatusOK, &got, "POST", "/sessions/new/say?create=true", `{"text":"Hello.","model":"m"}`)
	if got.Text != "Good day." {
		t.Errorf("%+v", got)
	}
	c.want(http.StatusOK, nil, "GET", "/sessions/new", nil)
}

func TestSayOnceUnderAKey(t *testing.T) {
	script := llmtest.NewScript("Good day.", "Good night.")
	c := start(t, turnstone.Config{Model: script}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	var got replied
	c.want(http.StatusOK, &got, "POST", "/sessions/s/say", `{"text":"Hello."}`, "Idempotency-Key", "k")
	for _, test := range []struct{ accept, text, says string }{
		{"application/json", "Hello.", "it was said before, as turn 1"},
		{"text/event-stream", "Hello.", "it was said before, as turn 1"},
		{"application/json", "Bye.", "was used for turn 1 with another body"},
	} {
		var told server.Problem
		c.want(http.StatusConflict, &told, "POST", "/sessions/s/say", map[string]string{"text": test.text}, "Idempotency-Key", "k", "Accept", test.accept)
		if !strings.Contains(told.Detail, test.says) {
			t.Errorf("%+v: %s", test, told.Detail)
		}
	}
	var next replied
	c.want(http.StatusOK, &next, "POST", "/sessions/s/say", `{"text":"Hello."}`, "Idempotency-Key", "k2")
	var shown turnsShown
	c.want(http.StatusOK, &shown, "GET", "/sessions/s/turns?kind=turn", nil)
	if got.Text != "Good day." || next.Text != "Good night." || len(shown.Items) != 4 || shown.Items[0].TurnID != got.TurnID {
		t.Errorf("%+v %+v %+v", got, next, shown)
	}
}

func TestSayWithTheModelOfTheSession(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{
		Model:     func(name string) llm.Model { return llmtest.NewScript("I am " + name + ".") },
		ModelName: "common",
	})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"own","model":"special"}`)
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"none"}`)
	for _, test := range []struct{ session, body, want string }{
		{"own", `{"text":"Who are you?"}`, "I am special."},
		{"none", `{"text":"Who are you?"}`, "I am common."},
		{"own", `{"text":"Who are you?","model":"asked","context":4096}`, "I am asked."},
	} {
		var got replied
		c.want(http.StatusOK, &got, "POST", "/sessions/"+test.session+"/say", test.body)
		if got.Text != test.want {
			t.Errorf("%s: %+v", test.body, got)
		}
	}
	alone := start(t, turnstone.Config{}, server.Config{Model: func(string) llm.Model { return llmtest.NewScript() }})
	alone.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	alone.want(http.StatusBadRequest, nil, "POST", "/sessions/s/say", `{"text":"x"}`)
}

// hear says something and returns the stream of the reply.
func (c *client) hear(ctx context.Context, session, text string) (*http.Response, *sse.Reader) {
	c.t.Helper()
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, "POST", c.base+"/api/v1/sessions/"+session+"/say", strings.NewReader(string(body)))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	answer, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer, sse.NewReader(answer.Body, 0)
}

// rest are the events of a stream up to its end.
func (c *client) rest(events *sse.Reader) (all []sse.Event) {
	c.t.Helper()
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			c.t.Fatal(err)
		}
		all = append(all, e)
	}
}

func TestSayAsEvents(t *testing.T) {
	script := llmtest.Replies(
		llmtest.Reply{Thinking: "Hm.", Text: "One two."},
		llmtest.Reply{Text: "One ", Err: &llm.Error{Kind: llm.ErrInterrupted}},
		llmtest.Reply{Err: &llm.Error{Kind: llm.ErrUnreachable}},
	)
	c := start(t, turnstone.Config{Model: script}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	for _, want := range []struct {
		text, thinking, last string
		says                 []string
	}{
		{"One two.", "Hm.", "reply", []string{`"text":"One two."`}},
		{"One ", "", "problem", []string{`"status":502`, `"instance":"/api/v1/sessions/s/say"`}},
	} {
		answer, events := c.hear(t.Context(), "s", "Count.")
		said := map[string]string{}
		var last sse.Event
		for _, e := range c.rest(events) {
			var piece struct{ Text string }
			if err := json.Unmarshal([]byte(e.Data), &piece); err != nil {
				t.Fatal(err)
			}
			said[e.Name] += piece.Text
			last = e
		}
		if diff := cmp.Diff([]string{want.text, want.thinking, want.last}, []string{said["text"], said["thinking"], last.Name}); diff != "" {
			t.Error(diff)
		}
		for _, says := range want.says {
			if !strings.Contains(last.Data, says) {
				t.Errorf("%s does not say %s", last.Data, says)
			}
		}
		if answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%v", answer.Header)
		}
		if err := answer.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	answer, _ := c.hear(t.Context(), "s", "Count.")
	if answer.StatusCode != http.StatusBadGateway || answer.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v", answer.StatusCode, answer.Header)
	}
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
}

func TestHangingUpCutsTheReplyShort(t *testing.T) {
	script := llmtest.Replies(llmtest.Reply{Text: "One ", Endless: true}, llmtest.Reply{Text: "Yes."})
	c := start(t, turnstone.Config{Model: script}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	ctx, hangUp := context.WithCancel(t.Context())
	answer, events := c.hear(ctx, "s", "Count.")
	if e, err := events.Next(); err != nil || e.Name != "text" {
		t.Fatalf("%+v %v", e, err)
	}
	hangUp()
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
	// The next exchange waits until the first is over.
	var got replied
	c.want(http.StatusOK, &got, "POST", "/sessions/s/say", `{"text":"Still there?"}`)
	var shown turnsShown
	said := c.want(http.StatusOK, &shown, "GET", "/sessions/s/turns?kind=turn", nil)
	if got.Text != "Yes." || len(shown.Items) != 4 || !strings.Contains(said.body, `"interrupted":true`) {
		t.Errorf("%+v %s", got, said.body)
	}
}
