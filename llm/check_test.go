package llm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/llm"
)

func TestRequestCheck(t *testing.T) {
	user := llm.Message{Role: llm.User, Text: "u", Images: []llm.Image{{MediaType: "image/png", Data: []byte{1}}}}
	calls := llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "a", Name: "x"}, {ID: "b", Name: "x", Arguments: "{"}}}
	a, b := llm.Message{Role: llm.ToolResult, CallID: "a", Name: "x"}, llm.Message{Role: llm.ToolResult, CallID: "b", Name: "x"}
	said := func(m ...llm.Message) llm.Request { return llm.Request{Messages: m} }
	tools := func(tools ...llm.Tool) llm.Request {
		return llm.Request{Messages: []llm.Message{user}, Tools: tools}
	}
	for _, tt := range []struct {
		name  string
		give  llm.Request
		field string
	}{
		{"everything", said(llm.Message{Role: llm.System, Text: "s"}, user, calls, b, a, user, calls, a, b), ""},
		{"tools", tools(llm.Tool{Name: strings.Repeat("a", 64)}, llm.Tool{Name: "b_B-9", Schema: `{"type":"object"}`}), ""},
		{"nothing", said(), "messages"},
		{"no role", said(llm.Message{}), "messages[0].role"},
		{"a role of another program", said(user, llm.Message{Role: "developer"}), "messages[1].role"},
		{"a result of nothing", said(user, a), "messages[1].call_id"},
		{"a result twice", said(calls, a, a), "messages[2].call_id"},
		{"a word between call and result", said(calls, a, user, b), "messages[2]"},
		{"a call without a result", said(calls, a), "messages"},
		{"the user calls", said(llm.Message{Role: llm.User, Calls: calls.Calls}), "messages[0].calls"},
		{"the assistant shows", said(llm.Message{Role: llm.Assistant, Images: user.Images}), "messages[0].images"},
		{"one id twice", said(llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "a", Name: "x"}, {ID: "a", Name: "x"}}}), "messages[0].calls[1].id"},
		{"no id", said(llm.Message{Role: llm.Assistant, Calls: []llm.Call{{Name: "x"}}}), "messages[0].calls[0].id"},
		{"a call of nothing", said(llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "a"}}}), "messages[0].calls[0].name"},
		{"a tool without a name", tools(llm.Tool{}), "tools[0].name"},
		{"a name that is too long", tools(llm.Tool{Name: strings.Repeat("a", 65)}), "tools[0].name"},
		{"a name with a dot", tools(llm.Tool{Name: "fs.read"}), "tools[0].name"},
		{"a tool twice", tools(llm.Tool{Name: "a"}, llm.Tool{Name: "a"}), "tools[1].name"},
		{"a schema that is none", tools(llm.Tool{Name: "a", Schema: "["}), "tools[0].schema"},
		{"a schema of a list", tools(llm.Tool{Name: "a", Schema: `{"type":"array"}`}), "tools[0].schema.type"},
		{"a schema that is null", tools(llm.Tool{Name: "a", Schema: "null"}), "tools[0].schema"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.give.Check()
			var field *llm.FieldError
			switch {
			case tt.field == "" && err != nil:
				t.Error(err)
			case tt.field != "" && (!errors.As(err, &field) || field.Name != tt.field || field.Fix == ""):
				t.Errorf("got %v, want %s", err, tt.field)
			}
		})
	}
}

// Every request is checked, and a long conversation has thousands of messages.
func TestRequestCheckOfALongConversation(t *testing.T) {
	var r llm.Request
	for range 1000 {
		r.Messages = append(r.Messages, llm.Message{Role: llm.User, Text: "u"},
			llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "a", Name: "x"}}}, llm.Message{Role: llm.ToolResult, CallID: "a", Name: "x"})
	}
	allocations := testing.AllocsPerRun(1, func() {
		if err := r.Check(); err != nil {
			t.Error(err)
		}
	})
	if allocations > 10 {
		t.Errorf("%.0f allocations", allocations)
	}
}

func TestCallCheck(t *testing.T) {
	for arguments, want := range map[string]string{
		"":          "",
		" \n":       "",
		`{"a": 1}`:  "",
		`{"a":`:     "not valid JSON: unexpected end of JSON input at offset 5",
		`{"a": b}`:  "not valid JSON",
		`{} and so`: "not valid JSON",
		`[1]`:       "not a JSON object",
		`null`:      "not a JSON object",
		`"{}"`:      "not a JSON object",
	} {
		err := llm.Call{Name: "look", Arguments: arguments}.Check()
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "look")) {
			t.Errorf("%q: got %v, want %q", arguments, err, want)
		}
	}
}
