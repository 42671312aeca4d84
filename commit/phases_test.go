package commit_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func full(v float64) memory.Given {
	return memory.Given{Goals: &v, User: &v, Confidence: &v, Novelty: &v, Actionability: &v}
}

func TestTC11ImportantStateIsSelected(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		ex := talk("deploy it", "done")
		ex.Candidates = []memory.Candidate{{Type: memory.Event, Text: "the deploy went out", Given: full(0.51)}}
		res := w.commit(ex)
		export := w.export(res.ExportID)
		if len(export.Episodes) != 1 || export.Episodes[0].Text != "the deploy went out" || export.Episodes[0].Importance != 0.51 {
			t.Errorf("exported %+v", export.Episodes)
		}
	})
}

func TestTC12UnimportantStateIsFiltered(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		ex := talk("deploy it", "done")
		ex.Candidates = []memory.Candidate{{Type: memory.Event, Text: "a cursor blinked", Given: full(0.29)}}
		res := w.commit(ex)
		export := w.export(res.ExportID)
		if len(export.Episodes) != 0 || len(w.items()) != 0 {
			t.Errorf("exported %+v, stored %q", export.Episodes, w.items())
		}
		if len(export.Dropped) != 1 || export.Dropped[0].Reason != memory.Unimportant || export.Dropped[0].Importance != 0.29 {
			t.Errorf("dropped %+v", export.Dropped)
		}
	})
}

func TestTC13RetentionPoliciesEnforced(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		ex := talk("look it up", "found it")
		ex.Candidates = []memory.Candidate{{Type: memory.ToolResult, Text: "3 results", Given: full(0.9)}}
		res := w.commit(ex)
		item := w.export(res.ExportID).Episodes[0]
		if got := item.Expires.Sub(item.Created); got != 30*24*time.Hour {
			t.Errorf("kept for %s", got)
		}
	})
}

func TestTC21EpisodicCommit(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		ex := talk("I like tea", "noted")
		ex.Candidates = []memory.Candidate{fact("likes tea"), fact("lives in Oslo")}
		w.commit(ex)
		if got := w.items(); !slices.Equal(got, []string{"likes tea", "lives in Oslo"}) {
			t.Errorf("remembered %q", got)
		}
	})
}

func TestTC22FCCommit(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		ex := talk("ship 1.0", "on it")
		ex.Intentions = cortex.Changes{
			Goals:   []cortex.GoalChange{{ID: "ship", Title: ptr("Ship 1.0"), Progress: ptr(0.5)}},
			Actions: []cortex.ActionChange{{ID: "tag", Title: ptr("Tag it"), Type: ptr(cortex.ActionType("agent_task")), Owner: ptr(cortex.OwnerAgent)}},
		}
		w.commit(ex)
		ex = talk("and?", "it is out")
		ex.Intentions = cortex.Changes{
			Goals:   []cortex.GoalChange{{ID: "ship", Status: ptr(cortex.GoalCompleted)}},
			Actions: []cortex.ActionChange{{ID: "tag", Status: ptr(cortex.ActionInProgress)}, {ID: "tag", Status: ptr(cortex.ActionDone), AddEvidence: []string{"v1.0"}}},
		}
		res := w.commit(ex)
		if len(res.Refused) > 0 {
			t.Errorf("refused %+v", res.Refused)
		}
		goal, ok := w.intentions().Goal("ship")
		if !ok || goal.Status != cortex.GoalCompleted || goal.Version != 2 {
			t.Errorf("goal %+v", goal)
		}
		if _, ok := w.intentions().Action("tag"); !ok {
			t.Error("the action is gone")
		}
		fc := w.export(res.ExportID).Cortex
		if !slices.Equal(fc.CompletedGoals, []string{"ship"}) || !slices.Equal(fc.CompletedActions, []string{"tag"}) || len(fc.UpdatedGoals) != 1 ||
			!strings.HasPrefix(fc.UpdatedGoals[0].Change, `{"version":2,"title":"Ship 1.0","status":"completed","changes":`) {
			t.Errorf("exported %+v", fc)
		}
	})
}

func TestTC23ScratchPageCommit(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		ex := talk("hm", "I see")
		ex.Scratch.Put = []scratch.Change{
			{ID: "a", Type: ptr("alert"), Content: ptr("disk is nearly full")},
			{ID: "b", Type: ptr("alert"), Content: ptr("clock is off"), Status: ptr(scratch.Resolved)},
		}
		w.commit(ex)
		ex = talk("ok", "good")
		ex.Scratch = scratch.Changes{Archive: []string{"a"}, Clear: []string{"b"}}
		res := w.commit(ex)
		if left := w.page().Observations(); len(left) != 0 {
			t.Errorf("left on the page: %+v", left)
		}
		got := w.export(res.ExportID).Scratch
		if !slices.Equal(got.Archived, []string{"a"}) || !slices.Equal(got.Cleared, []string{"b"}) {
			t.Errorf("exported %+v", got)
		}
	})
}

func TestTheStatesOfAnExchange(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	w.commit(talk("a", "b"))
	want := []commit.State{commit.Completing, commit.ReadyForCommit, commit.Committing, commit.Complete}
	if !slices.Equal(w.states, want) {
		t.Errorf("states %v, want %v", w.states, want)
	}
	for _, test := range []struct {
		name string
		ex   commit.Exchange
		want commit.State
	}{
		{"interrupted", commit.Exchange{Turns: talk("a", "b").Turns, Interrupted: true}, commit.Interrupted},
		{"failed", commit.Exchange{Turns: talk("a", "b").Turns[:1], Failure: "the model is gone"}, commit.Failed},
	} {
		if res := w.commit(test.ex); res.Status != test.want {
			t.Errorf("%s: %s", test.name, res.Status)
		}
	}
}

func TestOnlyTurnsThatAreNotInTheLogAreWritten(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		opened := w.say("hello").ID
		res := w.commit(commit.Exchange{Opened: opened, Turns: []turn.Draft{{Role: turn.Agent, Content: turn.Text{Text: "hi"}}}})
		if res.TurnID != opened {
			t.Errorf("opened by %s, want %s", res.TurnID, opened)
		}
		got := w.turns()
		if len(got) != 3 || got[0] != "hello" || got[1] != "hi" || !strings.HasPrefix(got[2], "[User: hello") {
			t.Errorf("log %q", got)
		}
		export := w.export(res.ExportID)
		if export.Turn.UserInput != "hello" || export.Turn.AssistantResponse != "hi" || len(export.TurnIDs) != 2 {
			t.Errorf("export %+v", export.Turn)
		}
	})
}

func newWorldOnMem(t *testing.T, c commit.Config) *world {
	return newWorld(t, newMem(), c)
}

// Who forgets a turn finds by it the exports that tell of it.
func TestAnExportSaysFromWhichTurnToWhichItTells(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	var got []int64
	told := func(res commit.Result) {
		w.view(func(tx store.Tx, info turn.SessionInfo) error {
			row, err := tx.Outbox().Export(t.Context(), key.Tenant, res.ExportID)
			if got = append(got, row.First, row.Last); row.Segment != info.Segment {
				t.Errorf("it is of segment %d", row.Segment)
			}
			return err
		})
	}
	ask := turn.Draft{Role: turn.User, Content: turn.Text{Text: "and then?"}}
	told(w.commit(talk("hello", "hi")))
	opened := w.append(ask, ask).ID
	told(w.commit(commit.Exchange{Opened: opened, Turns: talk("", "nothing").Turns[1:]}))
	told(w.commit(talk("good", "bye")))
	ask.IdempotencyKey = "once"
	w.append(ask)
	w.say("well?")
	told(w.commit(commit.Exchange{Turns: []turn.Draft{ask}}))
	// The last is the summary of the exchange.
	if want := []int64{1, 3, 4, 7, 8, 10, 11, 13}; !slices.Equal(got, want) {
		t.Errorf("exports tell of turns %v, want %v", got, want)
	}
}

// A reminder that is answered when it is overdue is answered, not escalated.
func TestALateReminderThatIsAnsweredIsNotEscalated(t *testing.T) {
	for name, test := range map[string]struct {
		answers string
		answer  *cortex.ActionStatus
		want    cortex.ActionStatus
	}{
		"answered":   {"r", ptr(cortex.ActionDone), cortex.ActionDone},
		"not":        {"r", nil, cortex.ActionEscalated},
		"another is": {"other", ptr(cortex.ActionSent), cortex.ActionEscalated},
	} {
		t.Run(name, func(t *testing.T) {
			var late atomic.Int64
			w := newWorldOnMem(t, commit.Config{Clock: func() time.Time { return time.Now().Add(time.Duration(late.Load())) }})
			for _, step := range []struct {
				change cortex.ActionChange
				late   time.Duration
			}{
				{cortex.ActionChange{ID: "r", Type: ptr(cortex.Reminder), Title: ptr("call the bank")}, 0},
				{cortex.ActionChange{ID: "r", Status: ptr(cortex.ActionSent)}, 0},
				{cortex.ActionChange{ID: test.answers, By: cortex.ActorUser, Status: test.answer, AddEvidence: []string{"said so"}}, cortex.EscalateAfter + time.Hour},
			} {
				late.Store(int64(step.late))
				ex := talk("q", "a")
				ex.Intentions.Actions = []cortex.ActionChange{{ID: "other", Type: ptr(cortex.Reminder), Title: ptr("write to Ann")}, step.change}
				if res := w.commit(ex); res.Status != commit.Complete {
					t.Errorf("%s: refused %+v", res.Status, res.Refused)
				}
			}
			if a, _ := w.intentions().Action("r"); a.Status != test.want {
				t.Errorf("%+v, want it %s", a, test.want)
			}
		})
	}
}

// Who is told that there is something to publish cannot fail what is committed by then.
func TestARelayThatPanicsCostsNothing(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Persisted: func() { panic("no relay") }})
	if res := w.commit(talk("hello", "hi")); res.ExportID == "" || len(w.turns()) != 3 {
		t.Errorf("%+v, log %q", res, w.turns())
	}
}

// An exchange that only closes what is in the log has its summary, also where nothing was said in words.
func TestExchangesWithoutNewTurns(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	for i, d := range []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "hello"}}, {Role: turn.User, Content: turn.Action{Name: "click"}}} {
		res, seq := w.commit(commit.Exchange{Opened: w.append(d).ID}), int64(2*i+1)
		if len(res.Turns) != 1 || res.Turns[0].Covers != (turn.Range{From: seq, To: seq}) || len(w.turns()) != 2*i+2 {
			t.Errorf("%+v, log %q", res, w.turns())
		}
	}
}

// A session that had ended goes on with what is said in it, and that is announced.
func TestACommitReopensASession(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().LockSession(t.Context(), key)
		if err != nil {
			return err
		}
		info.Status = turn.Ended
		return tx.Log().UpdateSession(t.Context(), info)
	})
	for range 2 {
		w.commit(talk("hello", "hi"))
	}
	if got := w.events(); len(got) != 1 || got[0].Kind != event.SessionReopened || got[0].Session != key.Session {
		t.Errorf("announced %+v", got)
	}
}

// The digest has a line of every exchange, whether they were committed by one process or by two.
func TestTheDigestGrowsWithEveryExchange(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	w.commit(talk("one", "yes"))
	w.commit(talk("two", "yes"))
	w.withStore(w.store)
	w.commit(talk("three", "yes"))
	w.commit(talk("four", "yes"))
	w.view(func(tx store.Tx, info turn.SessionInfo) error {
		digest, err := commit.LoadDigest(t.Context(), tx, info)
		if row, _, err := tx.Memory().Digest(t.Context(), key.Tenant, info.Segment); err != nil || time.Since(row.At) > time.Minute {
			t.Errorf("it is of %s, %v", row.At, err)
		}
		if text := digest.Rolling.String(); len(digest.Rolling.Lines) != 4 || !strings.Contains(text, "one") || !strings.Contains(text, "two") {
			t.Errorf("%q", text)
		}
		return err
	})
}

// The export tells daemons who was there, what it took and how it went.
func TestAnExportTellsOfTheWholeExchange(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	plain := w.export(w.commit(talk("hello", "hi")).ExportID)
	if plain.AgentID != "agent" || plain.Turn.Urgency != commit.Medium || plain.Turn.Duration != 0 {
		t.Errorf("what nobody said: %+v", plain)
	}
	ex := talk("hello", "hi")
	ex.AgentID, ex.Urgency, ex.Started, ex.BudgetUsed, ex.BudgetTotal = "butler", commit.High, time.Now().Add(-time.Hour), 3, 4
	ex.DaemonOutputs, ex.Warnings = []commit.DaemonOutput{{Daemon: "clock", Output: "noon"}, {Daemon: "clock", Output: "and a bit"}}, []string{"slow"}
	ex.Candidates = []memory.Candidate{{Type: memory.Event, Text: "a cursor blinked", Given: full(0.1)}}
	res := w.commit(ex)
	got := w.export(res.ExportID)
	if got.Tenant != key.Tenant || got.Session != key.Session || got.User != "ann" || got.AgentID != "butler" || got.Turn.Urgency != commit.High {
		t.Errorf("who was there: %+v", got)
	}
	if got.Turn.Duration < time.Hour || got.Turn.Duration > 2*time.Hour || got.Metadata.BudgetUsed != 3 || got.Metadata.BudgetTotal != 4 {
		t.Errorf("what it took: %+v, %+v", got.Turn, got.Metadata)
	}
	if !slices.Equal(got.Metadata.DaemonsActivated, []string{"clock"}) || !slices.Equal(got.Metadata.Warnings, []string{"slow"}) {
		t.Errorf("how it went: %+v", got.Metadata)
	}
	if len(res.Dropped) != 1 || !slices.Equal(got.Dropped, res.Dropped) {
		t.Errorf("dropped %+v, exported %+v", res.Dropped, got.Dropped)
	}
}
