package cortex_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cortex"
)

func TestNewActions(t *testing.T) {
	for _, test := range []struct {
		typ     cortex.ActionType
		want    cortex.ActionType
		owner   cortex.Owner
		status  cortex.ActionStatus
		confirm bool
	}{
		{cortex.AgentTask, cortex.AgentTask, cortex.OwnerAgent, cortex.ActionOpen, false},
		{cortex.Research, cortex.Research, cortex.OwnerAgent, cortex.ActionOpen, false},
		{cortex.UserTask, cortex.UserTask, cortex.OwnerUser, cortex.ActionOpen, true},
		{cortex.ApprovalRequest, cortex.ApprovalRequest, cortex.OwnerUser, cortex.ActionOpen, true},
		{cortex.Reminder, cortex.Reminder, cortex.OwnerAgent, cortex.ActionScheduled, false},
		{cortex.FollowUp, cortex.FollowUp, cortex.OwnerAgent, cortex.ActionOpen, false},
		{cortex.PendingDecision, cortex.PendingDecision, cortex.OwnerUser, cortex.ActionOpen, false},
		{cortex.BackgroundJob, cortex.BackgroundJob, cortex.OwnerAgent, cortex.ActionScheduled, false},
		{cortex.Blocker, cortex.Blocker, cortex.OwnerAgent, cortex.ActionOpen, false},
		{"", cortex.UserTask, cortex.OwnerUser, cortex.ActionOpen, true},
		{"Agent_Task", cortex.UserTask, cortex.OwnerUser, cortex.ActionOpen, true},
		{"goal", cortex.UserTask, cortex.OwnerUser, cortex.ActionOpen, true},
	} {
		staged := (&cortex.State{}).Stage(actionChange("a", "", func(c *cortex.ActionChange) { c.Title, c.Type = ptr("do"), &test.typ }), start, nil)
		want := cortex.PendingAction{
			ID: "a", Type: test.want, Owner: test.owner, Title: "do", Status: test.status, RequiresConfirmation: test.confirm,
			CreatedAt: start, UpdatedAt: start, StatusAt: start, Version: 1,
		}
		got, _ := staged.Next.Action("a")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", test.typ, diff)
		}
		said := ""
		if test.typ != test.want {
			said = string(test.typ)
		}
		what := []cortex.Step{{Field: "type", From: said, To: string(test.want)}, {Field: "owner", To: string(test.owner)}, {Field: "status", To: string(test.status)}, {Field: "title", To: "do"}}
		if diff := cmp.Diff([]cortex.Audit{{By: cortex.ActorAgent, What: what}}, staged.Updates[0].Changes); diff != "" {
			t.Errorf("%q: %s", test.typ, diff)
		}
	}
}

func TestChangesOfActions(t *testing.T) {
	due := start.Add(time.Hour)
	base := (&cortex.State{}).Stage(cortex.Changes{Goals: titled("g", "Ship it").Goals, Actions: []cortex.ActionChange{
		{ID: "mine", Title: ptr("look it up"), Type: ptr(cortex.AgentTask), DueAt: &due, AddEvidence: []string{"t1"}},
		{ID: "yours", Title: ptr("sign it"), Type: ptr(cortex.UserTask)},
		{ID: "careful", Title: ptr("delete it"), Type: ptr(cortex.AgentTask), RequiresConfirmation: ptr(true), Status: ptr(cortex.ActionInProgress)},
		{ID: "over", Title: ptr("gone"), Type: ptr(cortex.AgentTask), Status: ptr(cortex.ActionCancelled)},
	}}, start, nil)
	if len(base.Refused) > 0 {
		t.Fatal(base.Refused)
	}
	later := start.Add(time.Minute)
	for _, test := range []struct {
		name, id string
		by       cortex.Actor
		change   func(*cortex.ActionChange)
		want     func(*cortex.PendingAction) // nil: nothing changes
		refuse   string
	}{
		{name: "same again", id: "mine", change: func(c *cortex.ActionChange) {
			c.Title, c.DueAt, c.AddEvidence, c.Blocking = ptr("look it up"), &due, []string{"t1"}, ptr(false)
			c.Owner, c.Type, c.Status = ptr(cortex.OwnerAgent), ptr(cortex.AgentTask), ptr(cortex.ActionOpen)
		}},
		{name: "all fields", id: "mine", change: func(c *cortex.ActionChange) {
			c.Title, c.DueAt, c.AddEvidence, c.Blocking, c.GoalID = ptr("look up"), &later, []string{"t1", "t2"}, ptr(true), ptr("g")
			c.Owner, c.RequiresConfirmation, c.Status = ptr(cortex.OwnerUser), ptr(true), ptr(cortex.ActionInProgress)
		}, want: func(a *cortex.PendingAction) {
			a.Title, a.DueAt, a.Evidence, a.Blocking, a.GoalID = "look up", later, []string{"t1", "t2"}, true, "g"
			a.Owner, a.RequiresConfirmation, a.Status, a.StatusAt = cortex.OwnerUser, true, cortex.ActionInProgress, later
		}},
		{name: "no longer due", id: "mine", change: func(c *cortex.ActionChange) { c.DueAt = &time.Time{} },
			want: func(a *cortex.PendingAction) { a.DueAt = time.Time{} }},
		{name: "zone and nanoseconds", id: "mine", change: func(c *cortex.ActionChange) {
			c.DueAt = ptr(later.In(time.FixedZone("there", 3600)).Add(7))
		}, want: func(a *cortex.PendingAction) { a.DueAt = later }},
		{name: "the user hands it over", id: "yours", by: cortex.ActorUser, change: func(c *cortex.ActionChange) { c.Owner = ptr(cortex.OwnerAgent) },
			want: func(a *cortex.PendingAction) { a.Owner = cortex.OwnerAgent }},
		{name: "the user trusts it", id: "careful", by: cortex.ActorUser, change: func(c *cortex.ActionChange) { c.RequiresConfirmation = ptr(false) },
			want: func(a *cortex.PendingAction) { a.RequiresConfirmation = false }},
		{name: "the user confirms", id: "careful", by: cortex.ActorUser, change: func(c *cortex.ActionChange) { c.Status = ptr(cortex.ActionDone) },
			want: func(a *cortex.PendingAction) { a.Status, a.StatusAt = cortex.ActionDone, later }},
		{name: "finished stays", id: "over", change: func(c *cortex.ActionChange) { c.Status = ptr(cortex.ActionCancelled) }},

		{name: "not confirmed", id: "careful", change: func(c *cortex.ActionChange) { c.Status = ptr(cortex.ActionDone) },
			refuse: `status: action "careful" becomes done by the user alone`},
		{name: "takes the user's", id: "yours", change: func(c *cortex.ActionChange) { c.Owner = ptr(cortex.OwnerAgent) },
			refuse: `owner: action "yours" is the user's; let the user hand it over`},
		{name: "needs no user", id: "careful", by: cortex.ActorSystem, change: func(c *cortex.ActionChange) { c.RequiresConfirmation = ptr(false) },
			refuse: `requires_confirmation: action "careful" waits for the user`},
		{name: "a user task needs the user", id: "yours", by: cortex.ActorUser, change: func(c *cortex.ActionChange) { c.RequiresConfirmation = ptr(false) },
			refuse: "requires_confirmation: every user_task does; leave it out"},
		{name: "other type", id: "mine", change: func(c *cortex.ActionChange) { c.Type = ptr(cortex.Blocker) },
			refuse: `type: action "mine" is of type agent_task and stays so; create another action`},
		{name: "unknown owner", id: "mine", change: func(c *cortex.ActionChange) { c.Owner = ptr(cortex.Owner("boss")) },
			refuse: `owner: "boss" is none; use agent or user`},
		{name: "unknown status", id: "mine", change: func(c *cortex.ActionChange) { c.Status = ptr(cortex.ActionStatus("half done")) },
			refuse: `status: "half done" is none; use open, in_progress, cancelled or done`},
		{name: "stale", id: "mine", change: func(c *cortex.ActionChange) { c.Version = 7 }, refuse: "version: it is at version 1 by now, not 7"},
		{name: "expected but not there", id: "nobody", change: func(c *cortex.ActionChange) { c.Version, c.Title = 1, ptr("x") },
			refuse: `version: there is none of id "nobody" to have version 1`},
		{name: "no title", id: "new", change: func(c *cortex.ActionChange) {}, refuse: `title: is missing, and there is no action "new" to change`},
		{name: "finished", id: "over", change: func(c *cortex.ActionChange) { c.Blocking = ptr(true) },
			refuse: `id: action "over" is cancelled and stays as it is`},
		{name: "goal", id: "mine", change: func(c *cortex.ActionChange) { c.GoalID = ptr("a b") }, refuse: `goal_id: "a b" holds ' '`},
		{name: "evidence", id: "mine", change: func(c *cortex.ActionChange) { c.AddEvidence = []string{""} }, refuse: "add_evidence[0]: is empty"},
		{name: "too much evidence", id: "mine", change: func(c *cortex.ActionChange) { c.AddEvidence = numbered(65) }, refuse: "add_evidence: there are 65; give at most 64"},
		{name: "much evidence", id: "mine", change: func(c *cortex.ActionChange) { c.AddEvidence = numbered(64) }, refuse: "evidence: would be 65, at most 64"},
		{name: "no text", id: "mine", change: func(c *cortex.ActionChange) { c.Title = ptr("\xff") }, refuse: "title: is not valid UTF-8"},
		{name: "endless type", id: "new", change: func(c *cortex.ActionChange) {
			c.Title, c.Type = ptr("x"), ptr(cortex.ActionType(strings.Repeat("x", cortex.MaxLine+1)))
		}, refuse: "type: is 2049 bytes long"},
		{name: "done from the start", id: "new", change: func(c *cortex.ActionChange) {
			c.Title, c.Type, c.Owner, c.Status = ptr("x"), ptr(cortex.FollowUp), ptr(cortex.OwnerUser), ptr(cortex.ActionDone)
		}, refuse: `status: action "new" is the user's`},
	} {
		t.Run(test.name, func(t *testing.T) {
			was, existed := base.Next.Action(test.id)
			staged := base.Next.Stage(actionChange(test.id, test.by, test.change), later, nil)
			if now, _ := base.Next.Action(test.id); !cmp.Equal(was, now) {
				t.Fatalf("the state itself changed: %s", cmp.Diff(was, now))
			}
			switch {
			case test.refuse != "":
				if len(staged.Refused) != 1 || !strings.Contains(staged.Refused[0].Reason, test.refuse) {
					t.Errorf("refused %v, want %s", staged.Refused, test.refuse)
				} else if r := staged.Refused[0]; r.Kind != cortex.KindAction || r.ID != test.id || !json.Valid(r.Change) {
					t.Errorf("refusal is %+v", r)
				}
			case len(staged.Refused) > 0:
				t.Errorf("refused: %s", staged.Refused[0].Reason)
			case test.want != nil:
				was, _ = base.Next.Action(test.id)
				test.want(&was)
				was.Version, was.UpdatedAt = 2, later
			}
			now, exists := staged.Next.Action(test.id)
			if diff := cmp.Diff(was, now); diff != "" || exists != existed {
				t.Error(diff)
			}
			if rows := len(staged.Rows); rows != len(staged.Updates) || (rows == 1) != (test.want != nil) {
				t.Errorf("%d rows, updated %v", rows, staged.Updates)
			}
		})
	}
}

func TestOverdue(t *testing.T) {
	reminder := func(id string) cortex.Changes {
		return cortex.Changes{Actions: []cortex.ActionChange{{ID: id, Title: ptr("r"), Type: ptr(cortex.Reminder), Status: ptr(cortex.ActionSent)}}}
	}
	state := (&cortex.State{}).Stage(reminder("late"), start, nil).Next
	state = state.Stage(reminder("soon"), start.Add(time.Microsecond), nil).Next
	state = state.Stage(cortex.Changes{Actions: []cortex.ActionChange{
		{ID: "waits", Title: ptr("r"), Type: ptr(cortex.Reminder)},
		{ID: "job", Title: ptr("j"), Type: ptr(cortex.BackgroundJob), Status: ptr(cortex.ActionRunning)},
		// A new title is no answer.
		{ID: "late", Title: ptr("remember")},
	}}, start, nil).Next
	now := start.Add(24 * time.Hour)
	changes := state.Overdue(now)
	if len(changes) != 1 || changes[0].ID != "late" || changes[0].By != cortex.ActorSystem || changes[0].Version != 2 {
		t.Fatalf("overdue: %+v", changes)
	}
	if !strings.Contains(changes[0].Why, "2026-01-27T10:00:00") {
		t.Errorf("why: %s", changes[0].Why)
	}
	staged := state.Stage(cortex.Changes{Actions: changes}, now, nil)
	if a, _ := staged.Next.Action("late"); len(staged.Refused) > 0 || a.Status != cortex.ActionEscalated {
		t.Errorf("escalated to %+v, %v", a, staged.Refused)
	}
	if len(staged.Next.Overdue(now)) > 0 {
		t.Error("escalates twice")
	}
}

// TestDueDatesCanBeReadBack: one that no document can hold would make all goals and actions unreadable.
func TestDueDatesCanBeReadBack(t *testing.T) {
	for _, due := range []string{"9999-12-31T23:59:59-05:00", "0000-01-01T00:00:00+05:00"} {
		_, err := cortex.DecodeChanges(`{"actions":[{"id":"a","title":"some day","due_at":"` + due + `"}]}`)
		if err == nil || !strings.HasPrefix(err.Error(), "actions[0].due_at: the year is ") {
			t.Errorf("%s: %v", due, err)
		}
	}
	for due, legal := range map[time.Time]bool{
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC): true, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC): false,
		time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC): true, time.Date(-1, 12, 31, 0, 0, 0, 0, time.UTC): false,
	} {
		staged := (&cortex.State{}).Stage(actionChange("a", "", func(c *cortex.ActionChange) { c.Title, c.DueAt = ptr("do"), &due }), start, nil)
		if legal != (len(staged.Rows) == 1) {
			t.Errorf("%s: refused %v", due, staged.Refused)
		}
		for _, row := range staged.Rows {
			if _, err := cortex.DecodeAction(row.Doc); err != nil {
				t.Errorf("%s: %v", due, err)
			}
		}
	}
}

// TestTheSameDueDateIsNoChange, however precisely it is given.
func TestTheSameDueDateIsNoChange(t *testing.T) {
	due := start.Add(time.Hour + 7*time.Nanosecond)
	change := actionChange("a", "", func(c *cortex.ActionChange) { c.Title, c.DueAt = ptr("do"), &due })
	state := (&cortex.State{}).Stage(change, start, nil).Next
	if again := state.Stage(change, start.Add(time.Second), nil); len(again.Rows) > 0 {
		t.Errorf("given again it makes %v", again.Rows)
	}
}

func TestEvidenceAloneIsAChange(t *testing.T) {
	state := (&cortex.State{}).Stage(actionChange("a", "", func(c *cortex.ActionChange) { c.Title = ptr("do") }), start, nil).Next
	staged := state.Stage(actionChange("a", "", func(c *cortex.ActionChange) { c.AddEvidence = []string{"the log says so"} }), start, nil)
	if len(staged.Rows) != 1 || !strings.Contains(staged.Rows[0].Change, `"the log says so"`) {
		t.Errorf("wrote %+v", staged.Rows)
	}
}

func TestTheAgentMaySayWhoseAnActionIs(t *testing.T) {
	users := (&cortex.State{}).Stage(actionChange("a", "", func(c *cortex.ActionChange) { c.Title, c.Owner = ptr("do"), ptr(cortex.OwnerUser) }), start, nil).Next
	again := actionChange("a", cortex.ActorAgent, func(c *cortex.ActionChange) { c.Title, c.Owner = ptr("do it"), ptr(cortex.OwnerUser) })
	if staged := users.Stage(again, start, nil); len(staged.Refused) > 0 {
		t.Error(staged.Refused)
	}
}
