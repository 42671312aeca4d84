package front

import (
	"slices"

	"github.com/turnstone-dev/turnstone/llm"
)

// ordering finds out which calls results answer, message by message.
type ordering struct {
	open []llm.Call // that have no result yet
}

// next notes in a result how many calls it skips. It reports false for one that answers no call.
func (o *ordering) next(m *message) bool {
	m.skips = 0
	if m.role != llm.ToolResult {
		o.open = slices.Clone(m.calls)
		return true
	}
	at := m.answers(o.open)
	if at < 0 {
		return false
	}
	m.skips = at
	o.open = slices.Delete(o.open, at, at+1)
	return true
}

// answers is which of the calls a result answers: the one that it names, by its id or by the tool, or the next one. It is -1
// for an answer to nothing.
func (m *message) answers(open []llm.Call) int {
	at := slices.IndexFunc(open, func(c llm.Call) bool {
		return m.callID != "" && c.ID == m.callID || m.callID == "" && m.name != "" && c.Name == m.name
	})
	if at < 0 && len(open) > 0 && (m.callID == "" || open[0].ID == "") {
		return 0
	}
	return at
}
