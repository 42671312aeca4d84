package commit

import (
	"strconv"
	"time"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/trace"
)

// What follows writes what the tables of fields would, member by member: every commit writes it once, and between two of them the
// tables, with their functions for each field, have long left the processor's caches.

// append appends what outboxedFields would, with the trace in the place of the text of one.
func (o *outboxed) append(dst []byte, begun *trace.TurnTrace) []byte {
	dst = append(dst, '{')
	dst = appendSeqs(dst, "input", o.input)
	dst = appendSeqs(dst, "reply", o.reply)
	dst = appendTexts(dst, "items", o.items)
	dst = appendTexts(dst, "inline", o.inline)
	dst = appendTrue(dst, "flawed", o.flawed)
	dst = o.export.appendSparse(appendName(dst, "export"))
	dst = begun.AppendJSON(appendName(dst, "trace"))
	return append(dst, '}')
}

// appendSparse is that of exportFields.
func (w *wireExport) appendSparse(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendInt(dst, "schema_version", w.Version)
	dst = appendText(dst, "export_id", w.ExportID)
	dst = appendText(dst, "turn_id", w.TurnID)
	dst = appendText(dst, "agent_id", w.AgentID)
	if w.Timestamp != (time.Time{}) {
		dst = record.Time().Append(appendName(dst, "timestamp"), w.Timestamp)
	}
	dst = appendText(dst, "tenant", w.Tenant)
	dst = appendText(dst, "session_id", w.Session)
	dst = appendText(dst, "user_id", w.User)
	dst = appendTexts(dst, "turn_ids", w.TurnIDs)
	dst = appendText(dst, "status", string(w.Status))
	dst = w.Turn.appendSparse(dst)
	for i := range w.Episodes {
		dst = w.Episodes[i].AppendJSON(appendElement(dst, "episodic_exports", i))
	}
	dst = endList(dst, len(w.Episodes))
	dst = w.Cortex.appendSparse(dst)
	dst = w.Scratch.appendSparse(dst)
	dst = w.Conversation.appendSparse(dst)
	dst = w.Evaluation.appendSparse(dst)
	dst = w.Metadata.appendSparse(dst)
	for i := range w.Dropped {
		dst = droppedFields.Append(appendElement(dst, "dropped", i), &w.Dropped[i])
	}
	dst = endList(dst, len(w.Dropped))
	dst = appendInt(dst, "dropped_more", w.DroppedMore)
	dst = appendTexts(dst, "missing", w.Missing)
	return append(dst, '}')
}

func (t *TurnSummary) appendSparse(dst []byte) []byte {
	if *t == (TurnSummary{}) {
		return dst
	}
	dst = append(appendName(dst, "turn_summary"), '{')
	if t.Duration != 0 {
		dst = millis.Append(appendName(dst, "duration_ms"), t.Duration)
	}
	dst = appendText(dst, "user_input", t.UserInput)
	dst = appendText(dst, "assistant_response", t.AssistantResponse)
	dst = appendText(dst, "urgency", string(t.Urgency))
	dst = appendTrue(dst, "success", t.Success)
	return append(dst, '}')
}

func (c *CortexUpdate) appendSparse(dst []byte) []byte {
	if len(c.CompletedGoals)+len(c.UpdatedGoals)+len(c.CompletedActions)+len(c.UpdatedActions) == 0 {
		return dst
	}
	dst = append(appendName(dst, "fc_updates"), '{')
	dst = appendTexts(dst, "completed_goals", c.CompletedGoals)
	dst = appendUpdates(dst, "updated_goals", c.UpdatedGoals)
	dst = appendTexts(dst, "completed_actions", c.CompletedActions)
	dst = appendUpdates(dst, "updated_actions", c.UpdatedActions)
	return append(dst, '}')
}

func (s *ScratchUpdate) appendSparse(dst []byte) []byte {
	if len(s.Archived)+len(s.Updated)+len(s.Cleared) == 0 {
		return dst
	}
	dst = append(appendName(dst, "scratch_page_updates"), '{')
	dst = appendTexts(dst, "archived_observations", s.Archived)
	dst = appendUpdates(dst, "updated_observations", s.Updated)
	dst = appendTexts(dst, "cleared_observations", s.Cleared)
	return append(dst, '}')
}

func (c *ConversationUpdate) appendSparse(dst []byte) []byte {
	if *c == (ConversationUpdate{}) {
		return dst
	}
	dst = append(appendName(dst, "conversation_update"), '{')
	dst = appendText(dst, "user_input", c.UserInput)
	dst = appendText(dst, "assistant_response", c.AssistantResponse)
	dst = appendText(dst, "turn_summary", c.TurnSummary)
	return append(dst, '}')
}

func (e *Evaluation) appendSparse(dst []byte) []byte {
	if len(e.Issues)+len(e.Lessons)+len(e.Patterns) == 0 && !e.FollowUpNeeded {
		return dst
	}
	dst = append(appendName(dst, "evaluation"), '{')
	for i := range e.Issues {
		dst = issueFields.Append(appendElement(dst, "issues", i), &e.Issues[i])
	}
	dst = endList(dst, len(e.Issues))
	dst = appendTrue(dst, "follow_up_needed", e.FollowUpNeeded)
	dst = appendTexts(dst, "lessons", e.Lessons)
	dst = appendTexts(dst, "patterns", e.Patterns)
	return append(dst, '}')
}

func (m *Metadata) appendSparse(dst []byte) []byte {
	if len(m.DaemonsActivated)+len(m.ToolsExecuted)+len(m.Errors)+len(m.Warnings) == 0 && m.BudgetUsed == 0 && m.BudgetTotal == 0 {
		return dst
	}
	dst = append(appendName(dst, "metadata"), '{')
	dst = appendTexts(dst, "daemons_activated", m.DaemonsActivated)
	dst = appendTexts(dst, "tools_executed", m.ToolsExecuted)
	dst = appendTexts(dst, "errors", m.Errors)
	dst = appendTexts(dst, "warnings", m.Warnings)
	dst = appendInt(dst, "budget_used", m.BudgetUsed)
	dst = appendInt(dst, "budget_total", m.BudgetTotal)
	return append(dst, '}')
}

// Each of the following leaves out what is empty.

// appendName appends what comes before the value of a member. No value ends as an object begins.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), name...), '"', ':')
}

func appendText(dst []byte, name, s string) []byte {
	if s == "" {
		return dst
	}
	return strictjson.AppendString(appendName(dst, name), s)
}

func appendInt(dst []byte, name string, n int64) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(appendName(dst, name), n, 10)
}

func appendTrue(dst []byte, name string, yes bool) []byte {
	if !yes {
		return dst
	}
	return append(appendName(dst, name), "true"...)
}

func appendTexts(dst []byte, name string, list []string) []byte {
	for i, s := range list {
		dst = strictjson.AppendString(appendElement(dst, name, i), s)
	}
	return endList(dst, len(list))
}

func appendSeqs(dst []byte, name string, list []int64) []byte {
	for i, seq := range list {
		dst = strconv.AppendInt(appendElement(dst, name, i), seq, 10)
	}
	return endList(dst, len(list))
}

func appendUpdates(dst []byte, name string, list []Update) []byte {
	if len(list) == 0 {
		return dst
	}
	return updatesCodec.Append(appendName(dst, name), list)
}

// appendElement appends what comes before element i of the list that is a member of that name.
func appendElement(dst []byte, name string, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return append(appendName(dst, name), '[')
}

// endList ends a list of so many elements.
func endList(dst []byte, n int) []byte {
	if n == 0 {
		return dst
	}
	return append(dst, ']')
}
