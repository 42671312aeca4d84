package prompt_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file that is kept for ever: what was written once must stay readable.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text+"\n"); diff != "" {
		t.Errorf("%s (-want +got)\n%s", name, diff)
	}
}

var goalTime = time.Date(2026, 1, 27, 10, 0, 0, 0, time.UTC)

// fullGoal has something of everything.
func fullGoal() *cortex.Goal {
	return &cortex.Goal{
		ID: "goal-1", Title: "Ship the parser", Description: "It must read every file of the corpus.",
		Priority: cortex.PriorityHigh, Status: cortex.GoalActive, Progress: 0.335,
		Milestones: []cortex.Milestone{
			{Description: "Grammar", Status: cortex.MilestoneCompleted},
			{Description: "Tests", Status: cortex.MilestoneInProgress},
			{Description: "Docs", Status: cortex.MilestonePending},
		},
		Decisions: []cortex.Decision{
			{Description: "No regexp", Rationale: "it is slow", Locked: true}, {Description: "One pass", Locked: true}, {Description: "UTF-8 only"},
		},
		Artifacts: []cortex.Artifact{{Path: "parse.go", Type: "file", Action: cortex.ArtifactCreated}},
		NextSteps: []string{"Write the fuzz test", "Measure"},
		CreatedAt: goalTime, UpdatedAt: goalTime, Version: 3,
	}
}

func TestTheBeginningOfAPrompt(t *testing.T) {
	w := newWorld(t, 8192)
	w.request.Goal = fullGoal()
	w.begin(prompt.Settings{
		System: "You are a careful engineer.\n\n", Mandates: []string{"Never push to main.", "Ask before deleting."},
		Skills: []prompt.Material{{Name: "Review", Text: "Read the diff twice.\n"}, {Name: "Deploy", Text: "Use the script."}},
		Checks: []string{"The tests pass."},
		Sticky: []prompt.Material{{Name: "notes \"1\".md", Text: "# Notes\n\n"}, {Name: "empty.md"}},
		Tools:  []prompt.Definition{{Name: "search", Description: "Finds things.", Schema: `{"type":"object"}`}},
	})
	p := w.compile()
	if len(p.Messages) != 1 || p.Messages[0].Role != prompt.System || len(p.Messages[0].Parts) != 1 {
		t.Fatalf("%+v", p.Messages)
	}
	golden(t, "begin-1.txt", p.Messages[0].Parts[0].Text)
	if diff := cmp.Diff(w.request.Settings.Tools, p.Tools); diff != "" {
		t.Error(diff)
	}
}

func TestAPromptMayBeginWithNothing(t *testing.T) {
	w := newWorld(t, 2048)
	w.begin(prompt.Settings{System: "\n"})
	if p := w.compile(); len(p.Messages) != 0 || p.Shown != 0 || p.End != 0 {
		t.Errorf("%+v", p)
	}
	w.append(user("hello"))
	wantLines(t, said(w.compile()), "user: hello")
}

func TestFormatsOfEpochAndCall(t *testing.T) {
	e := prompt.Epoch{
		Number: 7, AfterSeq: 93, Renderer: 1, Reason: prompt.ReasonFull, Path: []turn.Range{{From: 1, To: 20}, {From: 31}},
		From: 60, Context: 8192, Passes: 2, Settings: strings.Repeat("ab", 32), Goal: fullGoal(),
		Kept: []prompt.Kept{{Range: turn.Range{From: 3, To: 9}, Why: prompt.Pinned}, {Range: turn.Range{From: 12, To: 12}, Why: prompt.Said}},
	}
	row := e.Row()
	golden(t, "epoch-1.json", row.Doc)
	if row.Number != 7 || row.AfterSeq != 93 {
		t.Errorf("%+v", row)
	}
	again, err := prompt.DecodeEpoch(row)
	if diff := cmp.Diff(e, again); err != nil || diff != "" {
		t.Error(err, diff)
	}
	c := prompt.Call{
		Number: 4, End: 99, Epoch: 7, SHA256: strings.Repeat("cd", 32), Renderer: 1, Settings: e.Settings,
		Model: "exact", Context: 8192, Tokens: 6001, Late: "what \"changed\"\n",
	}
	callRow := c.Row()
	golden(t, "call-1.json", callRow.Doc)
	if callRow.Number != 4 || callRow.End != 99 || callRow.Epoch != 7 || callRow.SHA256 != c.SHA256 {
		t.Errorf("%+v", callRow)
	}
	read, err := prompt.DecodeCall(callRow)
	if err != nil || read != c {
		t.Error(err, cmp.Diff(c, read))
	}
}

func TestTheFormatOfAnEpochWithCheckpoints(t *testing.T) {
	e := prompt.Epoch{
		Number: 9, AfterSeq: 120, Renderer: 1, Reason: prompt.ReasonUndo, Path: []turn.Range{{From: 1}}, From: 80,
		Kept: []prompt.Kept{{Range: turn.Range{From: 41, To: 42}, Why: prompt.Undone}},
		Checkpoints: []prompt.Ref{
			{Range: turn.Range{From: 1, To: 40}, Number: 2, Version: 3, SHA256: strings.Repeat("ab", 32)},
			{Range: turn.Range{From: 41, To: 79}, Number: 3, Version: 1, SHA256: strings.Repeat("cd", 32)},
		},
		Paged: []prompt.Handle{
			{Range: turn.Range{From: 3, To: 17}, Messages: 4, Tokens: 812}, {Range: turn.Range{From: 19, To: 19}, Messages: 1, Tokens: 90}, {Range: turn.Range{From: 20, To: 30}},
		},
		Hold: true, Before: 7, Context: 8192, Passes: 3, Settings: strings.Repeat("ef", 32),
	}
	row := e.Row()
	golden(t, "epoch-2.json", row.Doc)
	again, err := prompt.DecodeEpoch(row)
	if diff := cmp.Diff(e, again); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestTheFormatOfAnEpochWithQuotes(t *testing.T) {
	e := prompt.Epoch{
		Number: 5, AfterSeq: 90, Renderer: 2, Reason: prompt.ReasonFull, Path: []turn.Range{{From: 1}}, From: 70,
		Quotes:   []prompt.Quote{{Turn: 12, To: 31}, {Turn: 12, From: 40, To: 77}, {Turn: 30, From: 8, To: 900, Tokens: 230}},
		Unquoted: []turn.Range{{From: 2, To: 9}, {From: 11, To: 11}}, Context: 8192, Passes: 3, Settings: strings.Repeat("ef", 32),
	}
	row := e.Row()
	golden(t, "epoch-3.json", row.Doc)
	again, err := prompt.DecodeEpoch(row)
	if diff := cmp.Diff(e, again); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestWhatIsNoEpochOrCallIsRefused(t *testing.T) {
	for _, tt := range []struct{ doc, want string }{
		{`{`, "epoch 3: "},
		{`{"renderer":1,"colour":"red"}`, "colour"},
		{`{"renderer":4,"reason":"start","from":1}`, "epoch 3 was made by renderer 4, which this version does not have: use a newer one"},
		{`{"renderer":1,"goal":{"id":""}}`, "goal"},
	} {
		if _, err := prompt.DecodeEpoch(prompt.EpochRow{Number: 3, Doc: tt.doc}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.doc, err)
		}
	}
	if _, err := prompt.DecodeCall(prompt.CallRow{Number: 5, Doc: `{"late":1}`}); err == nil || !strings.Contains(err.Error(), "prompt 5: ") {
		t.Error(err)
	}
}

func TestSameCalls(t *testing.T) {
	c := prompt.Call{Number: 1, End: 2, Epoch: 1, SHA256: "a", Renderer: 1, Settings: "s", Model: "m", Context: 2048, Tokens: 9}
	o := c
	o.Number = 7
	if !c.Same(o) {
		t.Error("their number alone tells them apart")
	}
	for _, edit := range []func(*prompt.Call){
		func(c *prompt.Call) { c.End++ }, func(c *prompt.Call) { c.Model = "n" }, func(c *prompt.Call) { c.SHA256 = "b" },
	} {
		o := c
		edit(&o)
		if c.Same(o) {
			t.Errorf("%+v is the same as %+v", o, c)
		}
	}
}
