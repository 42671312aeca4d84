package cortex_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cortex"
)

// seedReply is the example of the design.
const seedReply = `[GOAL] Implement user authentication system
[CHECKPOINT] Design authentication flow - COMPLETED
[CHECKPOINT] Implement login endpoint - COMPLETED
[CHECKPOINT] Add JWT token generation - IN PROGRESS
[DECISION] Use JWT for authentication - LOCKED
[DECISION] Store tokens in httpOnly cookies - LOCKED
[ARTIFACT] Created src/auth/login.ts
[ARTIFACT] Created src/auth/jwt.ts
[ARTIFACT] Modified src/routes/api.ts
[NEXT] Complete JWT token generation, then move to user registration
`

func TestParseMarkers(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string // kind|text|status
	}{
		{"design's example", seedReply, []string{
			"GOAL|Implement user authentication system|",
			"CHECKPOINT|Design authentication flow|completed",
			"CHECKPOINT|Implement login endpoint|completed",
			"CHECKPOINT|Add JWT token generation|in-progress",
			"DECISION|Use JWT for authentication|locked",
			"DECISION|Store tokens in httpOnly cookies|locked",
			"ARTIFACT|src/auth/login.ts|created",
			"ARTIFACT|src/auth/jwt.ts|created",
			"ARTIFACT|src/routes/api.ts|modified",
			"NEXT|Complete JWT token generation, then move to user registration|",
		}},
		{"nothing", "", nil},
		{"no markers", "a reply\n\nwith [links](x), [x] boxes and [NOTE] notes", nil},
		{"status words", "[CHECKPOINT] a - in-progress\n[CHECKPOINT] b - In_Progress\n[CHECKPOINT] c - iN pRoGrEsS.\n[CHECKPOINT] d - pending\n[CHECKPOINT] e – Completed\n[CHECKPOINT] f — COMPLETED",
			[]string{"CHECKPOINT|a|in-progress", "CHECKPOINT|b|in-progress", "CHECKPOINT|c|in-progress", "CHECKPOINT|d|pending", "CHECKPOINT|e|completed", "CHECKPOINT|f|completed"}},
		{"no status", "[CHECKPOINT] a\n[DECISION] b", []string{"CHECKPOINT|a|", "DECISION|b|"}},
		{"a dash that is no status", "[CHECKPOINT] a - b\n[CHECKPOINT] a-completed\n[CHECKPOINT] a- completed\n[CHECKPOINT] a - finished\n[CHECKPOINT] a -completed\n[CHECKPOINT] x - completed - y",
			[]string{"CHECKPOINT|a - b|", "CHECKPOINT|a-completed|", "CHECKPOINT|a- completed|", "CHECKPOINT|a - finished|", "CHECKPOINT|a -completed|", "CHECKPOINT|x - completed - y|"}},
		{"dashes before the status", "[CHECKPOINT] log-in - step 2 - completed", []string{"CHECKPOINT|log-in - step 2|completed"}},
		{"status of another kind", "[CHECKPOINT] a - LOCKED\n[DECISION] b - COMPLETED\n[NEXT] c - COMPLETED",
			[]string{"CHECKPOINT|a - LOCKED|", "DECISION|b - COMPLETED|", "NEXT|c - COMPLETED|"}},
		{"goal statuses", "[GOAL] a - completed\n[GOAL] b - Blocked", []string{"GOAL|a|completed", "GOAL|b|blocked"}},
		{"unlocked", "[DECISION] a - unlocked", []string{"DECISION|a|unlocked"}},
		{"artifacts", "[ARTIFACT] deleted a b.txt\n[ARTIFACT] Created: `x.go`\n[ARTIFACT] y.go - MODIFIED\n[ARTIFACT] z.go\n[ARTIFACT] created\n[ARTIFACT] Created ``",
			[]string{"ARTIFACT|a b.txt|deleted", "ARTIFACT|x.go|created", "ARTIFACT|y.go|modified"}},
		{"empty", "[GOAL]\n[GOAL] \n[GOAL]:\n[GOAL] - completed\n[CHECKPOINT]  - completed\n[NEXT] \u00a0", nil},
		{"colon", "[GOAL]: a\n[GOAL]:b", []string{"GOAL|a|", "GOAL|b|"}},
		{"not quite", "[GOAL](x)\n[GOAL]x\n[goal] x\n[ GOAL] x\n[GOALS] x\nsay [GOAL] x\n> [GOAL] x\n[GOAL", nil},
		{"indented", " [GOAL] a\n   [GOAL] b\n    [GOAL] code\n\t[GOAL] code\n    - [GOAL] code", []string{"GOAL|a|", "GOAL|b|"}},
		{"lists", "- [GOAL] a\n* [GOAL] b\n+ [GOAL] c\n  - [GOAL] d\n-[GOAL] e\n-     [GOAL] f", []string{"GOAL|a|", "GOAL|b|", "GOAL|c|", "GOAL|d|"}},
		{"numbered lists", "1. [GOAL] a\n23) [GOAL] b\n1.[GOAL] c\n. [GOAL] d\n1234567890. [GOAL] e\na. [GOAL] f", []string{"GOAL|a|", "GOAL|b|"}},
		{"carriage returns", "[GOAL] a\r\n[CHECKPOINT] b - COMPLETED\r\n", []string{"GOAL|a|", "CHECKPOINT|b|completed"}},
		{"control characters", "[GOAL] a\x00b\n[GOAL] a\x1b[31m\n[GOAL] a\tb\n[GOAL] c\t", []string{"GOAL|c|"}},
		{"not UTF-8", "[GOAL] a\xff", nil},
		{"fence", "```\n[GOAL] a\n```\n[GOAL] b", []string{"GOAL|b|"}},
		{"fence with info", "~~~ text\n[GOAL] a\n~~~\n[GOAL] b", []string{"GOAL|b|"}},
		{"indented fence", "   ```go\n[GOAL] a\n  ```  \n[GOAL] b", []string{"GOAL|b|"}},
		{"fence in a list", "- ```\n  [GOAL] a\n  ```\n- [GOAL] b", []string{"GOAL|b|"}},
		{"fence in a list of a list", "- a\n  - ```\n    [GOAL] a\n    ```\n[GOAL] b", []string{"GOAL|b|"}},
		{"fence far from its bullet", "-   ```\n    [GOAL] a\n    ```\n[GOAL] b", []string{"GOAL|b|"}},
		{"fence in a numbered list", "1. ```\n   [GOAL] a\n   ```\n12) [GOAL] b", []string{"GOAL|b|"}},
		{"indented too far", "    ```\n[GOAL] a", []string{"GOAL|a|"}},
		{"too short", "``\n[GOAL] a\n~~\n[GOAL] b", []string{"GOAL|a|", "GOAL|b|"}},
		{"inline code", "``` x ```\n[GOAL] a", []string{"GOAL|a|"}},
		{"tildes may hold backticks", "~~~ `x`\n[GOAL] a\n~~~\n[GOAL] b", []string{"GOAL|b|"}},
		{"closed by as many", "````\n```\n[GOAL] a\n`````\n[GOAL] b", []string{"GOAL|b|"}},
		{"closed by the same", "```\n~~~\n[GOAL] a\n```\n[GOAL] b", []string{"GOAL|b|"}},
		{"closed by nothing else", "```\n``` x\n[GOAL] a\n    ```\n[GOAL] b\n```\n[GOAL] c", []string{"GOAL|c|"}},
		{"never closed", "[GOAL] a\n```\n[GOAL] b\n", []string{"GOAL|a|"}},
		{"too long", "[GOAL] " + strings.Repeat("x", cortex.MaxMarker-7) + "y\n[GOAL] a", []string{"GOAL|a|"}},
		{"as long as can be", "[GOAL] " + strings.Repeat("x", cortex.MaxMarker-7), []string{"GOAL|" + strings.Repeat("x", cortex.MaxMarker-7) + "|"}},
	} {
		var got []string
		for _, m := range cortex.ParseMarkers(test.text) {
			got = append(got, fmt.Sprintf("%s|%s|%s", m.Kind, m.Text, m.Status))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestMarkersAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 2 * cortex.MaxMarkers {
		fmt.Fprintf(&text, "[NEXT] step %d\n", i)
	}
	markers := cortex.ParseMarkers(text.String())
	if len(markers) != cortex.MaxMarkers || markers[cortex.MaxMarkers-1].Text != "step 63" {
		t.Errorf("%d markers", len(markers))
	}
}

// TestMarkersOfHugeTexts would not end if the time grew with the square of the text.
func TestMarkersOfHugeTexts(t *testing.T) {
	for _, part := range []string{"- ", "`", "~~~\n", " ", "[", "[GOAL] ", "[GOAL] x - \n", "[CHECKPOINT] - - -", "\n"} {
		if markers := cortex.ParseMarkers(strings.Repeat(part, 4<<20/len(part))); len(markers) > cortex.MaxMarkers {
			t.Errorf("%q: %d markers", part, len(markers))
		}
	}
}

// applyMarkers stages what the markers of a reply change.
func applyMarkers(t *testing.T, state *cortex.State, reply string) cortex.Staged {
	t.Helper()
	active, _ := state.ActiveGoal()
	markers := cortex.ParseMarkers(reply)
	for i := range markers {
		markers[i].TurnID = "t1"
	}
	changes := cortex.MarkerChanges(markers, active)
	for _, c := range changes {
		if c.By != cortex.ActorAgent || c.TurnID != "t1" || c.Why != "marked in the reply" {
			t.Errorf("change is %+v", c)
		}
	}
	n := len(state.Goals())
	return state.Stage(cortex.Changes{Goals: changes}, start.Add(time.Duration(n)*time.Second), func() string { n++; return fmt.Sprint("n", n) })
}

func TestMarkersBeginAGoal(t *testing.T) {
	staged := applyMarkers(t, &cortex.State{}, seedReply)
	want := cortex.Goal{
		ID: "n1", Title: "Implement user authentication system", Priority: cortex.PriorityMedium, Status: cortex.GoalActive, Progress: 2.0 / 3,
		Milestones: []cortex.Milestone{
			{Description: "Design authentication flow", Status: cortex.MilestoneCompleted},
			{Description: "Implement login endpoint", Status: cortex.MilestoneCompleted},
			{Description: "Add JWT token generation", Status: cortex.MilestoneInProgress},
		},
		Decisions: []cortex.Decision{{Description: "Use JWT for authentication", Locked: true}, {Description: "Store tokens in httpOnly cookies", Locked: true}},
		Artifacts: []cortex.Artifact{
			{Path: "src/auth/login.ts", Type: "file", Action: cortex.ArtifactCreated},
			{Path: "src/auth/jwt.ts", Type: "file", Action: cortex.ArtifactCreated},
			{Path: "src/routes/api.ts", Type: "file", Action: cortex.ArtifactModified},
		},
		NextSteps: []string{"Complete JWT token generation, then move to user registration"},
		CreatedAt: start, UpdatedAt: start, Version: 1,
	}
	if diff := cmp.Diff([]cortex.Goal{want}, staged.Next.Goals()); diff != "" || len(staged.Refused) > 0 {
		t.Error(diff, staged.Refused)
	}
	again := applyMarkers(t, staged.Next, seedReply)
	if len(again.Rows) > 0 || len(again.Refused) > 0 {
		t.Errorf("said again: %v, refused %v", again.Rows, again.Refused)
	}
}

func TestMarkersChangeTheActiveGoal(t *testing.T) {
	state := applyMarkers(t, &cortex.State{}, "[GOAL] Ship\n[CHECKPOINT] Build\n[CHECKPOINT] build - pending\n[DECISION] Use Go - LOCKED\n[DECISION] use go\n[NEXT] old").Next
	active, _ := state.ActiveGoal()
	if len(active.Milestones) != 1 || len(active.Decisions) != 1 {
		t.Fatalf("the goal begins as %+v", active)
	}
	reply := "[goal] ship it\n[CHECKPOINT] BUILD  - completed\n[CHECKPOINT] Test\n[CHECKPOINT] test - in progress\n" +
		"[DECISION] use  GO - unlocked\n[DECISION] Use Make - unlocked\n[ARTIFACT] deleted x\n[NEXT] a\n[NEXT] b\n[NEXT] a"
	staged := applyMarkers(t, state, reply)
	if len(staged.Refused) != 1 || !strings.Contains(staged.Refused[0].Reason, `decision "Use Go" is locked`) {
		t.Errorf("refused %v", staged.Refused)
	}
	g, _ := staged.Next.ActiveGoal()
	want := active
	want.Milestones = []cortex.Milestone{{Description: "Build", Status: cortex.MilestoneCompleted}, {Description: "Test", Status: cortex.MilestoneInProgress}}
	want.Decisions = append(active.Decisions, cortex.Decision{Description: "Use Make"})
	want.Artifacts = []cortex.Artifact{{Path: "x", Type: "file", Action: cortex.ArtifactDeleted}}
	want.NextSteps, want.Progress, want.Version, want.UpdatedAt = []string{"a", "b"}, 0.5, 2, start.Add(time.Second)
	if diff := cmp.Diff(want, g); diff != "" {
		t.Error(diff)
	}
	if again, _ := state.ActiveGoal(); !cmp.Equal(active, again) {
		t.Error("making changes changed the goal")
	}
	done := applyMarkers(t, staged.Next, "[GOAL] SHIP - COMPLETED")
	if diff := cmp.Diff([]string{g.ID}, done.CompletedGoals); diff != "" {
		t.Error(diff)
	}
}

func TestMarkersOfTwoGoals(t *testing.T) {
	staged := applyMarkers(t, &cortex.State{}, "[CHECKPOINT] of nothing\n[NEXT] nothing\n[GOAL] A\n[CHECKPOINT] a\n[NEXT] x\n[GOAL] B\n[CHECKPOINT] b\n[NEXT] y\n[GOAL] a\n[CHECKPOINT] c")
	var got []string
	for _, g := range staged.Next.Goals() {
		got = append(got, fmt.Sprint(g.Title, g.Milestones, g.NextSteps))
	}
	if diff := cmp.Diff([]string{"A[{a pending} {c pending}] [x]", "B[{b pending}] [y]"}, got); diff != "" || len(staged.Refused) > 0 {
		t.Error(diff, staged.Refused)
	}
	undone := applyMarkers(t, &cortex.State{}, "[GOAL] A\n[DECISION] d - locked\n[DECISION] D - unlocked\n[NEXT] x\n[GOAL] B")
	if g := undone.Next.Goals(); len(undone.Refused) != 1 || undone.Refused[0].ID != "n1" || len(g) != 2 || !g[0].Decisions[0].Locked || len(g[0].NextSteps) != 1 {
		t.Errorf("locked and unlocked in one reply: %+v, refused %v", g, undone.Refused)
	}
	if changes := cortex.MarkerChanges(cortex.ParseMarkers("[CHECKPOINT] a\n[NEXT] b"), cortex.Goal{}); len(changes) > 0 {
		t.Errorf("without a goal: %+v", changes)
	}
}

func FuzzParseMarkers(f *testing.F) {
	f.Add(seedReply)
	f.Add("~~~\n[GOAL] a - \n~~~~\r\n - [ARTIFACT] created `x`\n````\n[NEXT] ")
	f.Add(strings.Repeat("[DECISION] - - - - locked\n", 80))
	f.Fuzz(func(t *testing.T, text string) {
		markers := cortex.ParseMarkers(text)
		if len(markers) > cortex.MaxMarkers {
			t.Fatalf("%d markers", len(markers))
		}
		end := 0
		for _, m := range markers {
			if m.Offset < end || text[m.Offset:m.Offset+len(m.Line)] != m.Line {
				t.Fatalf("marker %+v does not stand at its offset", m)
			}
			end = m.Offset + len(m.Line)
			if len(m.Line) > cortex.MaxMarker || !strings.Contains(m.Line, m.Text) || !strings.HasPrefix(m.Line, "["+string(m.Kind)+"]") {
				t.Fatalf("marker %+v is not what it says", m)
			}
			if m.Text == "" || !utf8.ValidString(m.Text) || strings.ContainsAny(m.Text, "\n\r\t\x00") {
				t.Fatalf("no store takes %q", m.Text)
			}
		}
		staged := (&cortex.State{}).Stage(cortex.Changes{Goals: cortex.MarkerChanges(markers, cortex.Goal{})}, start, counter())
		for _, r := range staged.Refused {
			if !strings.Contains(r.Reason, "is locked and stays as it is") {
				t.Fatalf("refused: %+v", r)
			}
		}
	})
}

// TestMarkersBehindTheEndOfAGoal: a reply that says first that the goal is reached, and then what of it is done, says both.
func TestMarkersBehindTheEndOfAGoal(t *testing.T) {
	state := applyMarkers(t, &cortex.State{}, "[GOAL] Ship\n[CHECKPOINT] Build").Next
	staged := applyMarkers(t, state, "[GOAL] ship - completed\n[CHECKPOINT] Build - completed\n[ARTIFACT] Created x.go\n[NEXT] rest")
	if len(staged.Refused) > 0 || len(staged.CompletedGoals) != 1 {
		t.Fatalf("refused %v, completed %v", staged.Refused, staged.CompletedGoals)
	}
	g, err := cortex.DecodeGoal(staged.Rows[0].Doc)
	if err != nil || g.Milestones[0].Status != cortex.MilestoneCompleted || len(g.Artifacts) != 1 || len(g.NextSteps) != 1 {
		t.Errorf("the goal is %+v, %v", g, err)
	}
}
