package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
)

// systemOf is the system prompt that a model was sent.
func systemOf(r llm.Request) string {
	if r.Messages[0].Role != llm.System {
		return ""
	}
	return r.Messages[0].Text
}

// A system prompt is given with what is said, or with a prompt before, and stays until another one is given.
func TestSayWithSettings(t *testing.T) {
	script := llmtest.NewScript("One.", "Two.", "Three.")
	c := start(t, turnstone.Config{Model: script, ModelName: "llama3.2"}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	c.want(http.StatusOK, nil, "POST", "/sessions/s/prompt", `{"settings":{"system":"Be brief."}}`)
	for i, test := range []struct{ body, system string }{
		{`{"text":"Hello."}`, "Be brief."},
		{`{"text":"Hello.","settings":{"system":"Be long.","tools":[{"name":"clock"}]}}`, "Be long."},
		{`{"text":"Hello."}`, "Be long."},
	} {
		c.want(http.StatusOK, nil, "POST", "/sessions/s/say", test.body)
		if sent := script.Asked()[i]; systemOf(sent) != test.system || len(sent.Tools) != min(i, 1) {
			t.Errorf("%s: %q, %v", test.body, systemOf(sent), sent.Tools)
		}
	}
	var prompts struct {
		Items []struct{ Epoch int64 }
	}
	c.want(http.StatusOK, &prompts, "GET", "/sessions/s/prompts", nil)
	if n := len(prompts.Items); n != 4 || prompts.Items[1].Epoch != 1 || prompts.Items[3].Epoch != 2 {
		t.Errorf("%+v", prompts)
	}
	got := c.want(http.StatusBadRequest, nil, "POST", "/sessions/s/say", `{"text":"x","settings":{"checks":[" "]}}`)
	if !strings.Contains(got.body, `"field":"settings.checks[0]"`) {
		t.Error(got.body)
	}
}

func TestSayWithParts(t *testing.T) {
	script := llmtest.NewScript("A dot.", "Yes.", "Nice.")
	c := start(t, turnstone.Config{Model: script, ModelName: "gpt-4o"}, server.Config{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	const picture = `{"form":"image","content":{"media_type":"image/png","data":"ZG90","alt":"a dot"}}`
	c.want(http.StatusOK, nil, "POST", "/sessions/s/say", `{"text":"What is it?","parts":[`+picture+`]}`)
	c.want(http.StatusOK, nil, "POST", "/sessions/s/say", `{"parts":[{"form":"speech","content":{"transcript":"Is it round?"}}]}`)
	c.want(http.StatusOK, nil, "POST", "/sessions/s/say", `{"text":"Look.","parts":[`+picture+`]}`, "Idempotency-Key", "k")
	for i, want := range []struct{ text, image string }{{"What is it?", "dot"}, {"Is it round?", ""}, {"Look.", "dot"}} {
		sent := script.Asked()[i].Messages
		last := sent[len(sent)-1]
		image := ""
		if len(last.Images) == 1 {
			image = string(last.Images[0].Data)
		}
		if !strings.Contains(last.Text, want.text) || image != want.image {
			t.Errorf("%d: %+v", i, last)
		}
	}
	var shown turnsShown
	c.want(http.StatusOK, &shown, "GET", "/sessions/s/turns?kind=turn", nil)
	if len(shown.Items) != 8 {
		t.Errorf("%+v", shown)
	}
	for _, test := range []struct{ body, says string }{
		{`{"text":"Look.","parts":[` + picture + `]}`, "it was said before, as turn 8"},
		{`{"text":"Look."}`, "was used for turn 8 with another body"},
	} {
		if got := c.want(http.StatusConflict, nil, "POST", "/sessions/s/say", test.body, "Idempotency-Key", "k"); !strings.Contains(got.body, test.says) {
			t.Errorf("%s: %s", test.body, got.body)
		}
	}
	for _, test := range []struct{ body, says string }{
		{`{}`, "text: is empty"},
		{`{"text":" ","parts":[` + picture + `]}`, "text: is empty"},
		{`{"text":"x","parts":[{"form":"image","content":{"media":"image/png"}}]}`, `"field":"parts[0].content.media"`},
		{`{"text":"x","parts":[{"content":{"text":"y"}},{"content":{"text":" "}}]}`, `"field":"parts[1].content.text"`},
		{`{"parts":[{"content":{"text":" "}}]}`, `"field":"parts[0].content.text"`},
		{`{"text":"x","parts":[{"role":"agent","content":{"text":"y"}}]}`, "role"},
	} {
		if got := c.want(http.StatusBadRequest, nil, "POST", "/sessions/s/say", test.body); !strings.Contains(got.body, test.says) {
			t.Errorf("%s: %s", test.body, got.body)
		}
	}
}
