package wiretest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt/wire"
)

const anthropic = `{"model":"m","max_tokens":10,
"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"b","description":"d","input_schema":{"type":"object","title":"b"}}],
"system":[{"type":"text","text":"be brief"}],
"messages":[
{"role":"user","content":"hello"},
{"role":"assistant","content":[{"type":"text","text":"looking"},{"type":"tool_use","id":"c1","name":"a","input":{}},{"type":"tool_use","id":"c2","name":"b","input":{"q":1}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"found"}]},{"type":"tool_result","tool_use_id":"c2","is_error":true},{"type":"text","text":"and?"}]},
{"role":"assistant","content":[{"type":"tool_use","id":"c3","name":"a","input":{"q":"third"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c3","content":"string"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}
]}`

func TestAnthropic(t *testing.T) {
	large := func(n int) string { return `"data":"` + strings.Repeat("A", n) + `"` }
	breaches := []breach{
		{"not JSON", `{"model":"m"`, `{"model":m`, "invalid character"},
		{"more than one value", `"data":"AAAA"}}]}` + "\n]}", `"data":"AAAA"}}]}` + "\n]}{}", "after the value"},
		{"unknown field", `"max_tokens":10`, `"max_tokens":10,"num_ctx":5`, "num_ctx"},
		{"unknown field of a block", `{"type":"text","text":"and?"}`, `{"type":"text","text":"and?","role":"user"}`, "role"},
		{"no model", `"model":"m"`, `"model":""`, "no model"},
		{"no max_tokens", `"max_tokens":10`, `"max_tokens":0`, "no max_tokens"},
		{"agent first", `{"role":"user","content":"hello"},` + "\n", "", "the first message"},
		{"agent last", `"data":"AAAA"}}]}`, `"data":"AAAA"}}]},{"role":"assistant","content":"x"}`, "the last message"},
		{"no alternation", `{"role":"user","content":"hello"}`, `{"role":"user","content":"hello"},{"role":"user","content":"x"}`, "messages[1]: the roles do not alternate"},
		{"other role", `{"role":"assistant","content":[{"type":"text","text":"looking"}`, `{"role":"system","content":[{"type":"text","text":"looking"}`, `messages[1]: role "system"`},
		{"no content", `"content":"hello"`, `"content":[]`, "messages[0]: no content"},
		{"content that is neither", `"content":"hello"`, `"content":5`, "messages[0]"},
		{"blank string", `"content":"hello"`, `"content":" "`, "messages[0]: blank text"},
		{"blank text of the user", `"and?"`, `"\n\u00a0\u001f"`, "blank text"},
		{"blank text of the agent", `"looking"`, `""`, "blank text"},
		{"text without text", `{"type":"text","text":"and?"}`, `{"type":"text"}`, "blank text"},
		{"blank system", `"be brief"`, `" "`, "system: blank text"},
		{"empty system", `[{"type":"text","text":"be brief"}]`, `[]`, "system: no content"},
		{"picture in the system", `{"type":"text","text":"be brief"}`, `{"type":"image"}`, `system: a block of type "image"`},
		{"system as a string", `[{"type":"text","text":"be brief"}]`, `"be brief"`, ""},
		{"trailing white space", `"looking"`, `"looking "`, "ends in white space"},
		{"trailing line separator", `"looking"`, `"looking\u2028"`, "ends in white space"},
		{"user's trailing white space", `"and?"`, `"and? "`, ""},
		{"call by the user", `{"type":"text","text":"and?"}`, `{"type":"tool_use","id":"x","name":"a","input":{}}`, `messages[2]: a block of type "tool_use"`},
		{"picture by the agent", `{"type":"text","text":"looking"}`, `{"type":"image"}`, `messages[1]: a block of type "image"`},
		{"result by the agent", `{"type":"text","text":"looking"}`, `{"type":"tool_result"}`, `messages[1]: a block of type "tool_result"`},
		{"odd id", `"id":"c2"`, `"id":"c.2"`, "id"},
		{"empty id", `"id":"c2"`, `"id":""`, "id"},
		{"id twice", `"id":"c3"`, `"id":"c1"`, `"c1" stands twice`},
		{"odd name", `"id":"c2","name":"b"`, `"id":"c2","name":"b.c"`, "name"},
		{"input that is a string", `"input":{"q":1}`, `"input":"{}"`, "input"},
		{"input that is null", `"input":{"q":1}`, `"input":null`, "not an object"},
		{"no input", `,"input":{"q":1}`, ``, "input"},
		{"results after text", `{"type":"tool_result","tool_use_id":"c2","is_error":true},{"type":"text","text":"and?"}`, `{"type":"text","text":"and?"},{"type":"tool_result","tool_use_id":"c2"}`, "after something else"},
		{"result missing", `{"type":"tool_result","tool_use_id":"c2","is_error":true},`, ``, `no tool_result for "c2"`},
		{"result twice", `"tool_use_id":"c2"`, `"tool_use_id":"c1"`, `for "c1", which is not`},
		{"result too early", `"content":"hello"`, `"content":[{"type":"tool_result","tool_use_id":"c1"}]`, `messages[0]: a tool_result for "c1"`},
		{"result of an older call", `"tool_use_id":"c3"`, `"tool_use_id":"c2"`, `messages[4]: a tool_result for "c2"`},
		{"blank result", `"found"`, `" "`, "tool_result: blank text"},
		{"empty result", `[{"type":"text","text":"found"}]`, `[]`, "tool_result: no content"},
		{"result in a result", `{"type":"text","text":"found"}`, `{"type":"tool_result"}`, "tool_result: a block"},
		{"picture without a source", `,"source":{"type":"base64","media_type":"image/png","data":"AAAA"}`, ``, "source"},
		{"picture by address", `"type":"base64"`, `"type":"url"`, "source"},
		{"picture of another type", `image/png`, `image/tiff`, `"image/tiff"`},
		{"picture without data", `"data":"AAAA"`, `"data":""`, "without data"},
		{"picture that is not base64", `"data":"AAAA"`, `"data":"A-_A"`, "not base64"},
		{"picture with line breaks", `"data":"AAAA"`, `"data":"AA\nAA"`, "not base64"},
		{"picture too large", `"data":"AAAA"`, large(5<<20 + 4), "a picture of 5242884 bytes"},
		{"picture just not too large", `"data":"AAAA"`, large(5 << 20), ""},
	}
	run(t, wire.Anthropic, anthropic, slices.Concat(breaches, schemas("input_schema"), unreadable(`{"q":1}`)))
}

func TestAnthropicWithoutMessages(t *testing.T) {
	run(t, wire.Anthropic, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}]}`, []breach{
		{"none", `[{"role":"user","content":"x"}]`, `[]`, "no messages"},
	})
}
