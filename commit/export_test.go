package commit_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/memory"
)

var update = flag.Bool("update", false, "write the golden file of the current schema version")

// sample has something in every field.
func sample() commit.StateExport {
	at := time.Date(2026, 3, 1, 12, 30, 0, 123456000, time.UTC)
	return commit.StateExport{
		ExportID: "01M7G82R91370302DNK34HGVVB", TurnID: "01M7G82R91370302DNK34HGVVC", AgentID: "agent", Timestamp: at,
		Tenant: "default", Session: "talk", User: "ann", TurnIDs: []string{"01M7G82R91370302DNK34HGVVC", "01M7G82R91370302DNK34HGVVD"},
		Status: commit.CompleteWithErrors,
		Turn: commit.TurnSummary{
			Duration: 1500 * time.Millisecond, UserInput: "Ship it\n\"now\"", AssistantResponse: "Shipped — 🚢", Urgency: commit.High, Success: true,
		},
		Episodes: []memory.Episode{{
			ID: "01M7G82R91370302DNK34HGVVE", Type: memory.ToolResult, Text: "deploy: ok", Data: `{"ok": true, "n": 1.50}`, Importance: 0.75,
			Tags: []string{"tool:deploy"}, Links: memory.Links{Turns: []string{"01M7G82R91370302DNK34HGVVC"}}, Created: at, Expires: at.AddDate(0, 0, 30),
			Provenance: memory.Provenance{
				ExportID: "01M7G82R91370302DNK34HGVVB", TurnID: "01M7G82R91370302DNK34HGVVC", Source: memory.FromTool,
				Inputs: memory.Inputs{Goals: 0.5, User: 0.25, Confidence: 0.9, Novelty: 1, Actionability: 0.15}, Notes: []string{"text: cut; it is in the log"},
			},
		}},
		Cortex: commit.CortexUpdate{
			CompletedGoals:   []string{"ship"},
			UpdatedGoals:     []commit.Update{{ID: "ship", Change: `{"version":2,"title":"Ship it","status":"completed","changes":[]}`}},
			CompletedActions: []string{"tag"},
			UpdatedActions:   []commit.Update{{ID: "tag", Change: `{"version":3,"title":"Tag it","status":"done","changes":[]}`}},
		},
		Scratch: commit.ScratchUpdate{
			Archived: []string{"o1"}, Updated: []commit.Update{{ID: "o2", Change: `{"id":"o2","type":"alert","content":"disk is nearly full"}`}}, Cleared: []string{"o3"},
		},
		Conversation: commit.ConversationUpdate{UserInput: "Ship it\n\"now\"", AssistantResponse: "Shipped — 🚢", TurnSummary: "User: Ship it Agent: Shipped"},
		Evaluation: commit.Evaluation{
			Issues: []commit.Issue{{Kind: commit.ToolFailed, Text: "ls: no such directory"}}, FollowUpNeeded: true,
			Lessons: []string{"Look first."}, Patterns: []string{"ls fails"},
		},
		Metadata: commit.Metadata{
			DaemonsActivated: []string{"watcher"}, ToolsExecuted: []string{"deploy"}, Errors: []string{"slow"}, Warnings: []string{"late"},
			BudgetUsed: 10, BudgetTotal: 100,
		},
		Dropped:     []memory.Dropped{{Index: 3, Type: memory.Event, Reason: memory.Unimportant, Importance: 0.1}},
		DroppedMore: 2,
		Missing:     []string{"turn 7"},
	}
}

// TestEveryVersionOfAnExportIsReadable: golden files are kept for ever.
func TestEveryVersionOfAnExportIsReadable(t *testing.T) {
	current := filepath.Join("testdata", "state-export-1.json")
	export := sample()
	line := export.AppendJSON(nil)
	if *update {
		if err := os.WriteFile(current, append(line, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(current)
	if err != nil {
		t.Fatal(err)
	}
	got, err := commit.DecodeExport(string(golden))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(export, got); diff != "" {
		t.Errorf("the golden file reads otherwise (-want +got):\n%s", diff)
	}
	if written := string(export.AppendJSON(nil)) + "\n"; written != string(golden) {
		t.Errorf("it is written otherwise:\n%s\n%s", written, golden)
	}
}

func TestEmptyExportHasTheSeedsFields(t *testing.T) {
	var export commit.StateExport
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(export.AppendJSON(nil), &fields); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"episodic_exports":     `[]`,
		"fc_updates":           `{"completed_goals":[],"updated_goals":{},"completed_actions":[],"updated_actions":{}}`,
		"scratch_page_updates": `{"archived_observations":[],"updated_observations":{},"cleared_observations":[]}`,
		"conversation_update":  `{"user_input":"","assistant_response":"","turn_summary":""}`,
		"metadata":             `{"daemons_activated":[],"tools_executed":[],"errors":[],"warnings":[],"budget_used":0,"budget_total":0}`,
	} {
		if string(fields[name]) != want {
			t.Errorf("%s is %s", name, fields[name])
		}
	}
}

func TestAnExportOfAnotherVersionIsRefused(t *testing.T) {
	for data, want := range map[string]string{
		`{"schema_version":2,"brand_new":true}`: "schema_version: 2 is not known, this program reads 1; use a newer turnstone",
		`{"export_id":"x"}`:                     "schema_version: is missing; give the version of the export's schema",
	} {
		_, err := commit.DecodeExport(data)
		var field *invalid.Field
		if !errors.As(err, &field) || err.Error() != want {
			t.Errorf("%s: %v", data, err)
		}
	}
	if _, err := commit.DecodeExport(`{"schema_version":1,"surprise":1}`); err == nil || !strings.Contains(err.Error(), "surprise") {
		t.Errorf("an unknown field: %v", err)
	}
}
