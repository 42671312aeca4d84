package client_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/client"
	"github.com/turnstone-dev/turnstone/server"
)

const model = "llama3.2"

// TestOwnAgent goes the way of an agent of one's own: append, prompt, commit, and what can be asked for then.
func TestOwnAgent(t *testing.T) {
	w := start(t, turnstone.Config{}, server.Config{})
	ctx := t.Context()
	s := w.session(t, "trip")
	asked, err := s.Append(ctx, client.Draft{Role: "user", Text: "We decided to take the night train. A window seat, please."})
	if err != nil {
		t.Fatal(err)
	}
	options := client.PromptOptions{Model: model, Context: 8192, Settings: &client.Settings{System: "Be brief."}, Late: []string{"It is Monday."}}
	p, err := s.Prompt(ctx, options)
	if err != nil || len(p.Messages) < 2 || p.Model != model || p.End != 1 || p.SHA256 == "" || p.Account.Tokens == 0 || len(p.Account.Parts) == 0 || p.Account.Usable == 0 {
		t.Errorf("%+v, %v", p, err)
	}
	past, err := s.PromptAt(ctx, 1)
	if err != nil || past.SHA256 != p.SHA256 || !past.Recorded {
		t.Errorf("%+v, %v", past, err)
	}
	options.Settings.System = strings.Repeat("Be brief. ", 10_000)
	if _, err := s.Prompt(ctx, options); !errors.Is(err, client.OverBudget) {
		t.Errorf("a prompt that cannot fit: %v", err)
	}
	options.Settings = nil
	body, err := s.PromptAs(ctx, "ollama", options)
	var request struct {
		Model    string
		Messages []struct{ Role, Content string }
	}
	if err := errors.Join(err, json.Unmarshal(body, &request)); err != nil || request.Model != model || !strings.Contains(request.Messages[0].Content, "Be brief.") {
		t.Errorf("%s, %v", body, err)
	}
	exchange := client.Exchange{
		ExportID: "01JH5T8Q3VXK6Z0M4N7P9R2S1W", TurnID: asked[0].ID,
		Turns:      []client.Draft{{Role: "agent", Text: "Booked: Friday at ten, seat 61."}},
		Candidates: []client.Candidate{{Type: "user_data", Text: "Likes window seats", Tags: []string{"preference"}}},
		Intentions: &client.Intentions{Goals: []client.GoalChange{{Title: "Plan the trip", AddMilestones: []client.Milestone{{Description: "Train"}}}}},
	}
	var made []client.Outcome
	for _, repeated := range []bool{false, true} {
		done, err := s.Commit(ctx, exchange)
		made = append(made, done.Changed...)
		if err != nil || done.Repeated != repeated || done.ExportID != exchange.ExportID || done.TurnID != asked[0].ID || done.Status != "complete" {
			t.Errorf("%+v, %v", done, err)
		}
	}
	found, err := s.Recall(ctx, client.Recall{Query: "which train did we choose", Limit: 1})
	hits := found.Hits
	if err != nil || len(hits) != 1 || len(hits[0].Seqs) != 1 || hits[0].Seqs[0] != 1 || hits[0].Citation == "" {
		t.Errorf("%+v, %v", hits, err)
	}
	goals, err := s.Goals(ctx)
	if err != nil || len(goals) != 1 || goals[0].Title != "Plan the trip" || len(made) != 2 || made[0] != made[1] || made[0].ID != goals[0].ID {
		t.Fatalf("%+v, %v, made %+v", goals, err, made)
	}
	changed, err := s.ChangeGoal(ctx, client.GoalChange{
		ID: goals[0].ID, Version: goals[0].Version, By: "user", SetMilestones: []client.Milestone{{Description: "Train", Status: "completed"}},
	})
	if err != nil || changed.Progress != 1 || changed.Version != goals[0].Version+1 {
		t.Errorf("%+v, %v", changed, err)
	}
	if got, err := s.Goal(ctx, changed.ID); err != nil || got.Version != changed.Version || got.Milestones[0].Status != "completed" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.ChangeGoal(ctx, client.GoalChange{ID: changed.ID, Version: 1, Title: "Another"}); !errors.Is(err, client.NotLegal) && !errors.Is(err, client.Conflict) {
		t.Errorf("a change of an old version: %v", err)
	}
}

func TestMemory(t *testing.T) {
	w := start(t, turnstone.Config{}, server.Config{})
	ctx := t.Context()
	s, err := w.Create(ctx, "trip", client.About{User: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Commit(ctx, client.Exchange{
		Turns: []client.Draft{{Role: "user", Text: "A window seat, please."}, {Role: "agent", Text: "Booked."}},
		Candidates: []client.Candidate{
			{Type: "user_data", Text: "Likes window seats", Tags: []string{"preference", "seat"}},
			{Type: "user_data", Text: "Likes night trains", Tags: []string{"preference"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var found []client.Item
	for item, err := range w.Memory(ctx, client.MemorySearch{Text: "seat", Tags: []string{"preference", "seat"}, User: "alice", Order: "importance"}) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, item)
	}
	if len(found) != 1 || found[0].Text != "Likes window seats" || found[0].Session != "trip" || found[0].User != "alice" {
		t.Fatalf("%+v", found)
	}
	if err := w.ForgetItem(ctx, found[0].ID); err != nil {
		t.Error(err)
	}
	if err := w.ForgetItem(ctx, found[0].ID); !errors.Is(err, client.NotFound) {
		t.Errorf("forgotten twice: %v", err)
	}
	for item, err := range s.Memory(ctx, client.MemorySearch{Type: "user_data", MinImportance: 0.01}) {
		if err != nil || item.Text != "Likes night trains" {
			t.Errorf("%+v, %v", item, err)
		}
	}
	for _, want := range []bool{true, false} {
		receipt, err := w.Forget(ctx, client.ForgetUser{User: "alice", Preview: want})
		if err != nil || receipt.What != "user" || receipt.Preview != want || receipt.Turns != 3 || len(receipt.Removed) == 0 || receipt.At.IsZero() {
			t.Errorf("%+v, %v", receipt, err)
		}
	}
}

func TestGoingBack(t *testing.T) {
	s := start(t, turnstone.Config{}, server.Config{}).session(t, "s")
	ctx := t.Context()
	say := func(text string) {
		t.Helper()
		if _, err := s.Append(ctx, client.Draft{Role: "user", Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	say("Keep this.")
	if _, err := s.Prompt(ctx, client.PromptOptions{Model: model, Context: 8192}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(ctx, client.Undo{}); !errors.Is(err, client.Conflict) {
		t.Errorf("nothing to undo: %v", err)
	}
	taken, err := s.Snapshot(ctx, "before")
	if err != nil || taken.Name != "before" || taken.Turn != 1 || taken.Auto {
		t.Errorf("%+v, %v", taken, err)
	}
	say("Forget this.")
	back, err := s.Restore(ctx, client.Restore{Snapshot: "before", Model: model, Context: 8192})
	if err != nil || back.ID != taken.ID || back.Left != 1 {
		t.Errorf("%+v, %v", back, err)
	}
	if turns, err := s.History(ctx, client.HistoryOptions{}); err != nil || len(turns) != 1 {
		t.Errorf("%+v, %v", turns, err)
	}
	if turns, err := s.History(ctx, client.HistoryOptions{All: true}); err != nil || len(turns) != 2 || !turns[1].OffPath {
		t.Errorf("%+v, %v", turns, err)
	}
	undone, err := s.Undo(ctx, client.Undo{Model: model, Context: 8192})
	if err != nil || undone.Undone != "restore" || undone.Epoch <= back.Opened {
		t.Errorf("%+v, %v", undone, err)
	}
	listed := 0
	for snapshot, err := range s.Snapshots(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if snapshot.ID == taken.ID {
			listed++
		}
	}
	if listed != 1 {
		t.Errorf("it is listed %d times", listed)
	}
	receipt, err := s.Forget(ctx, client.Forget{Seqs: []int64{2}})
	if err != nil || receipt.What != "turns" || receipt.Turns != 1 || receipt.Sessions[0] != "s" {
		t.Errorf("%+v, %v", receipt, err)
	}
	for turn, err := range s.Query(ctx, client.TurnQuery{From: 2}) {
		if err != nil || strings.Contains(turn.Text(), "Forget this.") {
			t.Errorf("%+v, %v", turn, err)
		}
	}
}
