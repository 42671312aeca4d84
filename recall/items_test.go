package recall_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestWhatWasRememberedIsFound(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "ann")
	w.talk(key, "user: Let us plan the journey.", "agent: With pleasure.", "user: I want a seat.")
	id := w.remember(key, "Prefers a window seat on trains", 0.5)
	hits := w.search(key, recall.Query{Text: "Which seats on the train?", Limit: 2})
	if len(hits) != 2 {
		t.Fatal(citations(hits))
	}
	h := hits[0]
	if h.Score <= hits[1].Score {
		t.Errorf("scores %v and %v", h.Score, hits[1].Score)
	}
	h.Score = 0
	want := recall.Hit{
		Session: "main", Item: id, Time: start, Text: "Prefers a window seat on trains", Why: []string{"seats", "train"}, Citation: "[memory " + id + "]",
	}
	if diff := cmp.Diff(want, h, cmp.AllowUnexported(recall.Hit{})); diff != "" {
		t.Error(diff)
	}
}

func TestImportantItemsComeFirst(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "ann")
	important := w.remember(key, "heron at the gate", 0.9)
	other := w.remember(key, "gate with a heron", 0.1)
	want := []string{"[memory " + important + "]", "[memory " + other + "]"}
	if diff := cmp.Diff(want, w.cited(key, recall.Query{Text: "heron"})); diff != "" {
		t.Error(diff)
	}
	// Of equals the newest is first.
	newest := w.remember(key, "heron at the gate", 0.9)
	if got := w.cited(key, recall.Query{Text: "heron", Limit: 1}); got[0] != "[memory "+newest+"]" {
		t.Errorf("%v", got)
	}
}

func TestItemsOfTheScope(t *testing.T) {
	w := newWorld(t)
	home, hers, his := w.create("home", "ann"), w.create("hers", "ann"), w.create("his", "bob")
	for _, key := range []turn.Key{home, hers, his} {
		w.remember(key, "heron of "+key.Session, 0.5)
	}
	for scope, want := range map[recall.Scope]int{recall.OfSession: 1, recall.OfUser: 2, recall.OfTenant: 3} {
		hits := w.search(home, recall.Query{Text: "heron", Scope: scope})
		if len(hits) != want {
			t.Errorf("%s: %v", scope, citations(hits))
		}
		for _, h := range hits {
			if h.Text != "heron of "+h.Session {
				t.Errorf("%s: %q of session %s", scope, h.Text, h.Session)
			}
		}
	}
}

func TestItemsThatOnlyRepeatTurnsAreLeftOut(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "ann")
	said := w.append(key, turn.Draft{Role: turn.User, Content: turn.Text{Text: "A heron stands at the gate."}})
	w.remember(key, "heron seen by the user", 0.5, said[0].ID)
	w.remember(key, "A heron stands at the gate.", 0.5)
	kept := w.remember(key, "heron of last year", 0.5, w.id())
	got := w.cited(key, recall.Query{Text: "heron"})
	if len(got) != 2 || got[0] != "[turn 1]" && got[1] != "[turn 1]" || got[0] != "[memory "+kept+"]" && got[1] != "[memory "+kept+"]" {
		t.Errorf("%v", got)
	}
}

func TestItemsThatExpiredOrHaveNoText(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "ann")
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().Session(t.Context(), key)
		if err != nil {
			return err
		}
		owner := memory.Owner{Tenant: key.Tenant, Segment: info.Segment, Session: key.Session}
		gone := memory.Episode{ID: w.id(), Type: memory.UserData, Text: "heron", Created: start.AddDate(0, -1, 0), Expires: start}
		tagged := memory.Episode{ID: w.id(), Type: memory.UserData, Data: `{}`, Tags: []string{"heron"}, Created: start}
		_, err = tx.Memory().InsertItems(t.Context(), []memory.Row{gone.Row(owner), tagged.Row(owner)})
		return err
	})
	if got := w.cited(key, recall.Query{Text: "heron"}); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestADamagedItemIsNamed(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "ann")
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().Session(t.Context(), key)
		if err != nil {
			return err
		}
		e := memory.Episode{ID: w.id(), Type: memory.UserData, Text: "heron", Created: start}
		row := e.Row(memory.Owner{Tenant: key.Tenant, Segment: info.Segment, Session: key.Session})
		row.About = "{"
		_, err = tx.Memory().InsertItems(t.Context(), []memory.Row{row})
		return err
	})
	if _, err := w.try(key, recall.Query{Text: "heron"}); err == nil {
		t.Error("a damaged item was passed over")
	}
}

func TestItemsAreFoundByTheFamilyOfAWord(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "ann")
	id := w.remember(key, "bought two children a boat", 0.5)
	hits := w.search(key, recall.Query{Text: "buy"})
	if diff := cmp.Diff([]string{"[memory " + id + "]"}, citations(hits)); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff([]string{"buy"}, hits[0].Why); diff != "" {
		t.Error(diff)
	}
	exact := w.remember(key, "buy two children a boat", 0.5)
	if got := w.cited(key, recall.Query{Text: "buy", Limit: 1}); got[0] != "[memory "+exact+"]" {
		t.Errorf("%v", got)
	}
}

// TestAnItemWithAllWordsIsFound, however many newer ones have one of them.
func TestAnItemWithAllWordsIsFound(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "ann")
	id := w.remember(key, "the heron stands at the gate", 0.1)
	for range 100 {
		w.remember(key, "heron somewhere", 0.9)
		w.remember(key, "some gate", 0.9)
	}
	if got := w.cited(key, recall.Query{Text: "heron at the gate", Limit: 1}); len(got) == 0 || got[0] != "[memory "+id+"]" {
		t.Errorf("%v", got)
	}
}

// TestItemsOfTurnsThatAreNotWantedAreLeftOut: the result of a tool is remembered word for word.
func TestItemsOfTurnsThatAreNotWantedAreLeftOut(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "ann")
	said := w.append(key, turn.Draft{Role: turn.User, Content: turn.Text{Text: "heron one"}}, turn.Draft{Role: turn.User, Content: turn.Text{Text: "heron two"}})
	w.remember(key, "heron of the first", 0.5, said[0].ID)
	w.remember(key, "heron of both", 0.5, said[0].ID, said[1].ID)
	want := []string{
		w.remember(key, "heron of nothing", 0.5), w.remember(key, "heron of another log", 0.5, w.id()),
		w.remember(key, "heron of this and another log", 0.5, said[0].ID, w.id()),
	}
	for name, q := range map[string]recall.Query{
		"shown":       {Exclude: []turn.Range{{From: 1}}},
		"left behind": {Path: func(context.Context, turn.SessionInfo) ([]turn.Range, error) { return []turn.Range{{From: 3}}, nil }},
	} {
		q.Text = "heron"
		var got []string
		for _, h := range w.search(key, q) {
			got = append(got, h.Item)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
