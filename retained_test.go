package turnstone_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/scenario"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

func said(input, reply string) commit.Exchange {
	return commit.Exchange{Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: input}}, {Role: turn.Agent, Content: turn.Text{Text: reply}},
	}}
}

// TestWhatHasExpiredIsSweptOfAllTenants, also of those that this engine was never asked for.
func TestWhatHasExpiredIsSweptOfAllTenants(t *testing.T) {
	clock := scenario.NewClock()
	st := mem.New(mem.Config{Clock: clock.Now})
	before := open(t, staying{st}, turnstone.Config{Clock: clock.Now})
	for i := range 70 {
		eng, err := before.ForTenant(fmt.Sprint("tenant-", i))
		if err != nil {
			t.Fatal(err)
		}
		ex := said("hello", "yes")
		ex.Candidates = []memory.Candidate{{Type: memory.ScratchItem, Text: "active for a day"}}
		if _, err := session(t, eng, "talk").Commit(t.Context(), ex); err != nil {
			t.Fatal(err)
		}
	}
	clock.Advance(25 * time.Hour)
	eng := open(t, staying{st}, turnstone.Config{Clock: clock.Now})
	if swept, err := eng.Sweep(t.Context()); err != nil || swept != (turnstone.Swept{Archived: 70}) {
		t.Errorf("swept %+v, %v", swept, err)
	}
}

// TestWhatHasExpiredIsSweptAndNotDelivered: exports are kept for 7 days, traces for 90, items as their policy
// says.
func TestWhatHasExpiredIsSweptAndNotDelivered(t *testing.T) {
	clock := scenario.NewClock()
	eng := open(t, mem.New(mem.Config{Clock: clock.Now}), turnstone.Config{Clock: clock.Now})
	chat := session(t, eng, "talk")
	one := 1.0
	ex := said("old", "yes")
	ex.Candidates = []memory.Candidate{
		{Type: memory.Observation, Text: "a week", Given: memory.Given{Goals: &one, User: &one, Novelty: &one, Confidence: &one, Actionability: &one}},
		{Type: memory.UserData, Text: "for good", Source: memory.FromUser},
		{Type: memory.ScratchItem, Text: "active for a day"},
	}
	old, err := chat.Commit(t.Context(), ex)
	if err != nil || len(old.Episodes) != 3 {
		t.Fatalf("%+v, %v", old, err)
	}
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.Advance(25 * time.Hour)
	if swept, err := eng.Sweep(t.Context()); err != nil || swept != (turnstone.Swept{Archived: 1}) {
		t.Errorf("after a day: swept %+v, %v", swept, err)
	}
	for archived, want := range map[bool]int{false: 2, true: 3} {
		if page, err := chat.Remembered(t.Context(), memory.Search{Archived: archived}); err != nil || len(page.Items) != want {
			t.Errorf("%d items with archived %t, %v", len(page.Items), archived, err)
		}
	}
	clock.Advance(8 * 24 * time.Hour)
	fresh, err := chat.Commit(t.Context(), said("new", "yes"))
	if err != nil {
		t.Fatal(err)
	}
	swept, err := eng.Sweep(t.Context())
	if err != nil || swept.Items != 2 || swept.Exports != 1 || swept.TraceParts != 0 {
		t.Errorf("swept %+v, %v", swept, err)
	}
	if _, err := eng.Trace(t.Context(), old.TurnID); err != nil {
		t.Errorf("the trace is gone: %v", err)
	}
	got := make(chan string, 8)
	_, err = eng.Subscribe(t.Context(), "late", func(_ context.Context, m event.Message) (int, error) {
		got <- m.ID
		return 0, nil
	}, bus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if id := <-got; id != fresh.ExportID {
		t.Errorf("delivered %s, want %s", id, fresh.ExportID)
	}
	if letters, err := eng.DeadLetters(t.Context(), "", 10); err != nil || len(letters) != 0 {
		t.Errorf("dead letters %+v, %v", letters, err)
	}
	clock.Advance(trace.Keep)
	if swept, err := eng.Sweep(t.Context()); err != nil || swept.TraceParts == 0 {
		t.Errorf("swept %+v, %v", swept, err)
	}
}

func TestForgottenItemsAreMissingInExports(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	chat := session(t, eng, "talk")
	ex := said("my code is 1234", "noted")
	ex.Candidates = []memory.Candidate{{Type: memory.UserData, Text: "the code is 1234", Source: memory.FromUser}}
	res, err := chat.Commit(t.Context(), ex)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := eng.ForgetItems(t.Context(), res.Episodes[0].ID, "nothing"); n != 1 || err != nil {
		t.Errorf("%d forgotten, %v", n, err)
	}
	export, err := eng.Export(t.Context(), res.ExportID)
	if err != nil || len(export.Episodes) != 0 || len(export.Missing) != 1 || export.Missing[0] != "item "+res.Episodes[0].ID {
		t.Errorf("export %+v, %v", export, err)
	}
	if page, err := eng.Remembered(t.Context(), memory.Search{Text: "code"}); err != nil || len(page.Items) != 0 {
		t.Errorf("remembered %+v, %v", page, err)
	}
}

func TestEndedSessionsAreAnnounced(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	chat := session(t, eng, "talk")
	if _, err := chat.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, err := eng.Events(t.Context(), "talk", "", 10)
	if err != nil || len(events) != 1 || events[0].Kind != event.SessionEnded {
		t.Errorf("announced %+v, %v", events, err)
	}
}
