package cortex_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/cortex"
)

// world runs random changes through a store and holds what comes of them against the package's
// promises.
type world struct {
	rows     *memory
	seq      int64
	state    *cortex.State
	locked   map[string]map[string]cortex.Decision // by goal and description
	finished map[string]string                     // the last document
	versions map[string]int64
}

func drawWord(t *rapid.T, label string, words ...string) string {
	return rapid.SampledFrom(words).Draw(t, label)
}

// maybe draws a value, now and then none.
func maybe[V any](t *rapid.T, label string, values ...V) *V {
	if rapid.IntRange(0, 2).Draw(t, "has "+label) != 0 {
		return nil
	}
	return ptr(rapid.SampledFrom(values).Draw(t, label))
}

var actorWords = []string{"agent", "user", "system", ""}

func drawGoalChange(t *rapid.T) cortex.GoalChange {
	c := cortex.GoalChange{
		ID: drawWord(t, "id", "g1", "g2", "g3", ""), By: cortex.Actor(drawWord(t, "by", actorWords...)),
		Version: rapid.SampledFrom([]int64{0, 0, 0, 1, 2}).Draw(t, "version"),
		Title:   maybe(t, "title", "One", "Two", "one", ""), Priority: maybe(t, "priority", cortex.PriorityHigh, cortex.PriorityLow),
		Status:   maybe(t, "status", cortex.GoalActive, cortex.GoalPaused, cortex.GoalBlocked, cortex.GoalCompleted, cortex.GoalAbandoned, "odd"),
		Progress: maybe(t, "progress", 0, 0.3, 1, 2), Parent: maybe(t, "parent", "g1", "g2", "g3", ""),
	}
	decision := func() string { return drawWord(t, "decision", "d1", "d2", "d3") }
	switch rapid.IntRange(0, 6).Draw(t, "what") {
	case 0:
		c.AddDecisions = []cortex.Decision{{Description: decision(), Rationale: drawWord(t, "rationale", "", "why", "because"), Locked: rapid.Bool().Draw(t, "locked")}}
	case 1:
		c.SetDecisions = []cortex.DecisionChange{{Description: decision(), Rename: maybe(t, "rename", "d1", "d4"), Rationale: maybe(t, "rationale", "", "why"), Locked: maybe(t, "lock", true, false)}}
	case 2:
		c.RemoveDecisions = []string{decision(), decision()}
	case 3:
		c.Lock = []string{decision()}
	case 4:
		c.AddMilestones = []cortex.Milestone{{Description: drawWord(t, "milestone", "m1", "m2"), Status: cortex.MilestoneStatus(drawWord(t, "done", "", "completed"))}}
	case 5:
		c.AddArtifacts = []cortex.Artifact{{Path: "p", Action: cortex.ArtifactAction(drawWord(t, "did", "created", "modified"))}}
	}
	return c
}

func drawActionChange(t *rapid.T) cortex.ActionChange {
	return cortex.ActionChange{
		ID: drawWord(t, "id", "a1", "a2", "a3", ""), By: cortex.Actor(drawWord(t, "by", actorWords...)),
		Title: maybe(t, "title", "do", "see"), Status: maybe(t, "status", allActionStatuses...),
		Type:  maybe(t, "type", cortex.AgentTask, cortex.UserTask, cortex.Reminder, cortex.Blocker, cortex.BackgroundJob, "other"),
		Owner: maybe(t, "owner", cortex.OwnerAgent, cortex.OwnerUser), RequiresConfirmation: maybe(t, "confirm", true, false),
		DueAt: maybe(t, "due", start, time.Time{}),
	}
}

// text is all of a state.
func text(s *cortex.State) string {
	var text []byte
	for _, g := range s.Goals() {
		text = append(g.AppendJSON(text), '\n')
	}
	for _, a := range s.Actions() {
		text = append(a.AppendJSON(text), '\n')
	}
	return string(text)
}

func (w *world) step(t *rapid.T) {
	ctx := context.Background()
	ch := cortex.Changes{
		Goals:   rapid.SliceOfN(rapid.Custom(drawGoalChange), 0, 4).Draw(t, "goals"),
		Actions: rapid.SliceOfN(rapid.Custom(drawActionChange), 0, 4).Draw(t, "actions"),
	}
	w.seq++
	state, err := w.state.Including(ctx, w.rows, tenant, upTo(w.seq), ch)
	if err != nil {
		t.Fatal(err)
	}
	asked, before := string(ch.AppendJSON(nil)), text(state)
	n := 0
	newID := func() string { n++; return fmt.Sprintf("new-%d-%d", w.seq, n) }
	staged := state.Stage(ch, start.Add(time.Duration(w.seq)*time.Second), newID)
	if before != text(state) || asked != string(ch.AppendJSON(nil)) {
		t.Fatal("staging changed the state or the changes")
	}
	for _, r := range staged.Refused {
		if r.Reason == "" || len(r.Change) == 0 {
			t.Fatalf("refused without a word: %+v", r)
		}
	}
	if err := cortex.Write(ctx, w.rows, tenant, segment, w.seq, staged); err != nil {
		t.Fatal(err)
	}
	for i, r := range staged.Rows {
		told(t, r, staged.Updates[i])
		key := string(r.Kind) + " " + r.ID
		if w.versions[key]++; r.Version != w.versions[key] {
			t.Fatalf("%s: version %d follows %d", key, r.Version, w.versions[key]-1)
		}
		if doc, ok := w.finished[key]; ok {
			t.Fatalf("%s was finished as %s and became %s", key, doc, r.Doc)
		}
		if !r.Live {
			w.finished[key] = r.Doc
		}
	}
	if err := cortex.Write(ctx, w.rows, tenant, segment, w.seq, staged); len(staged.Rows) > 0 && !errors.Is(err, cortex.ErrStale) {
		t.Fatalf("writing the same versions again: %v", err)
	}
	read, err := cortex.Load(ctx, w.rows, tenant, upTo(w.seq), true)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := text(read), text(staged.Next); a != b {
		t.Fatalf("what is read is not what was staged:\n%s\n%s", a, b)
	}
	w.state = staged.Next
}

// told holds the texts of a row and its update against what the update says.
func told(t *rapid.T, r cortex.Row, u cortex.Update) {
	whole, err := json.Marshal(u)
	if err != nil {
		t.Fatal(err)
	}
	if string(whole) != u.Text {
		t.Fatalf("%s %s is told as %s, want %s", r.Kind, r.ID, u.Text, whole)
	}
	changes, err := json.Marshal(u.Changes)
	if err != nil {
		t.Fatal(err)
	}
	if string(changes) != r.Change || u.Version != r.Version {
		t.Fatalf("%s %s version %d is changed by %s, want %s of version %d", r.Kind, r.ID, r.Version, r.Change, changes, u.Version)
	}
	var doc struct{ ID, Title, Status string }
	if err := json.Unmarshal([]byte(r.Doc), &doc); err != nil || doc.ID != r.ID || doc.Title != u.Title || doc.Status != u.Status {
		t.Fatalf("%s %s is %s, %v, and told as %s", r.Kind, r.ID, r.Doc, err, u.Text)
	}
}

func (w *world) check(t *rapid.T) {
	all, err := cortex.Load(context.Background(), w.rows, tenant, upTo(w.seq), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range all.Goals() {
		for description, want := range w.locked[g.ID] {
			if got, ok := g.Decision(description); !ok || got != want {
				t.Fatalf("goal %s: locked %+v became %+v", g.ID, want, got)
			}
		}
		for _, d := range g.Decisions {
			if d.Locked {
				if w.locked[g.ID] == nil {
					w.locked[g.ID] = map[string]cortex.Decision{}
				}
				w.locked[g.ID][d.Description] = d
			}
		}
	}
}

func TestPromisesHoldOverRandomChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{rows: &memory{}, state: load0(t), locked: map[string]map[string]cortex.Decision{}, finished: map[string]string{}, versions: map[string]int64{}}
		t.Repeat(map[string]func(*rapid.T){"": w.check, "step": w.step})
	})
}

// load0 is the live state of a session without goals.
func load0(t *rapid.T) *cortex.State {
	state, err := cortex.Load(context.Background(), &memory{}, tenant, upTo(0), true)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestChangesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ch := cortex.Changes{
			Goals:   rapid.SliceOfN(rapid.Custom(drawGoalChange), 1, 3).Draw(t, "goals"),
			Actions: rapid.SliceOfN(rapid.Custom(drawActionChange), 1, 3).Draw(t, "actions"),
		}
		text := ch.AppendJSON(nil)
		back, err := cortex.DecodeChanges(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ch, back); diff != "" {
			t.Fatal(diff)
		}
	})
}
