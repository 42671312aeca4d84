package commit_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// What an export says is made before the update. Whatever happens between, it says what was written.
func TestTheExportSaysWhatWasWritten(t *testing.T) {
	keyed := turn.Draft{Role: turn.User, IdempotencyKey: "once", Content: turn.Text{Text: "q2"}}
	for name, test := range map[string]struct {
		before  func(w *world) // with the first exchange committed
		between func(w *world, p *commit.Pipeline, tx store.Tx, info turn.SessionInfo) error
		change  func(*commit.Exchange)
		fail    string
		goals   string // what the export says of the goal; empty: nothing
		note    string // and of the note
		silent  bool   // it says nothing of the note
	}{
		"nothing": {goals: `"version":2`},
		"a turn was appended": {before: func(w *world) {
			w.append(turn.Draft{Role: turn.System, Content: turn.Text{Text: "by the way"}})
		}, goals: `"version":2`},
		"the input stands in the log under its key": {
			before: func(w *world) {
				w.append(keyed)
				w.append(turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "wait"}})
			},
			change: func(ex *commit.Exchange) { ex.Turns[0] = keyed }, goals: `"version":2`,
		},
		"the goal was changed": {
			between: func(w *world, p *commit.Pipeline, tx store.Tx, info turn.SessionInfo) error {
				state, err := cortex.Load(w.Context(), tx.Cortex(), key.Tenant, info.Lineage(info.Head), true)
				if err != nil {
					return err
				}
				staged := state.Stage(cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Progress: ptr(0.5)}}}, tx.Now(), nil)
				p.Changed(key)
				return cortex.Write(w.Context(), tx.Cortex(), key.Tenant, info.Segment, info.Head, staged)
			}, goals: `"version":3`,
		},
		"the note was written by somebody else": {
			between: func(w *world, p *commit.Pipeline, tx store.Tx, info turn.SessionInfo) error {
				page, err := scratch.Load(w.Context(), tx.Scratch(), key.Tenant, info.Segment, tx.Now())
				if err != nil {
					return err
				}
				staged := page.Stage(scratch.Changes{Put: []scratch.Change{{ID: "o2", Type: ptr("alert"), Content: ptr("n0"), Source: ptr("theirs")}}}, tx.Now(), nil)
				p.Changed(key)
				return scratch.Write(w.Context(), tx.Scratch(), key.Tenant, info.Segment, staged)
			},
			change: func(ex *commit.Exchange) { ex.Intentions = cortex.Changes{} }, note: "theirs",
		},
		"the goal had ended": {
			before: func(w *world) {
				ex := talk("q", "a")
				ex.Intentions.Goals = []cortex.GoalChange{{ID: "g", Status: ptr(cortex.GoalCompleted)}}
				w.commit(ex)
			},
			change: func(ex *commit.Exchange) { ex.Intentions.Goals[0].Status = ptr(cortex.GoalActive) },
		},
		"the note had been archived": {
			before: func(w *world) {
				ex := talk("q", "a")
				ex.Scratch = scratch.Changes{Put: []scratch.Change{{ID: "o2", Type: ptr("alert"), Content: ptr("n0")}}, Archive: []string{"o2"}}
				w.commit(ex)
			},
			goals: `"version":2`, silent: true,
		},
		"memory is put off":  {fail: "InsertItems", goals: `"version":2`},
		"history is put off": {fail: "InsertTurns", goals: `"version":2`},
		"history is put off, and the exchange failed": {
			fail: "InsertTurns", change: func(ex *commit.Exchange) { ex.Failure = "no model" }, goals: `"version":2`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := commit.Config{Deadlines: patient, Retries: []time.Duration{time.Hour}}
			var w *world
			armed := false
			config.Evaluator = commit.EvaluateFunc(func(ctx context.Context, s *commit.Situation) (commit.Assessment, error) {
				if armed && test.between != nil {
					w.update(func(tx store.Tx) error {
						info, err := tx.Log().LockSession(ctx, key)
						if err != nil {
							return err
						}
						return test.between(w, w.pipeline, tx, info)
					})
				}
				return commit.Rules{}.Evaluate(ctx, s)
			})
			w = newWorld(t, newMem(), config)
			faults := faulty.New(w.store)
			w.withStore(faults)
			w.commit(everything(1))
			if test.before != nil {
				test.before(w)
			}
			faults.Set(failAt(test.fail))
			ex := everything(2)
			if test.change != nil {
				test.change(&ex)
			}
			armed = true
			res := w.commit(ex)
			faults.Set(nil)
			e := w.export(res.ExportID)
			if e.Turn.UserInput != "q2" || e.Turn.AssistantResponse != "a2" || e.Status != res.Status {
				t.Errorf("the export says %q, %q, %s", e.Turn.UserInput, e.Turn.AssistantResponse, e.Status)
			}
			if e.Conversation.UserInput != "q2" || e.Conversation.AssistantResponse != "a2" || e.Conversation.TurnSummary == "" {
				t.Errorf("it says of the conversation: %+v", e.Conversation)
			}
			if len(e.Episodes) != 1 || e.Episodes[0].Text != "f2" {
				t.Errorf("it says of memory: %v", e.Episodes)
			}
			if e.Timestamp.IsZero() || time.Since(e.Timestamp) > time.Hour {
				t.Errorf("it is of %s", e.Timestamp)
			}
			tells(t, "goals", e.Cortex.UpdatedGoals, test.goals, test.goals == "")
			tells(t, "notes", e.Scratch.Updated, test.note, test.silent)
		})
	}
}

// tells checks that there is one update that says so, or none.
func tells(t *testing.T, what string, updates []commit.Update, text string, none bool) {
	t.Helper()
	if none && len(updates) == 0 || !none && len(updates) == 1 && strings.Contains(updates[0].Change, text) {
		return
	}
	t.Errorf("it says of %s: %v", what, updates)
}
