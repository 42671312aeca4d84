package commit

import (
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// The first three phases make values of values: there is no store here that they could ask or write to.
func TestPhasesOneToThreeNeedNoStore(t *testing.T) {
	source, now := ids.New(nil), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	config, err := Config{Clock: func() time.Time { return now }, NewID: func() string { return source.Next(now) }}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p := &Pipeline{config: config}
	goal, kind, note := "Plan the trip", "alert", "Seat 61 has no socket"
	r := &run{
		key: turn.Key{Tenant: "default", Session: "trip"}, openedBy: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
		exchange: Exchange{
			ExportID: "01ARZ3NDEKTSV4RRFFQ69G5FAW", Started: now.Add(-time.Second),
			Candidates: []memory.Candidate{{Type: memory.UserData, Text: "likes window seats"}, {Type: memory.Event, Text: "it rained"}},
			Intentions: cortex.Changes{Goals: []cortex.GoalChange{{Title: &goal}}},
			Scratch:    scratch.Changes{Put: []scratch.Change{{Type: &kind, Content: &note}}},
		},
		base: &standing{recent: new(memory.Recent)}, trace: trace.NewRecorder("trip", "01ARZ3NDEKTSV4RRFFQ69G5FAV", config.Clock),
		situation: Situation{
			Now: now, Intentions: new(cortex.State), Page: new(scratch.Page),
			Turns: []Said{
				{ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Role: turn.User, Content: turn.Text{Text: "A window seat, please."}},
				{ID: "01ARZ3NDEKTSV4RRFFQ69G5FAX", Role: turn.Agent, Content: turn.Text{Text: "Booked, seat 61."}},
			},
		},
	}
	p.complete(t.Context(), r)
	p.reflect(t.Context(), r)
	if err := p.selectState(r); err != nil {
		t.Fatal(err)
	}
	e := &r.export
	switch {
	case e.Turn.UserInput != "A window seat, please." || e.Turn.AssistantResponse != "Booked, seat 61." || !e.Turn.Success || e.Turn.Duration != time.Second:
		t.Errorf("the turn: %+v", e.Turn)
	case len(e.Episodes) != 1 || e.Episodes[0].Text != "likes window seats" || len(e.Dropped) != 1 || e.Dropped[0].Index != 1:
		t.Errorf("kept %+v, dropped %+v", e.Episodes, e.Dropped)
	case len(r.stagedIn.Rows) != 1 || len(r.stagedOn.Rows) != 1:
		t.Errorf("staged goals %+v, notes %+v", r.stagedIn.Rows, r.stagedOn.Rows)
	case !strings.Contains(e.Conversation.TurnSummary, "seat 61"):
		t.Errorf("the summary is %q", e.Conversation.TurnSummary)
	}
}
