package history_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/replay/history"
)

// wire is a message as a provider reads it.
type wire struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID, Type string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// block is a part of a message's content.
type block struct {
	Type, Text, ID, Name string
	ToolUseID            string          `json:"tool_use_id"`
	Thinking             string          `json:"thinking"`
	Input                json.RawMessage `json:"input"`
	Source               map[string]string
	ImageURL             struct{ URL string } `json:"image_url"`
}

func blocks(t *rapid.T, raw json.RawMessage) []block {
	var list []block
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatalf("content %s: %v", raw, err)
	}
	return list
}

// Every list of chat completions has the results of a message's calls right behind it, in order and all
// of them, and no message without content.
func TestOpenAIListsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, _ := madeUp(t).export(history.OpenAI, history.Header{})
		var list []wire
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		var waiting []string
		for i, m := range list {
			if m.Role == "tool" {
				if len(waiting) == 0 || waiting[0] != m.ToolCallID {
					t.Fatalf("message %d is a result of %q, %q wait\n%s", i, m.ToolCallID, waiting, text)
				}
				waiting = waiting[1:]
				continue
			}
			if len(waiting) > 0 {
				t.Fatalf("message %d comes before the results of %q\n%s", i, waiting, text)
			}
			switch m.Role {
			case "user", "system":
			case "assistant":
				for _, c := range m.ToolCalls {
					if c.Type != "function" || c.Function.Name == "" || !json.Valid([]byte(c.Function.Arguments)) {
						t.Fatalf("call %+v", c)
					}
					waiting = append(waiting, c.ID)
				}
			default:
				t.Fatalf("message %d is of %q", i, m.Role)
			}
			switch m.Content[0] {
			case 'n':
				if len(m.ToolCalls) == 0 {
					t.Fatalf("message %d has neither content nor calls\n%s", i, text)
				}
			case '[':
				for _, b := range blocks(t, m.Content) {
					if b.Text == "" && b.ImageURL.URL == "" {
						t.Fatalf("an empty part in %s", m.Content)
					}
				}
			}
		}
		if len(waiting) > 0 {
			t.Fatalf("%q never ended\n%s", waiting, text)
		}
	})
}

// Every list of blocks has the results of a message's calls first in the next message, which is the
// user's, and no block or message without content.
func TestAnthropicListsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, _ := madeUp(t).export(history.Anthropic, history.Header{})
		var document struct {
			System   []block
			Messages []wire
		}
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		var waiting []string
		for i, m := range document.Messages {
			if m.Role != "user" && m.Role != "assistant" {
				t.Fatalf("message %d is of %q", i, m.Role)
			}
			list := blocks(t, m.Content)
			if len(list) == 0 {
				t.Fatalf("message %d is empty\n%s", i, text)
			}
			var called []string
			for _, b := range list {
				switch {
				case b.Type == "tool_result" && m.Role == "user" && len(waiting) > 0 && waiting[0] == b.ToolUseID:
					waiting = waiting[1:]
				case len(waiting) > 0:
					t.Fatalf("%s of message %d comes before the results of %q\n%s", b.Type, i, waiting, text)
				case b.Type == "tool_use" && m.Role == "assistant" && b.Input[0] == '{':
					called = append(called, b.ID)
				case b.Type == "text" && b.Text != "", b.Type == "thinking" && b.Thinking != "", b.Type == "image" && b.Source["data"] != "":
				default:
					t.Fatalf("block %+v of message %d by %s\n%s", b, i, m.Role, text)
				}
			}
			waiting = called
		}
		if len(waiting) > 0 {
			t.Fatalf("%q never ended\n%s", waiting, text)
		}
	})
}
