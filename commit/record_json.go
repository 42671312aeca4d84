package commit

import (
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/trace"
)

// What follows writes what the tables of fields would, member by member: see [record.AppendName].

// append appends what outboxedFields would, with the trace in the place of the text of one.
func (o *outboxed) append(dst []byte, begun *trace.TurnTrace) []byte {
	dst = append(dst, '{')
	dst = record.AppendInts(dst, "input", o.input)
	dst = record.AppendInts(dst, "reply", o.reply)
	dst = record.AppendTexts(dst, "items", o.items)
	dst = record.AppendTexts(dst, "inline", o.inline)
	dst = record.AppendTexts(dst, "sums", o.sums)
	dst = record.AppendTrue(dst, "flawed", o.flawed)
	dst = o.export.appendSparse(record.AppendName(dst, "export"))
	dst = begun.AppendJSON(record.AppendName(dst, "trace"))
	return append(dst, '}')
}

// appendSparse is that of exportFields.
func (w *wireExport) appendSparse(dst []byte) []byte {
	dst = append(dst, '{')
	dst = record.AppendInt(dst, "schema_version", w.Version)
	dst = record.AppendText(dst, "export_id", w.ExportID)
	dst = record.AppendText(dst, "turn_id", w.TurnID)
	dst = record.AppendText(dst, "agent_id", w.AgentID)
	dst = record.AppendTime(dst, "timestamp", w.Timestamp)
	dst = record.AppendText(dst, "tenant", w.Tenant)
	dst = record.AppendText(dst, "session_id", w.Session)
	dst = record.AppendText(dst, "user_id", w.User)
	dst = record.AppendTexts(dst, "turn_ids", w.TurnIDs)
	dst = record.AppendText(dst, "status", w.Status)
	dst = w.Turn.appendSparse(dst)
	for i := range w.Episodes {
		dst = w.Episodes[i].AppendJSON(record.AppendElement(dst, "episodic_exports", i))
	}
	dst = record.EndList(dst, len(w.Episodes))
	dst = w.Cortex.appendSparse(dst)
	dst = w.Scratch.appendSparse(dst)
	dst = w.Conversation.appendSparse(dst)
	dst = w.Evaluation.appendSparse(dst)
	dst = w.Metadata.appendSparse(dst)
	for i := range w.Dropped {
		dst = droppedFields.Append(record.AppendElement(dst, "dropped", i), &w.Dropped[i])
	}
	dst = record.EndList(dst, len(w.Dropped))
	dst = record.AppendInt(dst, "dropped_more", w.DroppedMore)
	dst = record.AppendTexts(dst, "missing", w.Missing)
	return append(dst, '}')
}

func (t *TurnSummary) appendSparse(dst []byte) []byte {
	if *t == (TurnSummary{}) {
		return dst
	}
	dst = append(record.AppendName(dst, "turn_summary"), '{')
	if t.Duration != 0 {
		dst = millis.Append(record.AppendName(dst, "duration_ms"), t.Duration)
	}
	dst = record.AppendText(dst, "user_input", t.UserInput)
	dst = record.AppendText(dst, "assistant_response", t.AssistantResponse)
	dst = record.AppendText(dst, "urgency", t.Urgency)
	dst = record.AppendTrue(dst, "success", t.Success)
	return append(dst, '}')
}

func (c *CortexUpdate) appendSparse(dst []byte) []byte {
	if len(c.CompletedGoals)+len(c.UpdatedGoals)+len(c.CompletedActions)+len(c.UpdatedActions) == 0 {
		return dst
	}
	dst = append(record.AppendName(dst, "fc_updates"), '{')
	dst = record.AppendTexts(dst, "completed_goals", c.CompletedGoals)
	dst = appendUpdates(dst, "updated_goals", c.UpdatedGoals)
	dst = record.AppendTexts(dst, "completed_actions", c.CompletedActions)
	dst = appendUpdates(dst, "updated_actions", c.UpdatedActions)
	return append(dst, '}')
}

func (s *ScratchUpdate) appendSparse(dst []byte) []byte {
	if len(s.Archived)+len(s.Updated)+len(s.Cleared) == 0 {
		return dst
	}
	dst = append(record.AppendName(dst, "scratch_page_updates"), '{')
	dst = record.AppendTexts(dst, "archived_observations", s.Archived)
	dst = appendUpdates(dst, "updated_observations", s.Updated)
	dst = record.AppendTexts(dst, "cleared_observations", s.Cleared)
	return append(dst, '}')
}

func (c *ConversationUpdate) appendSparse(dst []byte) []byte {
	if *c == (ConversationUpdate{}) {
		return dst
	}
	dst = append(record.AppendName(dst, "conversation_update"), '{')
	dst = record.AppendText(dst, "user_input", c.UserInput)
	dst = record.AppendText(dst, "assistant_response", c.AssistantResponse)
	dst = record.AppendText(dst, "turn_summary", c.TurnSummary)
	return append(dst, '}')
}

func (e *Evaluation) appendSparse(dst []byte) []byte {
	if len(e.Issues)+len(e.Lessons)+len(e.Patterns) == 0 && !e.FollowUpNeeded {
		return dst
	}
	dst = append(record.AppendName(dst, "evaluation"), '{')
	for i := range e.Issues {
		dst = issueFields.Append(record.AppendElement(dst, "issues", i), &e.Issues[i])
	}
	dst = record.EndList(dst, len(e.Issues))
	dst = record.AppendTrue(dst, "follow_up_needed", e.FollowUpNeeded)
	dst = record.AppendTexts(dst, "lessons", e.Lessons)
	dst = record.AppendTexts(dst, "patterns", e.Patterns)
	return append(dst, '}')
}

func (m *Metadata) appendSparse(dst []byte) []byte {
	if len(m.DaemonsActivated)+len(m.ToolsExecuted)+len(m.Errors)+len(m.Warnings) == 0 && m.BudgetUsed == 0 && m.BudgetTotal == 0 {
		return dst
	}
	dst = append(record.AppendName(dst, "metadata"), '{')
	dst = record.AppendTexts(dst, "daemons_activated", m.DaemonsActivated)
	dst = record.AppendTexts(dst, "tools_executed", m.ToolsExecuted)
	dst = record.AppendTexts(dst, "errors", m.Errors)
	dst = record.AppendTexts(dst, "warnings", m.Warnings)
	dst = record.AppendInt(dst, "budget_used", m.BudgetUsed)
	dst = record.AppendInt(dst, "budget_total", m.BudgetTotal)
	return append(dst, '}')
}

// appendUpdates leaves out what is empty.
func appendUpdates(dst []byte, name string, list []Update) []byte {
	if len(list) == 0 {
		return dst
	}
	return updatesCodec.Append(record.AppendName(dst, name), list)
}
