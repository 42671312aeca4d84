package history_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/replay/history"
)

// marks makes words that stand nowhere else.
type marks struct{ made []string }

func (m *marks) next() string {
	m.made = append(m.made, fmt.Sprintf("mark%dmark", len(m.made)))
	return m.made[len(m.made)-1]
}

// foreign makes a list of messages as careless programs write them: with roles and parts of their own,
// ids that are missing or stand twice, results without calls and calls without results.
func foreign(t *rapid.T, m *marks) []map[string]any {
	ids := rapid.SampledFrom([]string{"a", "b", "c", ""})
	var list []map[string]any
	for range rapid.IntRange(1, 12).Draw(t, "messages") {
		role := rapid.SampledFrom([]string{"user", "assistant", "assistant", "tool", "tool", "system", "developer", "function", "critic", "Assistant"}).Draw(t, "role")
		message := map[string]any{"role": role, "content": m.next()}
		switch role {
		case "tool", "function":
			message["tool_call_id"] = ids.Draw(t, "of")
			if rapid.Bool().Draw(t, "blocks") {
				message["content"] = []any{map[string]any{"type": "text", "text": m.next()}, map[string]any{"type": "text", "text": m.next()}}
			}
		case "assistant":
			if rapid.Bool().Draw(t, "calls") {
				message["tool_calls"] = someCalls(t, m, ids)
			}
			if rapid.Bool().Draw(t, "thinks") {
				message["reasoning_content"] = m.next()
			}
			if rapid.Bool().Draw(t, "blocks") {
				message["content"] = someBlocks(t, m, ids)
			}
		case "user":
			if rapid.Bool().Draw(t, "parts") {
				message["content"] = []any{
					map[string]any{"type": "text", "text": m.next()},
					map[string]any{"type": "tool_result", "tool_use_id": ids.Draw(t, "of"), "content": m.next()},
					map[string]any{"type": "image_url", "image_url": map[string]any{"url": "https://example.com/" + m.next()}},
				}
			}
		}
		list = append(list, message)
	}
	return list
}

func someCalls(t *rapid.T, m *marks, ids *rapid.Generator[string]) []any {
	var calls []any
	for range rapid.IntRange(1, 3).Draw(t, "calls") {
		arguments := rapid.SampledFrom([]string{`{"x":"%s"}`, `["%s"]`, `{"x":%s}`, `%s`}).Draw(t, "arguments")
		calls = append(calls, map[string]any{
			"id": ids.Draw(t, "id"), "type": "function", "function": map[string]any{"name": "f", "arguments": fmt.Sprintf(arguments, m.next())},
		})
	}
	return calls
}

func someBlocks(t *rapid.T, m *marks, ids *rapid.Generator[string]) []any {
	var blocks []any
	for range rapid.IntRange(1, 4).Draw(t, "blocks") {
		blocks = append(blocks, rapid.SampledFrom([]map[string]any{
			{"type": "text", "text": m.next()}, {"type": "thinking", "thinking": m.next()},
			{"type": "tool_use", "id": ids.Draw(t, "id"), "name": "g", "input": map[string]any{"y": m.next()}},
			{"type": "refusal", "refusal": m.next()},
		}).Draw(t, "block"))
	}
	return blocks
}

// Whatever state a list of messages is in, every word of it is in the log, which accepts it all.
func TestEveryWordIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m marks
		list := foreign(t, &m)
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		w, _ := read(t, string(text), "", history.Options{})
		kept := strings.Join(w.transcript(), "\n")
		for _, mark := range m.made {
			if strings.Contains(string(text), mark) && !strings.Contains(kept, mark) {
				t.Fatalf("%s is lost:\n%s\n%s", mark, text, kept)
			}
		}
	})
}
