package commit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// textsOf are what turns say, summaries in brackets.
func textsOf(turns []turn.Turn) (texts []string) {
	for _, t := range turns {
		text := t.Content.Searchable()
		if t.Kind == turn.KindSummary {
			text = "[]"
		}
		texts = append(texts, text)
	}
	return texts
}

// An exchange whose turns were put off is known again while they wait and when they are written, wherever that is, and is told with
// its own turns.
func TestWhatWasPutOffIsKnownAgain(t *testing.T) {
	for name, before := range map[string]int{"the first of its session": 0, "behind another": 1} {
		t.Run(name, func(t *testing.T) {
			onStores(t, func(t *testing.T, open func(commit.Config) *world) {
				w := open(commit.Config{Retries: []time.Duration{time.Hour}})
				for range before {
					w.commit(talk("first", "one"))
				}
				faults := faulty.New(w.store)
				w.withStore(faults)
				faults.Set(failAt("InsertTurns"))
				ex := used(turn.CallOK, `["a.txt"]`)
				ex.ExportID = w.config.NewID()
				w.commit(ex)
				faults.Set(nil)
				other := ex
				other.Turns = slices.Clone(ex.Turns)
				other.Turns[2].Content = turn.Result{Name: "ls", CallID: "1", Status: turn.CallOK, Result: `[]`}
				refused := func(when string) {
					t.Helper()
					if _, err := w.pipeline.Commit(t.Context(), key, other); !errors.Is(err, turn.ErrConflict) {
						t.Errorf("another result %s: %v", when, err)
					}
				}
				again := w.commit(ex)
				if !again.Repeated || len(again.Turns) > 0 || !slices.Equal(again.Deferred, []commit.Target{commit.History}) {
					t.Errorf("while it waits: %+v", again)
				}
				refused("while it waits")
				w.say("in between")
				w.settleAll()
				w.commit(talk("after it", "two"))
				again = w.commit(ex)
				want := len(ex.Turns) + 1
				if !again.Repeated || len(again.Turns) != want || again.Turns[want-1].Kind != turn.KindSummary || len(again.Deferred) > 0 {
					t.Errorf("when it is written: %+v", again)
				}
				refused("when it is written")
			})
		})
	}
}

// A commit that is repeated tells what waits, whatever it is, until it is written.
func TestARepeatedCommitTellsWhatWaits(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
	ex := everything(1)
	ex.ExportID = w.config.NewID()
	w.putOff(ex, "InsertItems", "PutObservation")
	if again := w.commit(ex); !slices.Equal(again.Deferred, []commit.Target{commit.Memory, commit.Scratch}) {
		t.Errorf("put off %v", again.Deferred)
	}
	w.settleAll()
	if again := w.commit(ex); len(again.Deferred) > 0 {
		t.Errorf("put off %v in the end", again.Deferred)
	}
}

// What was given up does not wait, and is compared all the same, until it is swept.
func TestWhatWasGivenUpIsKnownAgain(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
	ex := talk("hello", "hi")
	ex.ExportID = w.config.NewID()
	w.putOff(ex, "InsertTurns")
	d := w.deferrals()[0]
	w.update(func(tx store.Tx) error {
		d.Escalated = tx.Now()
		return tx.Outbox().PutDeferral(t.Context(), d)
	})
	if again := w.commit(ex); !again.Repeated || len(again.Deferred) > 0 || again.Reply != "hi" {
		t.Errorf("%+v", again)
	}
	other := ex
	other.Turns = talk("hello", "go away").Turns
	if _, err := w.pipeline.Commit(t.Context(), key, other); !errors.Is(err, turn.ErrConflict) {
		t.Errorf("another reply: %v", err)
	}
	w.update(func(tx store.Tx) error {
		return tx.Outbox().DeleteDeferral(t.Context(), key.Tenant, d.ExportID, d.Target)
	})
	if again := w.commit(ex); !again.Repeated || len(again.Turns) > 0 {
		t.Errorf("when it is swept: %+v", again)
	}
}

// An exchange one of whose turns stood in the log long before it is told with its own turns.
func TestAnExchangeWithAnOldKeyIsToldWithItsOwnTurns(t *testing.T) {
	for name, between := range map[string]int{"soon": 3, "late": 2*commit.MaxTurns + 1} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOnMem(t, commit.Config{})
			w.append(turn.Draft{Role: turn.User, Content: turn.Text{Text: "list them"}, IdempotencyKey: "q"})
			for i := range between {
				w.say(fmt.Sprint(i))
			}
			ex := used(turn.CallOK, `["a.txt"]`)
			ex.Turns[0] = turn.Draft{Role: turn.User, Content: turn.Text{Text: "list them"}, IdempotencyKey: "q"}
			ex.ExportID = w.config.NewID()
			first := w.commit(ex)
			if again := w.commit(ex); !again.Repeated || !slices.Equal(textsOf(again.Turns), textsOf(first.Turns)) {
				t.Errorf("%q, and first %q", textsOf(again.Turns), textsOf(first.Turns))
			}
		})
	}
}

// What was said before in other places is no part of what is compared: each turn that is given must be one of the exchange, in its
// order, whatever it says.
func TestEveryTurnIsCompared(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := commit.Exchange{ExportID: w.config.NewID(), Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: "hello"}},
		{Role: turn.System, Content: turn.Text{Text: "Be kind."}},
		{Role: turn.Agent, Content: turn.Text{Text: "let me see", Thinking: "hm"}},
		{Role: turn.Agent, Content: turn.Text{Text: "hi"}},
	}}
	w.commit(ex)
	for name, change := range map[string]func([]turn.Draft) []turn.Draft{
		"system text": func(d []turn.Draft) []turn.Draft { d[1].Content = turn.Text{Text: "Be rude."}; return d },
		"earlier reply": func(d []turn.Draft) []turn.Draft {
			d[2].Content = turn.Text{Text: "let me be", Thinking: "hm"}
			return d
		},
		"thought": func(d []turn.Draft) []turn.Draft { d[2].Content = turn.Text{Text: "let me see"}; return d },
		"order":   func(d []turn.Draft) []turn.Draft { d[1], d[2] = d[2], d[1]; return d },
		"role":    func(d []turn.Draft) []turn.Draft { d[1].Role = turn.User; return d },
		"form":    func(d []turn.Draft) []turn.Draft { d[0].Content = turn.Speech{Transcript: "hello"}; return d },
		"one more": func(d []turn.Draft) []turn.Draft {
			return append(d, turn.Draft{Role: turn.System, Content: turn.Text{Text: "never said"}})
		},
		"one twice": func(d []turn.Draft) []turn.Draft { return append(d, d[3]) },
		"no turn":   func(d []turn.Draft) []turn.Draft { d[0].Content = turn.Text{}; return d },
	} {
		other := ex
		other.Turns = change(slices.Clone(ex.Turns))
		if _, err := w.pipeline.Commit(t.Context(), key, other); !errors.Is(err, turn.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, given := range map[string][]turn.Draft{"the same": ex.Turns, "the first": ex.Turns[:1], "the last": ex.Turns[3:]} {
		less := ex
		less.Turns = given
		if res, err := w.pipeline.Commit(t.Context(), key, less); err != nil || !res.Repeated {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}

// The Responder's reply is none of what was given: with or without one the same exchange is known again, and another is not.
func TestWhatIsGivenIsComparedWhoeverReplied(t *testing.T) {
	better := commit.RespondFunc(func(context.Context, *commit.Situation) (string, error) { return "better", nil })
	onSharedStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w, other := open(commit.Config{Deadlines: patient, Responder: better}), open(commit.Config{})
		ex := talk("hello", "hi")
		ex.ExportID = w.config.NewID()
		w.commit(ex)
		if again := other.commit(ex); !again.Repeated || again.Reply != "better" {
			t.Errorf("by one without: %+v", again)
		}
		ex.Turns[1].Content = turn.Text{Text: "go away"}
		for _, by := range []*world{w, other} {
			if _, err := by.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, turn.ErrConflict) {
				t.Errorf("another reply: %v", err)
			}
		}
	})
}

// What was forgotten may have been anything, and the rest of the exchange is compared all the same.
func TestWhatWasForgottenIsNotCompared(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("hello", "hi")
	ex.ExportID = w.config.NewID()
	w.forget(w.commit(ex).Turns[0])
	ex.Turns = talk("whatever", "hi").Turns
	if res, err := w.pipeline.Commit(t.Context(), key, ex); err != nil || !res.Repeated {
		t.Errorf("%+v, %v", res, err)
	}
	ex.Turns = talk("whatever", "go away").Turns
	if _, err := w.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, turn.ErrConflict) {
		t.Errorf("another reply: %v", err)
	}
}

// Of an exchange whose export was swept only the row is left.
func TestAnExchangeThatWasSweptIsKnownAgain(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	ex := talk("hello", "hi")
	ex.ExportID, ex.Errors = w.config.NewID(), []string{"a tool was away"}
	first := w.commit(ex)
	w.publish(w.pipeline)
	w.update(func(tx store.Tx) error {
		_, err := tx.Outbox().SweepExports(t.Context(), tx.Now().Add(time.Hour), 100)
		return err
	})
	w.commit(talk("something", "else"))
	if again := w.commit(ex); !again.Repeated || again.TurnID != first.TurnID || again.Status != commit.Complete || len(again.Turns) > 0 {
		t.Errorf("%+v", again)
	}
	// Another one is not taken for it.
	other := talk("something", "else")
	other.ExportID = ex.ExportID
	w.refuses(key, other, "something else was said or done")
}

// forget leaves of a turn only that it is there.
func (w *world) forget(gone turn.Turn) {
	w.Helper()
	table, err := store.Rewritable("turns", store.Among{Segments: []int64{1}})
	if err != nil {
		w.Fatal(err)
	}
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().LockSession(w.Context(), key)
		if err != nil {
			return err
		}
		_, err = tx.Forgetting().Rewrite(w.Context(), key.Tenant, "turns", store.Among{Segments: []int64{info.Segment}}, func(row []any) (store.Verdict, error) {
			if row[table.Position("turn_id")] != gone.ID {
				return store.Keep, nil
			}
			row[table.Position("content")] = string(turn.AppendContent(nil, turn.Forgotten{}))
			return store.Change, nil
		})
		return err
	})
}

// Whatever is given besides turns must be what was given first. Who leaves it out asks for the same exchange.
func TestWhatIsGivenBesideTurnsIsCompared(t *testing.T) {
	given := func() commit.Exchange {
		ex := talk("hello", "hi")
		ex.Errors = []string{"a tool was away"}
		ex.Candidates = []memory.Candidate{{Type: memory.UserData, Text: "likes tea"}, {Type: "gossip", Text: "hm", Given: full(0)}}
		ex.Intentions.Goals = []cortex.GoalChange{{Title: ptr("Goal A")}, {ID: "nobody's", Progress: ptr(0.5)}}
		ex.Scratch.Put = []scratch.Change{{Type: ptr("alert"), Content: ptr("note A")}}
		return ex
	}
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		ex := given()
		ex.ExportID = w.config.NewID()
		w.commit(ex)
		plain := talk("hello", "hi")
		plain.ExportID = w.config.NewID()
		w.commit(plain)
		for name, change := range map[string]func(*commit.Exchange){
			"another error":      func(ex *commit.Exchange) { ex.Errors = []string{"a tool was gone"} },
			"another text":       func(ex *commit.Exchange) { ex.Candidates[0].Text = "likes coffee" },
			"another type":       func(ex *commit.Exchange) { ex.Candidates[0].Type = memory.Observation },
			"another tag":        func(ex *commit.Exchange) { ex.Candidates[0].Tags = []string{"drinks"} },
			"another input":      func(ex *commit.Exchange) { ex.Candidates[0].Given = full(0.5) },
			"other hearsay":      func(ex *commit.Exchange) { ex.Candidates[1].Text = "hm?" },
			"one more candidate": func(ex *commit.Exchange) { ex.Candidates = append(ex.Candidates, ex.Candidates[0]) },
			"another goal":       func(ex *commit.Exchange) { ex.Intentions.Goals[0].Title = ptr("Goal B") },
			"another progress":   func(ex *commit.Exchange) { ex.Intentions.Goals[1].Progress = ptr(0.6) },
			"an action too":      func(ex *commit.Exchange) { ex.Intentions.Actions = []cortex.ActionChange{{Title: ptr("call")}} },
			"another note":       func(ex *commit.Exchange) { ex.Scratch.Put[0].Content = ptr("note B") },
			"a note archived":    func(ex *commit.Exchange) { ex.Scratch.Archive = []string{"x"} },
			"a note cleared":     func(ex *commit.Exchange) { ex.Scratch.Clear = []string{"x"} },
			"cut short":          func(ex *commit.Exchange) { ex.Interrupted = true },
		} {
			other := given()
			change(&other)
			for _, of := range []string{ex.ExportID, plain.ExportID} {
				other.ExportID = of
				if _, err := w.pipeline.Commit(t.Context(), key, other); !errors.Is(err, turn.ErrConflict) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		for name, same := range map[string]commit.Exchange{"all": ex, "none": {Turns: ex.Turns}, "some": {Turns: ex.Turns, Scratch: ex.Scratch}} {
			same.ExportID = ex.ExportID
			if res, err := w.pipeline.Commit(t.Context(), key, same); err != nil || !res.Repeated {
				t.Errorf("%s: %+v, %v", name, res, err)
			}
		}
	})
}

// Who repeats what failed, or was cut short, may say that it was cut short.
func TestWhatEndedBadlyMayBeSaidToBeCutShort(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	for name, end := range map[string]func(*commit.Exchange){
		"failed":    func(ex *commit.Exchange) { ex.Failure = "no model" },
		"cut short": func(ex *commit.Exchange) { ex.Interrupted = true },
	} {
		ex := talk(name, "hi")
		ex.ExportID = w.config.NewID()
		end(&ex)
		w.commit(ex)
		ex.Interrupted = true
		if res, err := w.pipeline.Commit(t.Context(), key, ex); err != nil || !res.Repeated {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}
