package turnstone_test

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestAPromptBecomesARequest(t *testing.T) {
	chat := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{}), "talk")
	stored, err := chat.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("cat")}}})
	if err != nil {
		t.Fatal(err)
	}
	picture := &prompt.Image{MediaType: "image/png", Alt: "a cat", SHA256: stored[0].Content.(turn.Image).SHA256, Size: 3}
	name := wire.ToolName("fs.read")
	text := func(s string) []prompt.Part { return []prompt.Part{{Text: s}} }
	p := &prompt.Prompt{
		Window: budget.Window{Context: 8192, Usable: 6963, Reserve: 1044}, Count: budget.Count{Tokens: 963},
		Tools: []prompt.Definition{{Name: "fs.read", Description: "Reads.", Schema: `{"type":"object"}`}},
		Messages: []prompt.Message{
			{Role: prompt.System, Parts: text("Be brief.")},
			{Role: prompt.User, Parts: []prompt.Part{{Text: "Look:"}, {Image: picture}, {Text: " "}, {Text: "What is it?"}}},
			{Role: prompt.Agent, Parts: text("Let me see."), Calls: []prompt.ToolCall{{ID: "c1", Name: "fs.read", Arguments: `{"p":1}`}, {ID: "c2", Name: "fs.read", Arguments: `{}`}}},
			{Role: prompt.Tool, CallID: "c1", Parts: []prompt.Part{{Image: picture}}},
			{Role: prompt.Tool, CallID: "c2", Failed: true},
			{Role: prompt.Agent, Calls: []prompt.ToolCall{{ID: "c3", Name: "x", Arguments: `{}`}}},
			{Role: prompt.Tool, CallID: "c3"},
			{Role: prompt.Note, Parts: text("[noted]")},
		},
	}
	got, err := chat.Request(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "request", got, llm.Request{
		Conversation: "talk",
		Context:      6963, MaxTokens: 6000, Tools: []llm.Tool{{Name: name, Description: "Reads.", Schema: `{"type":"object"}`}},
		Messages: []llm.Message{
			{Role: llm.System, Text: "Be brief."},
			{Role: llm.User, Text: "Look:\nWhat is it?", Images: []llm.Image{{MediaType: "image/png", Alt: "a cat", Data: []byte("cat")}}},
			{Role: llm.Assistant, Text: "Let me see.", Calls: []llm.Call{{ID: "c1", Name: name, Arguments: `{"p":1}`}, {ID: "c2", Name: name, Arguments: `{}`}}},
			{Role: llm.ToolResult, CallID: "c1", Name: name, Text: "[image: a cat]"},
			{Role: llm.ToolResult, CallID: "c2", Name: name, Text: "(failed)"},
			{Role: llm.Assistant, Calls: []llm.Call{{ID: "c3", Name: "x", Arguments: `{}`}}},
			{Role: llm.ToolResult, CallID: "c3", Name: "x", Text: "(empty)"},
			{Role: llm.User, Text: "[noted]"},
		},
	})
	if err := got.Check(); err != nil {
		t.Error(err)
	}

	p.Window = budget.Window{Context: 131072, Usable: 111411, Reserve: 4096}
	if got, err := chat.Request(t.Context(), p); err != nil || got.MaxTokens != 0 || got.Context != 111411 {
		t.Errorf("%d of %d, %v", got.MaxTokens, got.Context, err)
	}
	picture.SHA256 = "00"
	if _, err := chat.Request(t.Context(), p); !errors.Is(err, turnstone.ErrNotFound) {
		t.Error(err)
	}
	var field *turn.FieldError
	if _, err := chat.Request(t.Context(), nil); !errors.As(err, &field) {
		t.Error(err)
	}
}
