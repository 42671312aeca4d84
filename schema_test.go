package turnstone_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// schema is as much of JSON Schema as the StateExport's uses.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       string             `json:"type"`
	Const      any                `json:"const"`
	Enum       []any              `json:"enum"`
	Pattern    string             `json:"pattern"`
	Minimum    *float64           `json:"minimum"`
	Maximum    *float64           `json:"maximum"`
	Required   []string           `json:"required"`
	Properties map[string]*schema `json:"properties"`
	Additional json.RawMessage    `json:"additionalProperties"`
	Items      *schema            `json:"items"`
	Defs       map[string]*schema `json:"$defs"`
}

func stateExportSchema(t *testing.T) *schema {
	t.Helper()
	var s schema
	if err := json.Unmarshal([]byte(turnstone.StateExportSchema()), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// check returns what of a value the schema does not allow, and notes which properties it met.
func (s *schema) check(root *schema, at string, v any, met map[*schema]bool) (wrong []string) {
	met[s] = true
	if s.Ref != "" {
		return root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")].check(root, at, v, met)
	}
	refuse := func(format string, args ...any) { wrong = append(wrong, at+": "+fmt.Sprintf(format, args...)) }
	if s.Const != nil && v != s.Const {
		refuse("%v is not %v", v, s.Const)
	}
	if s.Enum != nil && !slices.Contains(s.Enum, v) {
		refuse("%v is none of %v", v, s.Enum)
	}
	switch v := v.(type) {
	case string:
		if s.Type != "" && s.Type != "string" || !regexp.MustCompile(s.Pattern).MatchString(v) {
			refuse("%q is no %s %s", v, s.Type, s.Pattern)
		}
	case bool:
		if s.Type != "" && s.Type != "boolean" {
			refuse("%v is no %s", v, s.Type)
		}
	case float64:
		if s.Type != "" && s.Type != "number" && (s.Type != "integer" || v != float64(int64(v))) ||
			s.Minimum != nil && v < *s.Minimum || s.Maximum != nil && v > *s.Maximum {
			refuse("%v is no %s", v, s.Type)
		}
	case []any:
		if s.Type != "" && s.Type != "array" {
			refuse("a list is no %s", s.Type)
		}
		for i, e := range v {
			if s.Items != nil {
				wrong = append(wrong, s.Items.check(root, fmt.Sprintf("%s[%d]", at, i), e, met)...)
			}
		}
	case map[string]any:
		wrong = append(wrong, s.checkObject(root, at, v, met)...)
	}
	return wrong
}

func (s *schema) checkObject(root *schema, at string, v map[string]any, met map[*schema]bool) (wrong []string) {
	if s.Type == "" {
		return nil
	}
	if s.Type != "object" {
		return []string{at + ": an object is no " + s.Type}
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			wrong = append(wrong, at+": lacks "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		place, value := at+"."+name, v[name]
		property, named := s.Properties[name]
		var others schema
		switch {
		case named:
			wrong = append(wrong, property.check(root, place, value, met)...)
		case string(s.Additional) == "false":
			wrong = append(wrong, place+": is not named")
		case json.Unmarshal(s.Additional, &others) == nil:
			wrong = append(wrong, others.check(root, place, value, met)...)
		}
	}
	return wrong
}

// properties visits every property that the schema names.
func (s *schema) properties(at string, visit func(at string, s *schema)) {
	for name, property := range s.Properties {
		visit(at+"."+name, property)
		property.properties(at+"."+name, visit)
	}
	if s.Items != nil {
		s.Items.properties(at+"[]", visit)
	}
	for name, def := range s.Defs {
		def.properties("#"+name, visit)
	}
}

// wholeExport has something in every field.
func wholeExport(t *testing.T) commit.StateExport {
	t.Helper()
	const id = "01JH5T8Q3VXK6Z0M4N7P9R2S1W"
	at := time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)
	inputs := memory.Inputs{Goals: 1, User: 0.5, Confidence: 0.25, Novelty: 0, Actionability: 1}
	note := scratch.Observation{
		ID: "n1", Type: "idea", Content: "Nero has a garden", Source: "web", Owner: "agent", Status: scratch.Active,
		Confidence: 0.5, ContextRefs: []string{"turn:1"}, Tags: []string{"place"}, ExpiresAt: at, CreatedAt: at, UpdatedAt: at,
	}
	intention, err := json.Marshal(cortex.Update{Version: 2, Title: "Plan Friday", Status: "completed", Changes: []cortex.Audit{{
		By: cortex.ActorUser, TurnID: id, Why: "as agreed", What: []cortex.Step{{Field: "status", From: "active", To: "completed"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	updates := func(id string, change []byte) []commit.Update {
		return []commit.Update{{ID: id, Change: string(change)}}
	}
	return commit.StateExport{
		ExportID: id, TurnID: id, AgentID: "agent", Timestamp: at, Tenant: "default", Session: "demo", User: "alice",
		TurnIDs: []string{id}, Status: commit.CompleteWithErrors,
		Turn: commit.TurnSummary{Duration: 12 * time.Millisecond, UserInput: "Book it", AssistantResponse: "Done", Urgency: commit.High, Success: true},
		Episodes: []memory.Episode{
			{
				ID: id, Type: memory.UserData, Text: "Likes window seats", Data: `{"seat":"window"}`, Importance: 0.5, Tags: []string{"travel"},
				Links: memory.Links{Turns: []string{id}, Items: []string{id}}, Created: at, Expires: at.Add(time.Hour),
				Provenance: memory.Provenance{ExportID: id, TurnID: id, Source: memory.FromUser, Inputs: inputs, Notes: []string{"text was cut"}},
			},
			{ID: id, Type: memory.Event, Data: "[1,\n2]", Created: at, Provenance: memory.Provenance{Inputs: inputs}},
		},
		Cortex: commit.CortexUpdate{
			CompletedGoals: []string{"g1"}, UpdatedGoals: updates("g1", intention),
			CompletedActions: []string{"a1"}, UpdatedActions: updates("a1", intention),
		},
		Scratch:      commit.ScratchUpdate{Archived: []string{"n2"}, Updated: updates("n1", note.AppendJSON(nil)), Cleared: []string{"n3"}},
		Conversation: commit.ConversationUpdate{UserInput: "Book it", AssistantResponse: "Done", TurnSummary: "User: Book it Agent: Done"},
		Evaluation: commit.Evaluation{
			Issues: []commit.Issue{{Kind: commit.ToolFailed, Text: "booking failed"}}, FollowUpNeeded: true,
			Lessons: []string{"ask first"}, Patterns: []string{"Fridays"},
		},
		Metadata: commit.Metadata{
			DaemonsActivated: []string{"indexer"}, ToolsExecuted: []string{"book"}, Errors: []string{"no"}, Warnings: []string{"slow"},
			BudgetUsed: 1, BudgetTotal: 2,
		},
		Dropped:     []memory.Dropped{{Index: 3, Type: memory.Observation, Reason: memory.Unimportant, Importance: 0.1}},
		DroppedMore: 7,
		Missing:     []string{"item " + id},
	}
}

// TestStateExportsAreAsTheSchemaSays holds exports that were written once, and are kept for ever,
// against the schema, and the schema against them.
func TestStateExportsAreAsTheSchemaSays(t *testing.T) {
	root := stateExportSchema(t)
	files, err := filepath.Glob("testdata/state-export/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("golden exports: %v, %v", files, err)
	}
	met := map[*schema]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range checkExport(t, root, data, met) {
			t.Errorf("%s: %s", file, wrong)
		}
		export, err := commit.DecodeExport(strings.TrimSpace(string(data)))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if again := string(export.AppendJSON(nil)) + "\n"; again != string(data) {
			t.Errorf("%s: reads as %s", file, again)
		}
	}
	root.properties("", func(at string, s *schema) {
		if !met[s] {
			t.Errorf("%s: the schema names it, no golden export has it", at)
		}
	})
}

// TestExportsAreWrittenAsTheSchemaSays does so with what this program writes.
func TestExportsAreWrittenAsTheSchemaSays(t *testing.T) {
	root := stateExportSchema(t)
	whole := wholeExport(t)
	golden, err := os.ReadFile("testdata/state-export/v1-whole.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(whole.AppendJSON(nil)) + "\n"; got != string(golden) {
		t.Errorf("got  %s\nwant %s", got, golden)
	}
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	title := "Plan Friday"
	result, err := session(t, eng, "demo").Commit(t.Context(), commit.Exchange{
		Turns:      []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "We decided to go on Friday. Book it."}}},
		Candidates: []memory.Candidate{{Type: memory.UserData, Text: "Likes window seats"}, {Type: memory.Observation, Text: "It rains"}},
		Intentions: cortex.Changes{Goals: []cortex.GoalChange{{Title: &title}}},
		Scratch:    scratch.Changes{Put: []scratch.Change{{Type: &title, Content: &title}}},
		Errors:     []string{"no line"},
	})
	if err != nil {
		t.Fatal(err)
	}
	export, err := eng.Export(t.Context(), result.ExportID)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range checkExport(t, root, export.AppendJSON(nil), map[*schema]bool{}) {
		t.Error(wrong)
	}
}

func checkExport(t *testing.T, root *schema, data []byte, met map[*schema]bool) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return root.check(root, "export", v, met)
}

// TestSchemaRefuses shows that the check above sees what is wrong.
func TestSchemaRefuses(t *testing.T) {
	root := stateExportSchema(t)
	whole := wholeExport(t)
	text := string(whole.AppendJSON(nil))
	for _, test := range []struct{ old, new, want string }{
		{`"schema_version":1`, `"schema_version":2`, "export.schema_version: 2 is not 1"},
		{`"agent_id":"agent",`, ``, "export: lacks agent_id"},
		{`"agent_id":"agent"`, `"agent_id":"agent","extra":1`, "export.extra: is not named"},
		{`"urgency":"HIGH"`, `"urgency":"high"`, "export.turn_summary.urgency: high is none of [HIGH MEDIUM LOW]"},
		{`"success":true`, `"success":"yes"`, `export.turn_summary.success: "yes" is no boolean `},
		{`"importance":0.5`, `"importance":1.5`, "export.episodic_exports[0].importance: 1.5 is no number"},
		{`"version":2,"title":"Plan Friday",`, `"version":2,`, "export.fc_updates.updated_goals.g1: lacks title"},
		{`"content":"Nero has a garden"`, `"content":7`, "export.scratch_page_updates.updated_observations.n1.content: 7 is no string"},
		{`"lessons":["ask first"]`, `"lessons":{}`, "export.evaluation.lessons: an object is no array"},
	} {
		changed := strings.Replace(text, test.old, test.new, 1)
		if changed == text {
			t.Fatalf("%s is not in the export", test.old)
		}
		if wrong := checkExport(t, root, []byte(changed), map[*schema]bool{}); !slices.Equal(wrong, []string{test.want}) {
			t.Errorf("%s: got %q, want %q", test.new, wrong, test.want)
		}
	}
}
