package cortex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
)

// ways are the machines as the design gives them: every arrow, with what may follow.
var ways = map[cortex.ActionType]string{
	cortex.AgentTask:       "open→in_progress in_progress→done",
	cortex.Research:        "open→in_progress in_progress→done",
	cortex.UserTask:        "open→awaiting_confirmation awaiting_confirmation→done",
	cortex.ApprovalRequest: "open→awaiting_confirmation awaiting_confirmation→approved awaiting_confirmation→rejected",
	cortex.Reminder:        "scheduled→sent sent→done sent→escalated",
	cortex.FollowUp:        "open→scheduled open→done",
	cortex.PendingDecision: "open→decided",
	cortex.BackgroundJob:   "scheduled→running running→succeeded running→failed",
	cortex.Blocker:         "open→resolved open→waived",
}

var allActionStatuses = []cortex.ActionStatus{
	cortex.ActionOpen, cortex.ActionInProgress, cortex.ActionAwaitingConfirmation, cortex.ActionScheduled, cortex.ActionSent,
	cortex.ActionRunning, cortex.ActionDone, cortex.ActionApproved, cortex.ActionRejected, cortex.ActionEscalated, cortex.ActionDecided,
	cortex.ActionSucceeded, cortex.ActionFailed, cortex.ActionResolved, cortex.ActionWaived, cortex.ActionCancelled,
}

func legal(typ cortex.ActionType, from, to cortex.ActionStatus) bool {
	if slices.Contains(strings.Fields(ways[typ]), fmt.Sprintf("%s→%s", from, to)) {
		return true
	}
	return to == cortex.ActionCancelled && typ != cortex.Blocker && strings.Contains(" "+ways[typ], " "+string(from)+"→")
}

// path returns the statuses that lead from the beginning of a machine to one of its statuses.
func path(typ cortex.ActionType, to cortex.ActionStatus) []cortex.ActionStatus {
	begin, _, _ := strings.Cut(ways[typ], "→")
	paths := [][]cortex.ActionStatus{{cortex.ActionStatus(begin)}}
	for len(paths) > 0 {
		p := paths[0]
		paths = paths[1:]
		last := p[len(p)-1]
		if last == to {
			return p
		}
		for _, s := range allActionStatuses {
			if legal(typ, last, s) {
				paths = append(paths, append(slices.Clone(p), s))
			}
		}
	}
	return nil
}

// actionIn returns a state with one action of the type, led to the status by the user.
func actionIn(t *testing.T, typ cortex.ActionType, status cortex.ActionStatus, owner cortex.Owner) *cortex.State {
	t.Helper()
	state := &cortex.State{}
	for i, s := range path(typ, status) {
		staged := state.Stage(actionChange("a", cortex.ActorUser, func(c *cortex.ActionChange) {
			c.Status = &s
			if i == 0 {
				c.Title, c.Type, c.Owner = ptr("do it"), &typ, &owner
			}
		}), start, counter())
		if len(staged.Refused) > 0 {
			t.Fatalf("%s to %s: %s", typ, s, staged.Refused[0].Reason)
		}
		state = staged.Next
	}
	return state
}

func TestEveryStepOfEveryAction(t *testing.T) {
	completing := []cortex.ActionStatus{
		cortex.ActionDone, cortex.ActionApproved, cortex.ActionRejected, cortex.ActionDecided,
		cortex.ActionSucceeded, cortex.ActionResolved, cortex.ActionWaived,
	}
	for typ := range ways {
		for _, from := range allActionStatuses {
			if path(typ, from) == nil {
				if slices.Contains(typ.Statuses(), from) || len(typ.Next(from)) > 0 {
					t.Errorf("a %s can be %s", typ, from)
				}
				continue
			}
			for _, owner := range []cortex.Owner{cortex.OwnerAgent, cortex.OwnerUser} {
				state := actionIn(t, typ, from, owner)
				for _, to := range allActionStatuses {
					for _, by := range []cortex.Actor{cortex.ActorAgent, cortex.ActorUser, cortex.ActorSystem} {
						want := from == to || legal(typ, from, to)
						if want && from != to && slices.Contains(completing, to) {
							confirmed := typ == cortex.UserTask || typ == cortex.ApprovalRequest
							want = by == cortex.ActorUser || !confirmed && (by == cortex.ActorSystem || owner == cortex.OwnerAgent)
						}
						staged := state.Stage(actionChange("a", by, func(c *cortex.ActionChange) { c.Status = &to }), start.Add(time.Hour), nil)
						if got := len(staged.Refused) == 0; got != want {
							t.Errorf("%s of the %s, %s by the %s to %s: %v, want %v (%v)", typ, owner, from, by, to, got, want, staged.Refused)
						}
						if completed := len(staged.CompletedActions) == 1; completed != (want && from != to && slices.Contains(completing, to)) {
							t.Errorf("%s %s→%s: completed %v", typ, from, to, staged.CompletedActions)
						}
						if want && from != to {
							a, _ := staged.Next.Action("a")
							if a.Status != to || !a.StatusAt.Equal(start.Add(time.Hour)) || a.Version != int64(len(path(typ, from)))+1 {
								t.Errorf("%s %s→%s: %+v", typ, from, to, a)
							}
							if live := len(typ.Next(to)) > 0; staged.Rows[0].Live != live || a.Live() != live {
								t.Errorf("%s is live: %v, want %v", to, staged.Rows[0].Live, live)
							}
						}
					}
				}
			}
		}
	}
}

func TestEveryStepOfGoals(t *testing.T) {
	all := []cortex.GoalStatus{cortex.GoalActive, cortex.GoalPaused, cortex.GoalBlocked, cortex.GoalCompleted, cortex.GoalAbandoned}
	finished := []cortex.GoalStatus{cortex.GoalCompleted, cortex.GoalAbandoned}
	for _, from := range all {
		made := (&cortex.State{}).Stage(goalChange("g", func(c *cortex.GoalChange) { c.Title, c.Status = ptr("t"), &from }), start, nil)
		if len(made.Refused) > 0 {
			t.Fatal(made.Refused)
		}
		for _, to := range append(all, "done") {
			want := from == to || !slices.Contains(finished, from) && slices.Contains(all, to)
			staged := made.Next.Stage(goalChange("g", func(c *cortex.GoalChange) { c.Status = &to }), start.Add(time.Hour), nil)
			if got := len(staged.Refused) == 0; got != want {
				t.Errorf("%s→%s: %v, want %v (%v)", from, to, got, want, staged.Refused)
			}
			if got := slices.Contains(from.Next(), to); got != (want && from != to) {
				t.Errorf("%s: next are %v", from, from.Next())
			}
			if !want || from == to {
				if len(staged.Rows) > 0 {
					t.Errorf("%s→%s wrote %v", from, to, staged.Rows)
				}
				continue
			}
			g, _ := staged.Next.Goal("g")
			if g.Status != to || g.Live() == slices.Contains(finished, to) || staged.Rows[0].Live != g.Live() {
				t.Errorf("%s→%s: %+v", from, to, g)
			}
			if done := to == cortex.GoalCompleted; done != slices.Equal(staged.CompletedGoals, []string{"g"}) || done != (g.CompletedAt == g.UpdatedAt) || done != (g.Progress == 1) {
				t.Errorf("%s→%s: completed %v, %+v", from, to, staged.CompletedGoals, g)
			}
		}
	}
}

func TestRefusedStepSaysWhatIsLegal(t *testing.T) {
	for _, test := range []struct {
		typ      cortex.ActionType
		from, to cortex.ActionStatus
		by       cortex.Actor
		want     string
	}{
		{cortex.AgentTask, "open", "done", "agent", "status: done does not follow open for agent_task; legal: in_progress or cancelled"},
		{cortex.Blocker, "open", "cancelled", "user", `status: "cancelled" is none; use open, resolved or waived`},
		{cortex.AgentTask, "done", "cancelled", "user", "status: done is the end for agent_task; create another"},
		{cortex.UserTask, "awaiting_confirmation", "done", "system", `status: action "a" becomes done by the user alone; let the user acknowledge it`},
		{cortex.PendingDecision, "open", "decided", "agent", `status: action "a" is the user's, the agent cannot make it decided; let the user say so`},
	} {
		staged := actionIn(t, test.typ, test.from, cortex.OwnerUser).Stage(
			actionChange("a", test.by, func(c *cortex.ActionChange) { c.Status = &test.to }), start, nil)
		if len(staged.Refused) != 1 || staged.Refused[0].Reason != test.want {
			t.Errorf("%s %s→%s: %v, want %s", test.typ, test.from, test.to, staged.Refused, test.want)
		}
	}
}
