package wiretest_test

import (
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt/wire"
)

const openAI = `{"model":"m","max_completion_tokens":10,
"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object"}}},{"type":"function","function":{"name":"b","description":"d","parameters":{"type":"object","title":"b"}}}],
"messages":[
{"role":"system","content":"be brief"},
{"role":"user","content":"hello"},
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"b","arguments":"{\"q\":1}"}}]},
{"role":"tool","tool_call_id":"c2","content":"second"},
{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"first"}]},
{"role":"assistant","content":"found"},
{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}
]}`

func TestOpenAI(t *testing.T) {
	const image = `{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`
	breaches := []breach{
		{"unknown field", `"model":"m"`, `"model":"m","system":[]`, "system"},
		{"no model", `"model":"m"`, `"model":""`, "no model"},
		{"no room for a reply", `"max_completion_tokens":10`, `"max_completion_tokens":0`, "max_completion_tokens"},
		{"no limit", `"max_completion_tokens":10,`, ``, ""},
		{"tool of another type", `{"type":"function","function":{"name":"a","parameters"`, `{"type":"web","function":{"name":"a","parameters"`, `tools[0]: type "web"`},
		{"other role", `{"role":"system"`, `{"role":"note"`, `role "note"`},
		{"no content", `"content":"found"`, `"content":null`, "messages[5]: no content"},
		{"content left out", `{"role":"assistant","content":"found"}`, `{"role":"assistant"}`, "messages[5]: no content"},
		{"blank content", `"content":"found"`, `"content":" "`, "messages[5]: blank content"},
		{"content that is neither", `"content":"found"`, `"content":5`, "messages[5]"},
		{"no parts", `[{"type":"text","text":"first"}]`, `[]`, "messages[4]: no parts"},
		{"blank part", `"text":"see"`, `"text":"\t"`, "blank text"},
		{"unknown part", `{"type":"text","text":"see"}`, `{"type":"tool_result"}`, `a part of type "tool_result"`},
		{"text with a picture", `{"type":"text","text":"see"}`, `{"type":"text","text":"see","image_url":{"url":""}}`, `a part of type "text"`},
		{"picture of the agent", `"content":"found"`, `"content":[` + image + `]`, `"image_url" in the role "assistant"`},
		{"picture of a tool", `{"type":"text","text":"first"}`, image, `"image_url" in the role "tool"`},
		{"picture without an address", `"image_url":{"url":"data:image/png;base64,AAAA"}`, `"text":""`, `a part of type "image_url"`},
		{"picture elsewhere", `data:image/png;base64,AAAA`, `https://example.com/x.png`, "data URL"},
		{"picture of another type", `image/png`, `image/tiff`, `"image/tiff"`},
		{"picture without data", `base64,AAAA`, `base64,`, "without data"},
		{"picture that is not base64", `base64,AAAA`, `base64,AAA`, "not base64"},
		{"result missing", `{"role":"tool","tool_call_id":"c2","content":"second"},`, ``, `messages[4]: no result for call "c2"`},
		{"result twice", `"tool_call_id":"c2"`, `"tool_call_id":"c1"`, "messages[4]: a result of no call"},
		{"result of nothing", `{"role":"assistant","content":"found"}`, `{"role":"tool","tool_call_id":"c2","content":"x"}`, "messages[5]: a result of no call"},
		{"result without a call", `"tool_call_id":"c2",`, ``, "messages[3]: a result of no call"},
		{"results at the end missing", "AAAA\"}}]}\n", "AAAA\"}}]},{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c9\",\"type\":\"function\",\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}]}\n", `no result for call "c9"`},
		{"call id in another role", `"content":"found"`, `"content":"found","tool_call_id":"c1"`, `tool_call_id in the role "assistant"`},
		{"calls of the user", `"content":"hello"`, `"content":"hello","tool_calls":[{"id":"c0"}]`, `1 tool_calls in the role "user"`},
		{"no calls", `"content":"found"`, `"content":"found","tool_calls":[]`, "0 tool_calls"},
		{"id twice", `"id":"c2"`, `"id":"c1"`, "stands twice"},
		{"empty id", `"id":"c2"`, `"id":""`, `call ""`},
		{"call of another type", `"id":"c2","type":"function"`, `"id":"c2","type":"x"`, `type "x"`},
		{"odd name", `"name":"b","arguments"`, `"name":"b.c","arguments"`, `name "b.c"`},
		{"arguments that are an object", `"{\"q\":1}"`, `{"q":1}`, "arguments"},
		{"arguments that are not JSON", `"{\"q\":1}"`, `"{"`, "arguments"},
		{"arguments that are a list", `"{\"q\":1}"`, `"[]"`, "arguments"},
		{"arguments that are null", `"{\"q\":1}"`, `"null"`, "arguments"},
	}
	run(t, wire.OpenAI, openAI, slices.Concat(breaches, schemas("parameters"), unreadable(`{"type":"object"}`)[:7]))
}

func TestOpenAIWithoutMessages(t *testing.T) {
	run(t, wire.OpenAI, `{"model":"m","messages":[{"role":"user","content":"x"}]}`, []breach{
		{"none", `[{"role":"user","content":"x"}]`, `[]`, "no messages"},
	})
}
