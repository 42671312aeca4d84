package wire_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
)

func TestHead(t *testing.T) {
	for _, tt := range []struct {
		f       wire.Format
		reserve int
		want    string
	}{
		{wire.Anthropic, 0, `{"model":"m","max_tokens":4096,"messages":`},
		{wire.Anthropic, 7, `{"model":"m","max_tokens":7,"messages":`},
		{wire.OpenAI, 0, `{"model":"m","messages":`},
		{wire.OpenAI, 7, `{"model":"m","max_completion_tokens":7,"messages":`},
		{wire.Ollama, 0, `{"model":"m","truncate":false,"shift":false,"options":{"num_ctx":512},"messages":`},
		{wire.Ollama, 7, `{"model":"m","truncate":false,"shift":false,"options":{"num_ctx":512,"num_predict":7},"messages":`},
		{wire.Text, 0, "# prompt | model m | window 512\n# user\n"},
		{wire.Text, 7, "# prompt | model m | window 512 | reply 7\n# user\n"},
	} {
		r := wire.Request{Model: "m", Context: 512, MaxTokens: tt.reserve, Messages: []prompt.Message{{Role: prompt.User}}}
		if got, err := wire.Append(t.Context(), nil, tt.f, r, nil); err != nil || !strings.HasPrefix(string(got), tt.want) {
			t.Errorf("%s, %d: %s, %v", tt.f, tt.reserve, got, err)
		}
	}
}

func TestSystemBlocks(t *testing.T) {
	r := wire.Request{Model: "m", Messages: []prompt.Message{{Role: prompt.System, Parts: []prompt.Part{{Text: "a "}, {}, shown("image/png", 3)}}}}
	got, err := wire.Append(t.Context(), nil, wire.Anthropic, r, picture)
	want := `"system":[{"type":"text","text":"a "},{"type":"text","text":"[image: a cat]"}],"messages"`
	if err != nil || !strings.Contains(string(got), want) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestToolSchemas(t *testing.T) {
	for _, tt := range []struct{ schema, want, refused string }{
		{"", `{"type":"object","properties":{}}`, ""},
		{" {}\n", `{"type":"object","properties":{}}`, ""},
		{`{"type":"object"}`, `{"properties":{},"type":"object"}`, ""},
		{`{"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`, ""},
		{`{"title":"t"}`, `{"type":"object","properties":{},"title":"t"}`, ""},
		{"{\n \"type\": \"object\", \"properties\": {} }", "{\n \"type\": \"object\", \"properties\": {} }", ""},
		{`{`, "", "tools[0].schema: is not JSON"},
		{`{"default":1e999}`, "", "tools[0].schema: is not JSON"},
		{`[]`, "", "tools[0].schema: expected an object, found an array"},
		{`{"type":"array"}`, "", `tools[0].schema.type: is not "object"`},
		{`{"type":["object","null"]}`, "", `tools[0].schema.type: is not "object"`},
		{`{"type":"object","type":"object"}`, "", "appears twice"},
	} {
		r := wire.Request{Model: "m", Context: 1, Tools: []prompt.Definition{{Name: "x.y", Description: "d", Schema: tt.schema}, {Name: "b", Description: " "}}}
		heads := map[wire.Format]string{
			wire.Anthropic: `,"tools":[{"name":"x_y_b24ca9b7","description":"d","input_schema":` + tt.want + `},{"name":"b","input_schema":{"type":"object","properties":{}}}],"messages":`,
			wire.OpenAI: `,"tools":[{"type":"function","function":{"name":"x_y_b24ca9b7","description":"d","parameters":` + tt.want +
				`}},{"type":"function","function":{"name":"b","parameters":{"type":"object","properties":{}}}}],"messages":`,
		}
		heads[wire.Ollama] = heads[wire.OpenAI]
		for f, want := range heads {
			got, err := wire.Append(t.Context(), []byte("before"), f, r, nil)
			if tt.refused != "" {
				var field *wire.FieldError
				if !errors.As(err, &field) || !strings.Contains(err.Error(), tt.refused) || string(got) != "before" {
					t.Errorf("%s, %s: %s, %v", f, tt.schema, got, err)
				}
				continue
			}
			if err != nil || !strings.Contains(string(got), want) {
				t.Errorf("%s, %s: %s, %v, want %s", f, tt.schema, got, err, want)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	x := func(id string) prompt.ToolCall { return prompt.ToolCall{ID: id, Name: "x"} }
	user := said(prompt.User, "u")
	list := func(messages ...prompt.Message) wire.Request {
		return wire.Request{Model: "m", Context: 1, Messages: messages}
	}
	for _, tt := range []struct {
		name string
		f    wire.Format
		r    wire.Request
		want string
	}{
		{"format", "gopher", list(user), `format: "gopher" is not a format; use ollama, openai, anthropic or text`},
		{"model", wire.OpenAI, wire.Request{}, "model: is empty; name the model"},
		{"window", wire.Ollama, wire.Request{Model: "m"}, "context: is 0; give the usable window"},
		{"tool twice", wire.Text, wire.Request{Tools: []prompt.Definition{{Name: "a.b"}, {Name: "c"}, {Name: "a.b"}}}, `tools[2].name: "a_b_`},
		{"result of nothing", wire.Text, list(user, result("c1", "")), "messages[1]: is a result that no call waits for"},
		{"results in another order", wire.Text, list(called(x("c1"), x("c2")), result("c2", "")), `messages[1].call_id: "c2" does not answer call "c1"`},
		{"something between", wire.Text, list(called(x("c1")), user), `messages[1]: stands where the result of call "c1" belongs`},
		{"result missing", wire.Text, list(called(x("c1"), x("c2")), result("c1", "")), `messages: end before the result of call "c2"`},
		{"calls by the user", wire.Text, list(prompt.Message{Role: prompt.User, Calls: []prompt.ToolCall{x("c1")}}), `messages[0].calls: are made by "user"`},
		{"role", wire.Text, list(user, said("developer", "d")), `messages[1].role: "developer" is not a role`},
		{"id twice", wire.Text, list(called(x("c1")), result("c1", ""), called(x("c1"))), `messages[2].calls[0].id: "c1" is not unique`},
		{"odd id", wire.Text, list(called(x("c1"), x("c.2"))), `messages[0].calls[1].id: "c.2" is not unique or not plain`},
		{"no id", wire.Text, list(called(x(""))), `messages[0].calls[0].id: "" is not unique or not plain`},
	} {
		got, err := wire.Append(t.Context(), []byte("before"), tt.f, tt.r, nil)
		var field *wire.FieldError
		if !errors.As(err, &field) || !strings.HasPrefix(err.Error(), tt.want) || string(got) != "before" {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
	if got, err := wire.Append(t.Context(), nil, wire.Text, wire.Request{}, nil); err != nil || string(got) != "# prompt\n" {
		t.Errorf("a text of nothing: %q, %v", got, err)
	}
}

func TestToolName(t *testing.T) {
	long := strings.Repeat("n", 64)
	for name, want := range map[string]string{
		"search": "search", "Az_09-": "Az_09-", long: long,
		"":         "_e3b0c442",
		"größe":    "gr__e_d353a267",
		long + "n": strings.Repeat("n", 55) + "_1e3fb6d5",
	} {
		if got := wire.ToolName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	if wire.ToolName("a.b") == wire.ToolName("a/b") {
		t.Error("different tools have one name")
	}
}

func TestArguments(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, tt := range []struct{ raw, want string }{
		{"", `{}`}, {" \n", `{}`}, {`{}`, `{}`},
		{" {\"a\" : 1.0e2}\n", `{"a" : 1.0e2}`},
		{`[1]`, `{"arguments":[1]}`}, {`null`, `{"arguments":null}`}, {`"s"`, `{"arguments":"s"}`}, {`-12`, `{"arguments":-12}`},
		{`{"a":`, `{"arguments":"{\"a\":"}`}, {`{} {}`, `{"arguments":"{} {}"}`}, {"\xff", `{"arguments":"` + "\ufffd" + `"}`},
		{`{"a":1e400}`, `{"arguments":"{\"a\":1e400}"}`}, {`[-1E400]`, `{"arguments":"[-1E400]"}`},
		{`{"a":1e-400}`, `{"a":1e-400}`},
		{strings.Repeat("9", 309), `{"arguments":"` + strings.Repeat("9", 309) + `"}`},
		{strings.Repeat("9", 308), `{"arguments":` + strings.Repeat("9", 308) + `}`},
		{`"1e400"`, `{"arguments":"1e400"}`},
		{`{"a":"\ud800"}`, `{"arguments":"{\"a\":\"\\ud800\"}"}`}, {`{"\udc00":1}`, `{"arguments":"{\"\\udc00\":1}"}`},
		{`["\ud800\n"]`, `{"arguments":"[\"\\ud800\\n\"]"}`}, {`["\ud800\u0041"]`, `{"arguments":"[\"\\ud800\\u0041\"]"}`},
		{`["\ud800x"]`, `{"arguments":"[\"\\ud800x\"]"}`},
		{`{"a":"\uD83D\uDE00\ud83d\ude00"}`, `{"a":"\uD83D\uDE00\ud83d\ude00"}`}, {`{"a":"\\ud800\""}`, `{"a":"\\ud800\""}`},
		{deep(100), `{"arguments":` + deep(100) + `}`}, {deep(101), `{"arguments":"` + deep(101) + `"}`},
		{"[" + strings.Repeat("[],", 200) + "{}]", `{"arguments":[` + strings.Repeat("[],", 200) + `{}]}`},
	} {
		list := []prompt.Message{called(prompt.ToolCall{ID: "c", Name: "x", Arguments: tt.raw}), result("c", "r")}
		if got := messages(t, wire.Anthropic, nil, list...); !strings.Contains(got, `"input":`+tt.want+`}]},`) {
			t.Errorf("%s: %s", tt.raw, got)
		}
		if got := messages(t, wire.Ollama, nil, list...); !strings.Contains(got, `"arguments":`+tt.want+`}}]}`) {
			t.Errorf("%s: %s", tt.raw, got)
		}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(tt.want)
		if got := messages(t, wire.OpenAI, nil, list...); !strings.Contains(got, `"arguments":"`+quoted+`"}}]}`) {
			t.Errorf("%s: %s", tt.raw, got)
		}
	}
}
