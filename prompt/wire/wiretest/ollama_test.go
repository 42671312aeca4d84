package wiretest_test

import (
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt/wire"
)

const ollama = `{"model":"m","truncate":false,"shift":false,"options":{"num_ctx":100,"num_predict":10},
"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object"}}},{"type":"function","function":{"name":"b","description":"d","parameters":{"type":"object","title":"b"}}}],
"messages":[
{"role":"system","content":"be brief"},
{"role":"user","content":"hello"},
{"role":"assistant","content":"","tool_calls":[{"function":{"name":"a","arguments":{}}},{"function":{"name":"b","arguments":{"q":1}}}]},
{"role":"tool","content":"first","tool_name":"a"},
{"role":"tool","content":"second","tool_name":"b"},
{"role":"assistant","content":"found"},
{"role":"user","content":"","images":["AAAA"]}
]}`

func TestOllama(t *testing.T) {
	breaches := []breach{
		{"unknown field", `"model":"m"`, `"model":"m","max_tokens":5`, "max_tokens"},
		{"no model", `"model":"m"`, `"model":""`, "no model"},
		{"no window", `"num_ctx":100,`, ``, "no num_ctx"},
		{"no room for a reply", `"num_predict":10`, `"num_predict":0`, "num_predict"},
		{"endless reply", `"num_predict":10`, `"num_predict":-1`, "num_predict"},
		{"no limit", `,"num_predict":10`, ``, ""},
		{"truncates", `"truncate":false`, `"truncate":true`, "truncate"},
		{"truncates unasked", `"truncate":false,`, ``, "truncate"},
		{"shifts", `"shift":false`, `"shift":true`, "shift"},
		{"shifts unasked", `"shift":false,`, ``, "shift"},
		{"tool of another type", `{"type":"function","function":{"name":"a","parameters"`, `{"type":"web","function":{"name":"a","parameters"`, `tools[0]: type "web"`},
		{"other role", `{"role":"system"`, `{"role":"note"`, `role "note"`},
		{"nothing said", `"content":"found"`, `"content":" "`, "messages[5]: nothing is said"},
		{"content in parts", `"content":"found"`, `"content":[]`, "content"},
		{"name of another role", `"content":"found"`, `"content":"found","tool_name":"a"`, "messages[5]: tool_name"},
		{"result without a name", `,"tool_name":"b"`, ``, "messages[4]: tool_name"},
		{"results in another order", `"content":"first","tool_name":"a"`, `"content":"first","tool_name":"b"`, `messages[3]: a result of "b"`},
		{"result missing", `{"role":"tool","content":"second","tool_name":"b"},`, ``, `messages[4]: no result of "b"`},
		{"result too many", `{"role":"assistant","content":"found"}`, `{"role":"tool","content":"x","tool_name":"b"}`, `messages[5]: a result of "b"`},
		{"results at the end missing", `"images":["AAAA"]}`, `"images":["AAAA"]},{"role":"assistant","tool_calls":[{"function":{"name":"z","arguments":{}}}]}`, `no result of "z"`},
		{"picture of the agent", `"content":"found"`, `"content":"found","images":["AAAA"]`, `1 pictures in the role "assistant"`},
		{"no pictures", `"images":["AAAA"]`, `"images":[]`, "0 pictures"},
		{"picture without data", `"AAAA"`, `""`, "without data"},
		{"picture as an address", `"AAAA"`, `"data:image/png;base64,AAAA"`, "not base64"},
		{"calls of the user", `"content":"hello"`, `"content":"hello","tool_calls":[{}]`, `1 tool_calls in the role "user"`},
		{"no calls", `"content":"found"`, `"content":"found","tool_calls":[]`, "0 tool_calls"},
		{"odd name", `"name":"b","arguments"`, `"name":"b.c","arguments"`, `a call of "b.c"`},
		{"tag in the content", `"content":"found"`, `"content":"a [img-0]"`, "messages[5]: content has a picture's tag"},
		{"tag in the arguments", `{"q":1}`, `{"q":"[img-12]"}`, "arguments have a picture's tag"},
		{"no tag", `"content":"found"`, `"content":"[img-x] [img-] [img]"`, ""},
		{"arguments as text", `{"q":1}`, `"{}"`, "arguments"},
		{"arguments that are null", `{"q":1}`, `null`, "arguments"},
	}
	run(t, wire.Ollama, ollama, slices.Concat(breaches, schemas("parameters"), unreadable(`{"q":1}`)))
}

func TestOllamaWithoutMessages(t *testing.T) {
	run(t, wire.Ollama, `{"model":"m","truncate":false,"shift":false,"options":{"num_ctx":1},"messages":[{"role":"user","content":"x"}]}`, []breach{
		{"none", `[{"role":"user","content":"x"}]`, `[]`, "nothing to answer"},
		{"only the system", `"role":"user"`, `"role":"system"`, "nothing to answer"},
	})
}
