package history

import (
	"fmt"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// message is a message of any provider on its way to turns.
type message struct {
	*sink
	place place

	role, id, name string
	content        strictjson.Raw
	calls          []turn.ToolCall
	callID         string
	failed         bool // of a tool message: it says that the tool failed
	thinking       string
	refusal        string
	at             time.Time

	turns []found
}

// found is one turn of a message, or one result.
type found struct {
	role    turn.Role
	content turn.Content
	result  *outcome
}

// message reads one message and hands out its turns.
func (s *sink) message(p place, raw strictjson.Raw) error {
	m := &message{sink: s, place: p}
	if err := s.report.decode(p, raw, m.member); err != nil {
		return err
	}
	if m.role == "" {
		return invalid.New(p.String()+": role", "is missing", "say who wrote the message")
	}
	if err := m.read(); err != nil {
		return err
	}
	return m.handOut()
}

func (m *message) member(name string, v strictjson.Raw) (err error) {
	switch name {
	case "role":
		m.role, err = m.text(m.place, v)
	case "content", "parts":
		m.holdContent(name, v)
	case "name":
		m.name, err = m.text(m.place, v)
	case "id":
		m.id = m.word(m.place, name, v)
	case "tool_calls":
		err = m.toolCalls(v)
	case "function_call":
		err = m.functionCall(v)
	case "tool_call_id":
		m.callID = m.word(m.place, name, v)
	case "is_error":
		m.failed = m.flag(name, v)
	case "reasoning_content", "reasoning", "thinking":
		m.think(m.word(m.place, name, v))
	case "refusal":
		m.refusal, err = m.text(m.place, v)
	case "timestamp", "time", "created_at", "createdAt", "created":
		m.timed(name, v)
	case "type":
	default:
		m.other(m.place, name, v)
	}
	if err != nil {
		return invalid.New(m.place.String()+": "+name, err.Error(), "correct the value")
	}
	return nil
}

// other reports a member that has no place in a turn, if it says anything.
func (s *sink) other(p place, name string, v strictjson.Raw) {
	switch v {
	case "null", `""`, "[]", "{}":
	default:
		s.report.lose("members that have no place in a turn", p, fmt.Sprintf("left out, the first was %.60q", name))
	}
}

// toolCalls reads calls with their function inside or, as some write them, without.
func (m *message) toolCalls(v strictjson.Raw) error {
	if v.IsNull() {
		return nil
	}
	return v.Array(m.functionCall)
}

// functionCall reads one call.
func (m *message) functionCall(v strictjson.Raw) error {
	if v.IsNull() {
		return nil
	}
	var call turn.ToolCall
	var set func(name string, v strictjson.Raw) error
	set = func(name string, v strictjson.Raw) error {
		switch name {
		case "id":
			m.keep(&call.ID, name, v)
		case "name":
			m.keep(&call.Name, name, v)
		case "arguments", "input":
			m.given(&call, name, v)
		case "custom", "function":
			if v.IsNull() {
				return nil
			}
			if name == "custom" {
				m.report.lose("custom tool calls", m.place, "kept as calls whose arguments are what was given as text")
			}
			return v.Object(set)
		case "type":
		default:
			m.other(m.place, name, v)
		}
		return nil
	}
	err := v.Object(set)
	if call.Arguments == "" {
		call.Arguments = "{}"
	}
	m.calls = append(m.calls, call)
	return err
}

// read makes turns of the message by its role.
func (m *message) read() error {
	role := strings.ToLower(m.role)
	if tool := role == "tool" || role == "function"; !tool {
		m.outOfPlace()
	}
	if m.agent() {
		m.named()
		return m.spoken()
	}
	if len(m.calls) > 0 {
		m.report.lose("calls of others than the assistant", m.place, "left out")
	}
	if m.thinking != "" {
		m.report.lose("thoughts of others than the assistant", m.place, "left out")
	}
	if m.refusal != "" {
		m.report.lose("refusals of others than the assistant", m.place, "left out")
	}
	switch {
	case role == "user" || role == "human":
		m.named()
		return m.parts(turn.User)
	case role == "system" || role == "developer":
		m.named()
		return m.parts(turn.System)
	case role == "tool" || role == "function":
		return m.toolResult(outcome{id: m.callID, name: m.name, status: status(m.failed)}, m.content)
	}
	m.report.lose("roles that nobody knows", m.place, fmt.Sprintf("kept as texts of the system, the first was %.60q", m.role))
	if err := m.parts(turn.System); err != nil {
		return err
	}
	for i := range m.turns {
		if t, ok := m.turns[i].content.(turn.Text); ok {
			m.turns[i].content = turn.Text{Text: "[" + m.role + "] " + t.Text}
		}
	}
	return nil
}

// outOfPlace reports what only a tool message can say.
func (m *message) outOfPlace() {
	if m.callID != "" {
		m.other(m.place, "tool_call_id", strictjson.Raw(quoted(m.callID)))
	}
	if m.failed {
		m.other(m.place, "is_error", "true")
	}
}

// agent reports whether the message is the agent's, by any of its names.
func (m *message) agent() bool {
	switch strings.ToLower(m.role) {
	case "assistant", "agent", "model", "ai":
		return true
	}
	return false
}

func status(failed bool) turn.CallStatus {
	if failed {
		return turn.CallError
	}
	return turn.CallOK
}

func (m *message) named() {
	if m.name != "" {
		m.report.lose("names of speakers", m.place, fmt.Sprintf("left out, the first was %.60q", m.name))
	}
}

// handOut gives the turns of the message to the sink, those of one message under one id.
func (m *message) handOut() error {
	if len(m.turns) == 0 {
		m.report.lose("messages without content", m.place, "left out")
		return nil
	}
	said := 0
	for _, f := range m.turns {
		if f.result == nil {
			said++
		}
	}
	switch {
	case m.id == "" && said > 1:
		m.id = fmt.Sprintf("message-%d", m.place.number)
	case m.id != "" && said == 0:
		m.other(m.place, "id", strictjson.Raw(quoted(m.id)))
	}
	if m.agent() {
		if err := m.cancelOpen(m.place); err != nil {
			return err
		}
	}
	for _, f := range m.turns {
		var err error
		if f.result != nil {
			err = m.result(m.place, *f.result, m.at)
		} else {
			err = m.say(m.place, turn.Draft{Role: f.role, Content: f.content, MessageID: m.id}, m.at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
