package client_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/client"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
)

func TestSay(t *testing.T) {
	script := llmtest.Replies(
		llmtest.Reply{Text: "Good day.", Usage: llm.Usage{Prompt: 100, Answer: 10}},
		llmtest.Reply{Err: &llm.Error{Kind: llm.ErrUnreachable}},
	)
	s := start(t, turnstone.Config{Model: script}, server.Config{}).session(t, "s")
	reply, err := s.Say(t.Context(), client.Say{Text: "Hello.", Late: []string{"It is Monday."}})
	if err != nil || reply.Text != "Good day." || reply.Status != "complete" || reply.PromptTokens != 100 || reply.AnswerTokens != 10 || reply.Session != "s" {
		t.Errorf("%+v, %v", reply, err)
	}
	if _, err := s.Say(t.Context(), client.Say{Text: "Hello?"}); !errors.Is(err, client.Model) {
		t.Errorf("a model that is not there: %v", err)
	}
}

func TestStream(t *testing.T) {
	find, err := agent.NewTool("find", "Finds.", func(context.Context, struct{}) (string, error) { return "found", nil })
	if err != nil {
		t.Fatal(err)
	}
	script := llmtest.Replies(
		llmtest.Reply{Thinking: "Hm.", Calls: []llm.Call{{ID: "c1", Name: "find", Arguments: "{}"}}},
		llmtest.Reply{Text: "It is there."},
		llmtest.Reply{Text: "It was", Err: &llm.Error{Kind: llm.ErrInterrupted}},
		llmtest.Reply{Err: &llm.Error{Kind: llm.ErrUnreachable}},
		llmtest.Reply{Endless: true},
	)
	s := start(t, turnstone.Config{Model: script, Agent: agent.Config{Tools: []agent.Tool{find}}}, server.Config{}).session(t, "s")
	var text, thinking, call, result string
	var reply *client.Reply
	for p, err := range s.Stream(t.Context(), client.Say{Text: "Where is it?"}) {
		if err != nil {
			t.Fatal(err)
		}
		text, thinking, result = text+p.Text, thinking+p.Thinking, result+string(p.Result)
		if p.Call != nil {
			call += p.Call.ID + p.Call.Name + p.Call.Arguments
		}
		reply = p.Reply
	}
	if text != "It is there." || thinking != "Hm." || call != "c1find{}" || !strings.Contains(result, "found") || reply == nil || reply.Text != text || reply.ToolCalls != 1 {
		t.Errorf("%q, %q, %q, %q, %+v", text, thinking, call, result, reply)
	}
	for _, want := range []string{"It was", ""} {
		said, end := "", error(nil)
		for p, err := range s.Stream(t.Context(), client.Say{Text: "And then?"}) {
			said += p.Text
			end = err
		}
		if said != want || !errors.Is(end, client.Model) {
			t.Errorf("%q, %v", said, end)
		}
	}
	for p, err := range s.Stream(t.Context(), client.Say{Text: "On and on?"}) {
		if err != nil || p.Text != "" {
			break
		}
	}
	turns, err := s.History(t.Context(), client.HistoryOptions{Turns: 1})
	if err != nil || len(turns) != 1 {
		t.Errorf("whoever stops reading leaves the session whole: %+v, %v", turns, err)
	}
}

func TestStreamsThatAreNone(t *testing.T) {
	for _, test := range []struct {
		body string
		want error
	}{
		{"event: text\ndata: {\"text\":\"It was\"}\n\n", io.ErrUnexpectedEOF},
		{"event: text\ndata: {\"text\":\"It was\"}\n", io.ErrUnexpectedEOF},
		{"event: warning\ndata: {\"warning\":\"careful\"}\n\nevent: news\ndata: {}\n\nevent: problem\ndata: {\"type\":\"#busy\",\"detail\":\"later\"}\n\n", client.Busy},
		{"event: text\ndata: x\n\n", nil},
		{"event: problem\ndata: null\n\n", nil},
		{"<h1>Welcome</h1>", nil},
	} {
		l := &line{answers: []told{{status: 200, body: "{}"}, {status: 200, body: test.body}}}
		s, err := l.of(t, 0).Find(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		var end error
		for _, err := range s.Stream(t.Context(), client.Say{Text: "Hello."}) {
			end = err
		}
		if end == nil || errors.Is(end, client.Model) || test.want != nil && !errors.Is(end, test.want) {
			t.Errorf("%s: %v", test.body, end)
		}
	}
}
