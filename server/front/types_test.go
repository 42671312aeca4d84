package front_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/turn"
)

// gos are words of Go that are none of a client's business.
var gos = regexp.MustCompile(`json:|Go |struct|unmarshal|float64|uint32|\[\]|RawMessage`)

// Every field that is read here and is of another type is refused in words that name it, and nobody is asked.
func TestFieldsOfAnotherType(t *testing.T) {
	const (
		ollama = `{"model":"m","messages":[{"role":"user","content":"a"}],%s}`
		openai = ollama
		spoken = `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b",%s}]}`
		parts  = `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},%s]}]}`
	)
	chats := []string{"/api/chat", "/v1/chat/completions"}
	for _, test := range []struct {
		paths       []string
		body, wrong string // the body has a place for what is wrong
		param, said string
	}{
		{chats, `{"messages":[{"role":"user","content":"a"}],%s}`, `"model":7`, "model", "expected a string, but got an integer"},
		{chats, ollama, `"stream":"yes"`, "stream", "expected a boolean, but got a string"},
		{chats, `{"model":"m",%s}`, `"messages":{}`, "messages", "expected an array of objects, but got an object"},
		{chats, `{"model":"m",%s}`, `"messages":[7]`, "messages[0]", "expected an object, but got an integer"},
		{chats, `{"model":"m",%s}`, `"messages":[{"role":7}]`, "messages[0].role", "expected a string, but got an integer"},
		{chats, `{"model":"m",%s}`, `"messages":[{"role":"user","content":1.5}]`, "messages[0].content", "expected one of a string or array of objects, but got a decimal number"},
		{chats, parts, `7`, "messages[0].content[1]", "expected an object, but got an integer"},
		{chats, parts, `{"type":true}`, "messages[0].content[1].type", "expected a string, but got a boolean"},
		{chats, parts, `{"type":"text","text":{}}`, "messages[0].content[1].text", "expected a string, but got an object"},
		{chats, parts, `{"type":"refusal","refusal":[]}`, "messages[0].content[1].refusal", "expected a string, but got an array"},
		{chats, parts, `{"type":"image_url","image_url":"x"}`, "messages[0].content[1].image_url", "expected an object, but got a string"},
		{chats, parts, `{"type":"image_url","image_url":{"url":7}}`, "messages[0].content[1].image_url.url", "expected a string, but got an integer"},
		{chats, spoken, `"images":"x"`, "messages[1].images", "expected an array of strings, but got a string"},
		{chats, spoken, `"images":["", 7]`, "messages[1].images[1]", "expected a string, but got an integer"},
		{chats, spoken, `"tool_calls":{}`, "messages[1].tool_calls", "expected an array of objects, but got an object"},
		{chats, spoken, `"tool_calls":["x"]`, "messages[1].tool_calls[0]", "expected an object, but got a string"},
		{chats, spoken, `"tool_calls":[{"id":7}]`, "messages[1].tool_calls[0].id", "expected a string, but got an integer"},
		{chats, spoken, `"tool_calls":[{"id":"a"}, {"function":[]}]`, "messages[1].tool_calls[1].function", "expected an object, but got an array"},
		{chats, spoken, `"tool_calls":[{"function":{"arguments":"{}", "name":7}}]`, "messages[1].tool_calls[0].function.name", "expected a string, but got an integer"},
		{chats, spoken, `"tool_name":7`, "messages[1].tool_name", "expected a string, but got an integer"},
		{chats, spoken, `"tool_call_id":false`, "messages[1].tool_call_id", "expected a string, but got a boolean"},
		{chats, spoken, `"name":{}`, "messages[1].name", "expected a string, but got an object"},
		{chats, ollama, `"tools":{}`, "tools", "expected an array of objects, but got an object"},
		{chats, ollama, `"tools":[{"function":7}]`, "tools[0].function", "expected an object, but got an integer"},
		{chats, ollama, `"tools":[{"function":{"name":[]}}]`, "tools[0].function.name", "expected a string, but got an array"},
		{chats, ollama, `"tools":[{"function":{"description":1}}]`, "tools[0].function.description", "expected a string, but got an integer"},
		{chats, ollama, `"tools":[{"function":{"parameters":"x"}}]`, "tools[0].function.parameters", `type "object"`},
		{chats[:1], ollama, `"options":[]`, "options", "expected an object, but got an array"},
		{chats[:1], ollama, `"options":{"num_ctx":"large"}`, "options.num_ctx", "expected a number, but got a string"},
		{chats[:1], ollama, `"options":{"num_ctx":1024}`, "options.num_ctx", "send 2048 to 16777216, or leave it out"},
		{chats[:1], `{"model":"gpt-4","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}],%s}`,
			`"options":{"num_ctx":999999}`, "options.num_ctx", "999999 is more than the 8192 tokens of gpt-4; send at most that, or leave it out"},
		{chats[:1], ollama, `"options":{"num_predict":1e999}`, "options.num_predict", "1e999 is out of range"},
		{chats[1:], openai, `"user":7`, "user", "expected a string, but got an integer"},
		{chats[1:], openai, `"n":1.5`, "n", "expected an integer, but got a decimal number"},
		{chats[1:], openai, `"n":99999999999999999999`, "n", "99999999999999999999 is out of range"},
		{chats[1:], openai, `"response_format":"json"`, "response_format", "expected an object, but got a string"},
		{chats[1:], openai, `"response_format":{"type":1}`, "response_format.type", "expected a string, but got an integer"},
		{chats[1:], openai, `"response_format":{"json_schema":1}`, "response_format.json_schema", "expected an object, but got an integer"},
		{chats[1:], openai, `"reasoning_effort":3`, "reasoning_effort", "expected a string, but got an integer"},
		{chats[1:], openai, `"stream_options":true`, "stream_options", "expected an object, but got a boolean"},
		{chats[1:], openai, `"stream_options":{"include_usage":1}`, "stream_options.include_usage", "expected a boolean, but got an integer"},
		{[]string{"/api/generate"}, `{"model":"m",%s}`, `"prompt":7`, "prompt", "expected a string, but got an integer"},
		{[]string{"/api/generate"}, `{"model":"m",%s}`, `"system":{}`, "system", "expected a string, but got an object"},
		{[]string{"/api/generate"}, `{"model":"m",%s}`, `"images":[1]`, "images[0]", "expected a string, but got an integer"},
		{[]string{"/api/generate"}, `{"model":"m","prompt":"a",%s}`, `"context":"x"`, "context", "expected an array of integers, but got a string"},
		{[]string{"/api/generate"}, `{"model":"m","prompt":"a",%s}`, `"context":[1,-2]`, "context[1]", "-2 is out of range"},
		{[]string{"/api/show"}, ` {"x":1,%s}`, `"model":7`, "model", "expected a string, but got an integer"},
		{[]string{"/api/show"}, `%s`, `[]`, "", "Invalid type for the body: expected an object, but got an array"},
		{[]string{"/api/embeddings"}, `{"model":"m",%s}`, `"prompt":7`, "prompt", "expected a string, but got an integer"},
	} {
		for _, path := range test.paths {
			t.Run(path+" "+test.wrong, func(t *testing.T) {
				w := newWorld(t, newScripted(t, front.OpenAI))
				response := post(t.Context(), t, w.url+path, http.Header{}, fmt.Appendf(nil, test.body, test.wrong))
				body, err := io.ReadAll(response.Body)
				if err != nil {
					t.Error(err)
				}
				if err := response.Body.Close(); err != nil {
					t.Error(err)
				}
				api := front.Ollama
				if strings.HasPrefix(path, "/v1") {
					api = front.OpenAI
				}
				r := read(t, api, false, response, body)
				if r.status != http.StatusBadRequest || !strings.Contains(r.failure, test.said) || test.param != "" && !strings.Contains(r.failure, "'"+test.param+"'") {
					t.Errorf("status %d: %s", r.status, body)
				}
				if gos.MatchString(r.failure) {
					t.Errorf("it is told in Go: %s", r.failure)
				}
				if api == front.OpenAI && !strings.Contains(string(body), fmt.Sprintf(`"param":%q,"code":"invalid_`, test.param)) {
					t.Errorf("not as OpenAI tells it: %s", body)
				}
				if asked := w.upstream.requests(); len(asked) > 0 {
					t.Errorf("asked %v", asked)
				}
				if kept, err := w.engine.Sessions(t.Context(), turn.SessionFilter{}); err != nil || len(kept) > 0 {
					t.Errorf("kept %v, %v", kept, err)
				}
			})
		}
	}
}
