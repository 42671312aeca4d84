package recall_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestHitsSayAllThatIsKnownOfThem(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "ann")
	w.talk(key, "user: Which port does billing use?", "agent: It uses 8443.", "user: Thanks")
	hits := w.search(key, recall.Query{Text: "Billing's ports", Limit: 1})
	if len(hits) != 1 {
		t.Fatal(hits)
	}
	h := hits[0]
	if len(h.Turns) != 1 || h.Turns[0].Seq != 1 || h.Turns[0].Session != "main" || h.Score <= 0 {
		t.Errorf("%+v", h)
	}
	h.Turns, h.Score = nil, 0
	want := recall.Hit{
		Session: "main", Time: start, Role: turn.User, Text: "Which port does billing use?", Why: []string{"billing's", "ports"}, Citation: "[turn 1]",
	}
	if diff := cmp.Diff(want, h, cmp.AllowUnexported(recall.Hit{})); diff != "" {
		t.Error(diff)
	}
}

func TestUnitsAreWhole(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "")
	w.talk(key, "user: How is the weather in Lisbon?")
	w.append(key,
		turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "Let me see.", ToolCalls: []turn.ToolCall{
			{ID: "a", Name: "weather", Arguments: `{"city":"Lisbon"}`}, {ID: "b", Name: "tide", Arguments: `{}`},
		}}},
		turn.Draft{Role: turn.System, Content: turn.Result{Name: "weather", CallID: "a", Status: turn.CallOK, Result: `"drizzle"`}},
		turn.Draft{Role: turn.System, Content: turn.Result{Name: "tide", CallID: "b", Status: turn.CallError}},
	)
	w.talk(key, "agent: It is wet.")
	hits := w.search(key, recall.Query{Text: "drizzle", Limit: 1})
	if len(hits) != 1 || hits[0].Citation != "[turns 2-4]" || hits[0].Role != turn.Agent || len(hits[0].Turns) != 3 {
		t.Fatalf("%+v", hits)
	}
	want := "Let me see.\ncalled weather {\"city\":\"Lisbon\"}\ncalled tide {}\nweather returned ok \"drizzle\"\ntide returned error"
	if hits[0].Text != want {
		t.Errorf("%q, want %q", hits[0].Text, want)
	}
	// The unit is one hit, however many of its turns match.
	got := w.cited(key, recall.Query{Text: "weather tide Lisbon drizzle"})
	if diff := cmp.Diff([]string{"[turns 2-4]", "[turn 1]", "[turn 5]"}, got); diff != "" {
		t.Error(diff)
	}

	w.append(key, turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "c", Name: "telescope", Arguments: `{}`}}}})
	if got := w.cited(key, recall.Query{Text: "telescope"}); len(got) > 0 && got[0] == "[turn 6]" {
		t.Errorf("a call that still waits for its result was found: %v", got)
	}
}

func TestMessagesAreWhole(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "")
	w.talk(key, "user: Hello")
	var parts []turn.Draft
	for i := range 40 {
		parts = append(parts, turn.Draft{Role: turn.User, MessageID: "m", Content: turn.Text{Text: fmt.Sprintf("part %d", i)}})
	}
	parts[20].Content = turn.Image{MediaType: "image/png", Alt: "a heron", Blob: turn.Blob{Data: []byte("png")}}
	w.append(key, parts...)
	w.append(key, turn.Draft{Role: turn.User, MessageID: "n", Content: turn.Text{Text: "another message"}})
	for _, query := range []string{"heron", "0", "39"} {
		hits := w.search(key, recall.Query{Text: query, Limit: 1})
		if len(hits) != 1 || hits[0].Citation != "[turns 2-41]" || len(hits[0].Turns) != 40 {
			t.Fatalf("%s: %v", query, citations(hits))
		}
		if text := hits[0].Text; !strings.HasPrefix(text, "part 0\npart 1\n") || !strings.Contains(text, "\n[image: a heron]\n") || !strings.HasSuffix(text, "\npart 39") {
			t.Errorf("%s: %q", query, text)
		}
	}
}

func TestWhatIsNeverAHit(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "")
	w.talk(key, "user: The heron stands at the gate.", "agent: Noted.", "user: Where is the heron?")
	w.append(key, turn.Draft{Role: turn.System, Kind: turn.KindSummary, Covers: turn.Range{From: 1, To: 2}, Content: turn.Text{Text: "A heron stands at the gate."}})
	other := w.create("other", "")
	w.talk(other, "user: A heron of another session.")
	got := w.cited(key, recall.Query{Text: " Where is the heron? "})
	if diff := cmp.Diff([]string{"[turn 1]", "[turn 2]"}, got); diff != "" {
		t.Errorf("found are the summary, the query itself or another session's: %s", diff)
	}
	got = w.cited(key, recall.Query{Text: "the heron", Exclude: []turn.Range{{From: 2, To: 2}, {From: 4}}})
	if diff := cmp.Diff([]string{"[turn 3]", "[turn 1]"}, got); diff != "" {
		t.Errorf("excluded: %s", diff)
	}
}

func TestAUnitIsExcludedAsAWhole(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "")
	w.append(key,
		turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "a", Name: "look", Arguments: `{}`}}}},
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "hurry"}},
		turn.Draft{Role: turn.System, Content: turn.Result{Name: "look", CallID: "a", Status: turn.CallOK, Result: `"heron"`}},
	)
	if got := w.cited(key, recall.Query{Text: "look", Exclude: []turn.Range{{From: 3}}}); len(got) != 1 || got[0] != "[turn 2]" {
		t.Errorf("%v", got)
	}
}

func TestThePathIsFollowed(t *testing.T) {
	w := newWorld(t)
	key, other := w.create("main", "ann"), w.create("other", "ann")
	w.talk(key, "user: heron one", "user: heron two", "user: heron three")
	w.talk(other, "user: heron four", "user: heron five")
	asked := map[string]int{}
	q := recall.Query{Text: "heron", Scope: recall.OfUser, Path: func(_ context.Context, s turn.SessionInfo) ([]turn.Range, error) {
		asked[s.Session]++
		if s.Session == "main" {
			return []turn.Range{{From: 1, To: 1}, {From: 3}}, nil
		}
		return nil, nil
	}}
	got := w.cited(key, q)
	if len(got) != 4 || strings.Contains(strings.Join(got, " "), "[turn 2]") {
		t.Errorf("%v", got)
	}
	if diff := cmp.Diff(map[string]int{"main": 1, "other": 1}, asked); diff != "" {
		t.Error(diff)
	}
	broken := errors.New("broken")
	q.Path = func(context.Context, turn.SessionInfo) ([]turn.Range, error) { return nil, broken }
	if _, err := w.try(key, q); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// TestNothingIsFoundBesideWhatWasLeftBehind: turns around one that the session went back behind do not answer in its place.
func TestNothingIsFoundBesideWhatWasLeftBehind(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "ann")
	w.talk(key, "user: good morning", "agent: good morning to you", "user: a heron stands there", "agent: so it does")
	back := func(context.Context, turn.SessionInfo) ([]turn.Range, error) {
		return []turn.Range{{From: 1, To: 2}}, nil
	}
	if got := w.cited(key, recall.Query{Text: "heron", Path: back}); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	if got := w.cited(key, recall.Query{Text: "heron"}); len(got) < 2 {
		t.Errorf("without going back: %v", got)
	}
}

func TestScopes(t *testing.T) {
	w := newWorld(t)
	home := w.create("home", "ann")
	w.talk(home, "user: heron at home")
	w.talk(w.create("second", "ann"), "user: heron of hers")
	w.talk(w.create("third", "bob"), "user: heron of his")
	for scope, want := range map[recall.Scope][]string{
		"":               {"[turn 1]"},
		recall.OfSession: {"[turn 1]"},
		recall.OfUser:    {"[turn 1 of session second]", "[turn 1]"},
		recall.OfTenant:  {"[turn 1 of session third]", "[turn 1 of session second]", "[turn 1]"},
	} {
		if diff := cmp.Diff(want, w.cited(home, recall.Query{Text: "heron", Scope: scope})); diff != "" {
			t.Errorf("%q: %s", scope, diff)
		}
	}
}

func TestAForkFindsWhatItSharesOnce(t *testing.T) {
	w := newWorld(t)
	parent := w.create("parent", "ann")
	w.talk(parent, "user: heron one", "user: heron two", "user: heron three")
	fork := turn.Key{Tenant: "acme", Session: "fork"}
	w.update(func(tx store.Tx) error {
		_, err := turn.Fork(t.Context(), tx.Log(), parent, 2, turn.SessionInfo{Key: fork}, tx.Now())
		return err
	})
	w.talk(fork, "user: heron four")
	if diff := cmp.Diff([]string{"[turn 2]", "[turn 1]", "[turn 3]"}, w.cited(fork, recall.Query{Text: "heron"})); diff != "" {
		t.Error(diff)
	}
	got := w.cited(fork, recall.Query{Text: "heron", Scope: recall.OfTenant})
	if len(got) != 4 || strings.Count(strings.Join(got, " "), "of session parent") != 3 {
		t.Errorf("%v", got)
	}
	// What the parent left behind when it went back is still the fork's.
	back := func(_ context.Context, s turn.SessionInfo) ([]turn.Range, error) {
		if s.Session == "parent" {
			return []turn.Range{{From: 1, To: 1}, {From: 4}}, nil
		}
		return nil, nil
	}
	got = w.cited(fork, recall.Query{Text: "heron", Scope: recall.OfTenant, Path: back})
	slices.Sort(got)
	if diff := cmp.Diff([]string{"[turn 1 of session parent]", "[turn 2]", "[turn 3]"}, got); diff != "" {
		t.Error(diff)
	}
	// What the fork shows is excluded as the parent's too.
	got = w.cited(fork, recall.Query{Text: "heron", Scope: recall.OfTenant, Exclude: []turn.Range{{From: 1}}})
	if diff := cmp.Diff([]string{"[turn 3 of session parent]"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhoAndWhenInALog(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "")
	w.talk(key, "user: the heron is grey", "agent: the heron is grey")
	for query, want := range map[string]string{
		"what did I say of the heron": "[turn 1]", "what did you say of the heron": "[turn 2]", "what did I tell you of the heron": "[turn 2]",
	} {
		if got := w.cited(key, recall.Query{Text: query}); got[0] != want {
			t.Errorf("%q: %v", query, got)
		}
	}
	dated := w.create("dated", "")
	for range 3 {
		w.talk(dated, "user: a heron", "agent: yes", "user: fine", "user: oh", "user: well", "user: so")
		w.clock.put(w.clock.now().AddDate(0, 1, 0))
	}
	if got := w.cited(dated, recall.Query{Text: "the heron of April 2026"}); got[0] != "[turn 7]" {
		t.Errorf("%v", got)
	}
}

func TestTheRecentIsPreferredAmongEquals(t *testing.T) {
	w := newWorld(t)
	first := w.create("first", "ann")
	second := w.create("second", "ann")
	w.talk(second, "user: a heron")
	w.clock.put(w.clock.now().AddDate(0, 0, 40))
	w.talk(first, "user: a heron")
	if got := w.cited(first, recall.Query{Text: "heron", Scope: recall.OfUser}); got[0] != "[turn 1]" {
		t.Errorf("%v", got)
	}
}

func TestRefusals(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "")
	for field, q := range map[string]recall.Query{
		"query": {Text: " ?! "}, "limit": {Text: "x", Limit: 201}, "scope": {Text: "x", Scope: recall.OfUser},
	} {
		var refused *recall.FieldError
		if _, err := w.try(key, q); !errors.As(err, &refused) || refused.Name != field || refused.Fix == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
	for field, q := range map[string]recall.Query{"limit": {Text: "x", Limit: -1}, "scope": {Text: "x", Scope: "all"}} {
		var refused *recall.FieldError
		if _, err := w.try(key, q); !errors.As(err, &refused) || refused.Name != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if got := w.cited(key, recall.Query{Text: "anything"}); len(got) > 0 {
		t.Errorf("in an empty session: %v", got)
	}
}

// What is shown is no hit, but its words find what stands beside it.
func TestWhatIsShownIsNoHit(t *testing.T) {
	w := newWorld(t)
	key := w.create("main", "")
	turns := w.append(key, turn.Draft{Role: turn.User, Content: turn.Text{Text: "Where does the heron stand?"}})
	w.talk(key, "agent: At the gate.")
	w.remember(key, "The user asked for a heron.", 1, turns[0].ID)
	shown := []turn.Range{{From: 1, To: 1}}
	if got := w.cited(key, recall.Query{Text: "my heron"}); len(got) != 2 || got[0] != "[turn 1]" {
		t.Errorf("%v", got)
	}
	if diff := cmp.Diff([]string{"[turn 2]"}, w.cited(key, recall.Query{Text: "my heron", Shown: shown})); diff != "" {
		t.Error(diff)
	}
}

func TestAsks(t *testing.T) {
	for text, want := range map[string]bool{"": false, "?!": false, "What was that?": false, "And the heron?": true, "42": true} {
		if got := recall.Asks(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
