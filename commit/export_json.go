package commit

import (
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/memory"
)

// wireExport is a StateExport as it is written: with its version, and the seed's names.
type wireExport struct {
	Version int64
	StateExport
}

// AppendJSON appends the export as one JSON object on one line.
func (e *StateExport) AppendJSON(dst []byte) []byte {
	return exportFields.Append(dst, &wireExport{Version: SchemaVersion, StateExport: *e})
}

// DecodeExport reads what [StateExport.AppendJSON] wrote. A version that this program does not know is
// refused with a *[VersionError]. A message that came through NATS may be a stub in place of an export that is too large for it,
// see package bus/natsbus; it has no version, and is refused for that.
func DecodeExport(data string) (StateExport, error) {
	if err := checkVersion(data); err != nil {
		return StateExport{}, err
	}
	w, err := exportFields.Decode(data)
	return w.StateExport, err
}

// checkVersion is asked first, so that a newer export is not called wrong for what it added.
func checkVersion(data string) error {
	version := int64(0)
	err := strictjson.Object(data, func(name string, v strictjson.Raw) (err error) {
		if name == "schema_version" {
			version, err = v.Int()
		}
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("state export: %w", err)
	case version == 0:
		return invalid.New("schema_version", "is missing", "give the version of the export's schema")
	case version != SchemaVersion:
		return &VersionError{version}
	}
	return nil
}

var (
	word = record.Text[string]()

	exportFields = record.Fields[wireExport]{
		record.Value("schema_version", func(w *wireExport) *int64 { return &w.Version }, record.Int()),
		record.Value("export_id", func(w *wireExport) *string { return &w.ExportID }, word),
		record.Value("turn_id", func(w *wireExport) *string { return &w.TurnID }, word),
		record.Value("agent_id", func(w *wireExport) *string { return &w.AgentID }, word),
		record.Value("timestamp", func(w *wireExport) *time.Time { return &w.Timestamp }, record.Time()),
		record.Value("tenant", func(w *wireExport) *string { return &w.Tenant }, word),
		record.Value("session_id", func(w *wireExport) *string { return &w.Session }, word),
		record.Value("user_id", func(w *wireExport) *string { return &w.User }, word),
		texts("turn_ids", func(w *wireExport) *[]string { return &w.TurnIDs }),
		record.Value("status", func(w *wireExport) *State { return &w.Status }, record.Text[State]()),
		inside("turn_summary", func(w *wireExport) *TurnSummary { return &w.Turn }, turnFields),
		record.List("episodic_exports", func(w *wireExport) *[]memory.Episode { return &w.Episodes }, episodeCodec).Always(),
		inside("fc_updates", func(w *wireExport) *CortexUpdate { return &w.Cortex }, cortexFields),
		inside("scratch_page_updates", func(w *wireExport) *ScratchUpdate { return &w.Scratch }, scratchFields),
		inside("conversation_update", func(w *wireExport) *ConversationUpdate { return &w.Conversation }, conversationFields),
		inside("evaluation", func(w *wireExport) *Evaluation { return &w.Evaluation }, evaluationFields),
		inside("metadata", func(w *wireExport) *Metadata { return &w.Metadata }, metadataFields),
		record.List("dropped", func(w *wireExport) *[]memory.Dropped { return &w.Dropped }, record.Of(droppedFields)).Always(),
		record.Value("dropped_more", func(w *wireExport) *int64 { return &w.DroppedMore }, record.Int()),
		record.List("missing", func(w *wireExport) *[]string { return &w.Missing }, word),
	}

	turnFields = record.Fields[TurnSummary]{
		record.Value("duration_ms", func(t *TurnSummary) *time.Duration { return &t.Duration }, millis).Always(),
		text("user_input", func(t *TurnSummary) *string { return &t.UserInput }),
		text("assistant_response", func(t *TurnSummary) *string { return &t.AssistantResponse }),
		record.Value("urgency", func(t *TurnSummary) *Urgency { return &t.Urgency }, record.Text[Urgency]()),
		record.Value("success", func(t *TurnSummary) *bool { return &t.Success }, record.Bool()).Always(),
	}

	cortexFields = record.Fields[CortexUpdate]{
		texts("completed_goals", func(c *CortexUpdate) *[]string { return &c.CompletedGoals }),
		updates("updated_goals", func(c *CortexUpdate) *[]Update { return &c.UpdatedGoals }),
		texts("completed_actions", func(c *CortexUpdate) *[]string { return &c.CompletedActions }),
		updates("updated_actions", func(c *CortexUpdate) *[]Update { return &c.UpdatedActions }),
	}

	scratchFields = record.Fields[ScratchUpdate]{
		texts("archived_observations", func(s *ScratchUpdate) *[]string { return &s.Archived }),
		updates("updated_observations", func(s *ScratchUpdate) *[]Update { return &s.Updated }),
		texts("cleared_observations", func(s *ScratchUpdate) *[]string { return &s.Cleared }),
	}

	conversationFields = record.Fields[ConversationUpdate]{
		text("user_input", func(c *ConversationUpdate) *string { return &c.UserInput }),
		text("assistant_response", func(c *ConversationUpdate) *string { return &c.AssistantResponse }),
		text("turn_summary", func(c *ConversationUpdate) *string { return &c.TurnSummary }),
	}

	issueFields = record.Fields[Issue]{
		record.Value("kind", func(i *Issue) *IssueKind { return &i.Kind }, record.Text[IssueKind]()),
		record.Value("text", func(i *Issue) *string { return &i.Text }, word),
	}

	evaluationFields = record.Fields[Evaluation]{
		record.List("issues", func(e *Evaluation) *[]Issue { return &e.Issues }, record.Of(issueFields)).Always(),
		record.Value("follow_up_needed", func(e *Evaluation) *bool { return &e.FollowUpNeeded }, record.Bool()).Always(),
		texts("lessons", func(e *Evaluation) *[]string { return &e.Lessons }),
		texts("patterns", func(e *Evaluation) *[]string { return &e.Patterns }),
	}

	metadataFields = record.Fields[Metadata]{
		texts("daemons_activated", func(m *Metadata) *[]string { return &m.DaemonsActivated }),
		texts("tools_executed", func(m *Metadata) *[]string { return &m.ToolsExecuted }),
		texts("errors", func(m *Metadata) *[]string { return &m.Errors }),
		texts("warnings", func(m *Metadata) *[]string { return &m.Warnings }),
		record.Value("budget_used", func(m *Metadata) *int64 { return &m.BudgetUsed }, record.Int()).Always(),
		record.Value("budget_total", func(m *Metadata) *int64 { return &m.BudgetTotal }, record.Int()).Always(),
	}

	droppedFields = record.Fields[memory.Dropped]{
		record.Value("candidate", func(d *memory.Dropped) *int { return &d.Index }, whole).Always(),
		record.Value("type", func(d *memory.Dropped) *memory.Type { return &d.Type }, record.Text[memory.Type]()),
		record.Value("reason", func(d *memory.Dropped) *memory.Reason { return &d.Reason }, record.Text[memory.Reason]()),
		record.Value("importance", func(d *memory.Dropped) *float64 { return &d.Importance }, record.Float()).Always(),
	}
)

// The fields of the seed are there even where they are empty.

func text[T any](name string, at func(*T) *string) record.Field[T] {
	return record.Value(name, at, word).Always()
}

func texts[T any](name string, at func(*T) *[]string) record.Field[T] {
	return record.List(name, at, word).Always()
}

func inside[T, E any](name string, at func(*T) *E, fields record.Fields[E]) record.Field[T] {
	return record.Inside(name, at, record.Of(fields))
}

func updates[T any](name string, at func(*T) *[]Update) record.Field[T] {
	return record.Inside(name, at, updatesCodec)
}

// updatesCodec writes updates as an object with a member for each, by id.
var updatesCodec = record.Codec[[]Update]{
	Append: func(dst []byte, list []Update) []byte {
		dst = append(dst, '{')
		for i, u := range list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strictjson.AppendString(dst, u.ID)
			dst = append(append(dst, ':'), u.Change...)
		}
		return append(dst, '}')
	},
	Decode: func(v strictjson.Raw) (list []Update, err error) {
		err = v.Object(func(id string, change strictjson.Raw) error {
			list = append(list, Update{ID: id, Change: string(change)})
			return nil
		})
		return list, err
	},
}

var episodeCodec = record.Codec[memory.Episode]{
	Append: func(dst []byte, e memory.Episode) []byte { return e.AppendJSON(dst) },
	Decode: func(v strictjson.Raw) (memory.Episode, error) { return memory.DecodeEpisode(string(v)) },
}

var millis = record.Codec[time.Duration]{
	Append: func(dst []byte, d time.Duration) []byte { return record.Int().Append(dst, d.Milliseconds()) },
	Decode: func(v strictjson.Raw) (time.Duration, error) {
		n, err := v.Int()
		return time.Duration(n) * time.Millisecond, err
	},
}

var whole = record.Codec[int]{
	Append: func(dst []byte, n int) []byte { return record.Int().Append(dst, int64(n)) },
	Decode: func(v strictjson.Raw) (int, error) {
		n, err := v.Int()
		return int(n), err
	},
}
