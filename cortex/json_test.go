package cortex_test

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cortex"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var fullGoal = cortex.Goal{
	ID: "g1", Title: "Implement \"auth\"", Description: "line\nline", Priority: cortex.PriorityHigh, Status: cortex.GoalCompleted, Progress: 0.5, Parent: "g0",
	Milestones: []cortex.Milestone{{Description: "Design", Status: cortex.MilestoneCompleted}, {Description: "Build", Status: cortex.MilestoneInProgress}},
	Decisions:  []cortex.Decision{{Description: "Use JWT", Rationale: "stateless", Locked: true}, {Description: "Use bcrypt"}},
	Artifacts:  []cortex.Artifact{{Path: "src/auth/login.ts", Type: "file", Action: cortex.ArtifactCreated}},
	NextSteps:  []string{"Übergabe", "rest"},
	CreatedAt:  start, UpdatedAt: start.Add(1500 * time.Microsecond), CompletedAt: start.Add(time.Hour), Version: 7,
}

var fullAction = cortex.PendingAction{
	ID: "a1", Type: cortex.ApprovalRequest, Owner: cortex.OwnerUser, Title: "Sign off", Status: cortex.ActionAwaitingConfirmation,
	DueAt: start.Add(time.Hour), GoalID: "g1", Blocking: true, RequiresConfirmation: true, Evidence: []string{"turn 7"},
	CreatedAt: start, UpdatedAt: start.Add(time.Second), StatusAt: start.Add(time.Minute), Version: 3,
}

var fullChanges = cortex.Changes{
	Goals: []cortex.GoalChange{{
		ID: "g1", Version: 7, By: cortex.ActorUser, TurnID: "t1", Why: "asked", Title: ptr("x"), Description: ptr(""), Priority: ptr(cortex.PriorityLow),
		Status: ptr(cortex.GoalPaused), Progress: ptr(0.0), Parent: ptr(""), AddMilestones: []cortex.Milestone{{Description: "m"}},
		SetMilestones: []cortex.Milestone{{Description: "m", Status: cortex.MilestoneCompleted}}, AddDecisions: []cortex.Decision{{Description: "d"}},
		SetDecisions:    []cortex.DecisionChange{{Description: "d", Rename: ptr("e"), Rationale: ptr("r"), Locked: ptr(false)}},
		RemoveDecisions: []string{"f"}, Lock: []string{"e"}, AddArtifacts: []cortex.Artifact{{Path: "p", Action: cortex.ArtifactDeleted}}, NextSteps: ptr([]string(nil)),
	}, {}},
	Actions: []cortex.ActionChange{{
		ID: "a1", Version: 3, By: cortex.ActorSystem, TurnID: "t1", Why: "late", Type: ptr(cortex.Reminder), Owner: ptr(cortex.OwnerAgent), Title: ptr("y"),
		Status: ptr(cortex.ActionSent), DueAt: ptr(time.Time{}), GoalID: ptr("g1"), Blocking: ptr(false), RequiresConfirmation: ptr(true), AddEvidence: []string{"e"},
	}},
}

// golden compares with a file that is kept for ever: what was written once must stay readable.
func golden(t *testing.T, name string, text []byte) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSuffix(string(want), "\n"), string(text)); diff != "" {
		t.Error(diff)
	}
}

func TestGolden(t *testing.T) {
	golden(t, "goal.json", fullGoal.AppendJSON(nil))
	golden(t, "action.json", fullAction.AppendJSON(nil))
	golden(t, "changes.json", fullChanges.AppendJSON(nil))
	staged := (&cortex.State{}).Stage(cortex.Changes{Goals: []cortex.GoalChange{{
		ID: "g", By: cortex.ActorUser, TurnID: "t1", Why: "asked", Title: ptr("Ship"), Lock: nil, AddDecisions: []cortex.Decision{{Description: "use Go", Locked: true}},
	}}}, start, nil)
	golden(t, "audit.json", []byte(staged.Rows[0].Change))
	update, err := json.Marshal(map[string]cortex.Update{"g": staged.Updates[0]})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "update.json", update)
}

func roundTrip[V any](t *testing.T, v V, text []byte) {
	t.Helper()
	var back V
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v, back); diff != "" {
		t.Errorf("read back: %s", diff)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != string(text) {
		t.Errorf("written again, %v:\n%s\n%s", err, text, again)
	}
}

func TestRoundTrip(t *testing.T) {
	roundTrip(t, fullGoal, fullGoal.AppendJSON(nil))
	roundTrip(t, fullAction, fullAction.AppendJSON(nil))
	roundTrip(t, fullChanges, fullChanges.AppendJSON(nil))
	for _, v := range []any{fullChanges.Goals[0], fullChanges.Actions[0], cortex.Audit{By: cortex.ActorUser, What: []cortex.Step{{Field: "title", From: "a", To: "b"}}}} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		switch v := v.(type) {
		case cortex.GoalChange:
			roundTrip(t, v, text)
		case cortex.ActionChange:
			roundTrip(t, v, text)
		case cortex.Audit:
			roundTrip(t, v, text)
		}
	}
	bare := cortex.Goal{ID: "g", Title: "t", Priority: cortex.PriorityMedium, Status: cortex.GoalActive}
	if text := string(bare.AppendJSON(nil)); text != `{"id":"g","title":"t","priority":"medium","status":"active","progress":0}` {
		t.Errorf("what is empty is written: %s", text)
	}
}

func TestDecodeRefuses(t *testing.T) {
	goal, action := string(fullGoal.AppendJSON(nil)), string(fullAction.AppendJSON(nil))
	for _, test := range []struct {
		name, text, old, new, want string
		decode                     func(string) error
	}{
		{"unknown field", goal, `"version"`, `"Version"`, "Version: is not a field; legal here: id, title, description, priority", decodeGoal},
		{"unknown field of a milestone", goal, `"description":"Build"`, `"name":"Build"`, "milestones[1].name: is not a field; legal here: description, status", decodeGoal},
		{"type", goal, `"version":7`, `"version":"7"`, "version: expected a number, found a string", decodeGoal},
		{"null", goal, `"title":"Implement \"auth\""`, `"title":null`, "title: expected a string, found null", decodeGoal},
		{"twice", goal, `"parent":"g0"`, `"title":"g0"`, `member "title" appears twice`, decodeGoal},
		{"time", goal, `"2026-01-27T10:00:00.000000Z"`, `"yesterday"`, `created_at: expected a time such as`, decodeGoal},
		{"status", goal, `"status":"completed","progress"`, `"status":"done","progress"`, `status: "done" is none`, decodeGoal},
		{"progress", goal, `0.5`, `2`, `progress: 2 is out of range`, decodeGoal},
		{"no id", goal, `"id":"g1",`, ``, "id: is empty", decodeGoal},
		{"not an object", goal, goal, `[]`, "expected an object", decodeGoal},
		{"more behind it", goal, goal, goal + "{}", "expected nothing after the value", decodeGoal},
		{"duplicate", goal, `"Use bcrypt"`, `"Use JWT"`, `decisions[1]: "Use JWT" stands twice`, decodeGoal},
		{"unknown type", action, `"approval_request"`, `"phone_call"`, `type: "phone_call" is none; use agent_task`, decodeAction},
		{"status of another type", action, `"awaiting_confirmation"`, `"in_progress"`, `status: "in_progress" is none; use open, awaiting_confirmation`, decodeAction},
		{"owner", action, `"owner":"user"`, `"owner":"me"`, `owner: "me" is none; use agent or user`, decodeAction},
		{"no confirmation", action, `"requires_confirmation":true,`, ``, `requires_confirmation: every approval_request does`, decodeAction},
		{"evidence", action, `["turn 7"]`, `["turn 7",1]`, `evidence[1]: expected a string, found a number`, decodeAction},
		{"unknown field of an action", action, `"due_at"`, `"due"`, `due: is not a field; legal here: id, type, owner`, decodeAction},
		{"unknown field of a change", `{"goals":[{},{"set_decisions":[{"text":"x"}]}]}`, "", "", `goals[1].set_decisions[0].text: is not a field; legal here: description, rename, rationale, locked`, decodeChanges},
		{"unknown kind of change", `{"plans":[]}`, "", "", `plans: is not a field; legal here: goals, actions`, decodeChanges},
	} {
		text := test.text
		if test.old != "" {
			if text = strings.Replace(test.text, test.old, test.new, 1); text == test.text {
				t.Fatalf("%s: %s is not in %s", test.name, test.old, test.text)
			}
		}
		err := test.decode(text)
		var field *cortex.FieldError
		if !errors.As(err, &field) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}

func decodeGoal(text string) error    { _, err := cortex.DecodeGoal(text); return err }
func decodeAction(text string) error  { _, err := cortex.DecodeAction(text); return err }
func decodeChanges(text string) error { _, err := cortex.DecodeChanges(text); return err }

func TestMarshalRefuses(t *testing.T) {
	nan := cortex.GoalChange{ID: "g", Progress: ptr(nan())}
	for name, v := range map[string]any{
		"goal": cortex.Goal{ID: "g"}, "action": cortex.PendingAction{ID: "a"},
		"change": nan, "changes": cortex.Changes{Goals: []cortex.GoalChange{nan}},
	} {
		if text, err := json.Marshal(v); err == nil {
			t.Errorf("%s was written as %s", name, text)
		}
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

func BenchmarkGoalJSON(b *testing.B) {
	text := string(fullGoal.AppendJSON(nil))
	b.Run("encode", func(b *testing.B) {
		dst := make([]byte, 0, 4096)
		for b.Loop() {
			dst = fullGoal.AppendJSON(dst[:0])
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := cortex.DecodeGoal(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("stage", func(b *testing.B) {
		state := (&cortex.State{}).Stage(titled("g", "Ship"), start, nil).Next
		ch := goalChange("g", func(c *cortex.GoalChange) {
			c.AddMilestones = []cortex.Milestone{{Description: "x", Status: cortex.MilestoneCompleted}}
		})
		for b.Loop() {
			if staged := state.Stage(ch, start, nil); len(staged.Rows) != 1 {
				b.Fatal(staged.Refused)
			}
		}
	})
}

// What cannot be read again is refused by its field, and only that.
func TestStorable(t *testing.T) {
	good, late := "good", time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)
	kept, refused := cortex.Changes{
		Goals: []cortex.GoalChange{
			{ID: "a", Progress: ptr(math.NaN())}, {Title: &good}, {ID: "b", RemoveDecisions: []string{"\xff"}},
		},
		Actions: []cortex.ActionChange{{Title: &good}, {ID: "c", DueAt: &late}},
	}.Storable()
	if len(kept.Goals) != 1 || len(kept.Actions) != 1 || kept.Goals[0].Title != &good || kept.Actions[0].Title != &good {
		t.Errorf("kept %+v", kept)
	}
	var got []cortex.Refusal
	for _, r := range refused {
		got = append(got, cortex.Refusal{Kind: r.Kind, ID: r.ID, Field: r.Field})
	}
	want := []cortex.Refusal{
		{Kind: cortex.KindGoal, ID: "a", Field: "progress"}, {Kind: cortex.KindGoal, ID: "b", Field: "remove_decisions"},
		{Kind: cortex.KindAction, ID: "c", Field: "due_at"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}
