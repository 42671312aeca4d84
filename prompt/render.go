package prompt

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/turn"
)

// messageOf renders a turn that is no part of a unit. Ok is false for one that no prompt shows: a summary
// is the log's copy of what stands in the prompt anyway.
func messageOf(t *turn.Turn) (m Message, ok bool) {
	if t.Kind != turn.KindTurn {
		return Message{}, false
	}
	m = Message{Role: roleOf(t.Role), Seqs: []int64{t.Seq}}
	switch c := t.Content.(type) {
	case turn.Text:
		m.Parts = []Part{{Text: c.Text}}
	case turn.Speech:
		m.Parts = []Part{{Text: c.Transcript}}
	case turn.Image:
		m.Parts = []Part{{Image: &Image{MediaType: c.MediaType, Alt: c.Alt, SHA256: c.SHA256, Size: c.Size}}}
	case turn.Action:
		m.Parts = []Part{{Text: actionText(c)}}
	case turn.Forgotten:
		m.Parts = []Part{{Text: turn.ForgottenText}}
	default:
		return Message{}, false
	}
	return m, true
}

// unitMessages renders a call with its results. The results come in the order of the calls, whatever the
// order in which they were written.
func unitMessages(members []turn.Turn) []Message {
	call := &members[0]
	text, _ := call.Content.(turn.Text)
	first := Message{Role: Agent, Seqs: []int64{call.Seq}, Calls: make([]ToolCall, len(text.ToolCalls))}
	if call.Gone() {
		text.Text = turn.ForgottenText
	}
	if text.Text != "" {
		first.Parts = []Part{{Text: text.Text}}
	}
	messages := make([]Message, 1, len(members))
	for i, c := range text.ToolCalls {
		// Ids of calls are unique only while they are open. A provider wants them unique in the whole
		// list, and not every character.
		id := fmt.Sprintf("call_%d_%d", call.Seq, i+1)
		first.Calls[i] = ToolCall{ID: id, Name: c.Name, Arguments: c.Arguments}
		for j := range members[1:] {
			t := &members[1+j]
			if r, ok := t.Content.(turn.Result); ok && r.CallID == c.ID {
				messages = append(messages, Message{
					Role: Tool, Seqs: []int64{t.Seq}, CallID: id, Name: c.Name, Failed: r.Status != turn.CallOK,
					Parts: []Part{{Text: resultText(r)}},
				})
			}
		}
	}
	messages[0] = first
	return messages
}

func roleOf(r turn.Role) Role {
	switch r {
	case turn.User:
		return User
	case turn.Agent:
		return Agent
	}
	return System
}

// resultText is what a tool said: text that came as a JSON string without its quotes.
func resultText(r turn.Result) string {
	text := r.Result
	if strings.HasPrefix(text, `"`) {
		var s string
		if err := json.Unmarshal([]byte(text), &s); err == nil {
			text = s
		}
	}
	switch {
	case r.Status == turn.CallCancelled && strings.TrimSpace(text) == "":
		return "(the call was cancelled; there is no result)"
	case strings.TrimSpace(text) == "":
		return "(" + string(r.Status) + ", nothing returned)"
	case r.Status != turn.CallOK:
		// Most providers have no other way to say that a call did not go well.
		return "[" + string(r.Status) + "] " + text
	}
	return text
}

func actionText(a turn.Action) string {
	words := []string{"[action: " + a.Name}
	if a.Target != "" {
		words = append(words, a.Target)
	}
	text := strings.Join(words, " ") + "]"
	if a.Payload != "" {
		text += " " + a.Payload
	}
	return text
}
