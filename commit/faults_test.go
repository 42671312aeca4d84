package commit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

var errPlanted = errors.New("planted")

// everything is an exchange that writes to all four targets.
func everything(n int) commit.Exchange {
	ex := talk(fmt.Sprint("q", n), fmt.Sprint("a", n))
	ex.Candidates = []memory.Candidate{fact(fmt.Sprint("f", n))}
	ex.Intentions.Goals = []cortex.GoalChange{{ID: "g", Title: ptr("Goal"), Progress: ptr(float64(n) / 1000), Why: fmt.Sprint("c", n)}}
	ex.Scratch.Put = []scratch.Change{{ID: fmt.Sprint("o", n), Type: ptr("alert"), Content: ptr(fmt.Sprint("n", n))}}
	return ex
}

// there counts in how many of the four targets exchange n is, and fails if it is in one twice.
func (w *world) there(n int) (targets int) {
	w.Helper()
	has := func(list []string, text string) int {
		found := 0
		for _, s := range list {
			if s == text {
				found++
			}
		}
		return found
	}
	changes := 0
	w.view(func(tx store.Tx, info turn.SessionInfo) error {
		history, err := cortex.History(w.Context(), tx.Cortex(), key.Tenant, info.Lineage(info.Head), cortex.KindGoal, "g")
		if err != nil && !errors.Is(err, cortex.ErrNotFound) {
			return err
		}
		for _, e := range history {
			for _, a := range e.Changes {
				if a.Why == fmt.Sprint("c", n) {
					changes++
				}
			}
		}
		return nil
	})
	notes := 0
	if _, ok := w.page().Observation(fmt.Sprint("o", n)); ok {
		notes = 1
	}
	for what, count := range map[string]int{
		"input": has(w.turns(), fmt.Sprint("q", n)), "reply": has(w.turns(), fmt.Sprint("a", n)),
		"item": has(w.items(), fmt.Sprint("f", n)), "goal": changes, "note": notes,
	} {
		if count > 1 {
			w.Errorf("exchange %d: %s is there %d times", n, what, count)
		}
		targets += count
	}
	return targets
}

const allTargets = 5 // input and reply are counted apart

func TestFaultsAtEveryWrite(t *testing.T) {
	onStoresOfParts(t, func(t *testing.T, open func(*testing.T, commit.Config) *world) {
		for _, how := range []string{"error", "panic"} {
			for _, point := range faulty.Points {
				t.Run(how+"/"+point, func(t *testing.T) {
					w := open(t, commit.Config{Retries: []time.Duration{time.Hour}})
					faults := faulty.New(w.store)
					w.withStore(faults)
					w.commit(everything(1))
					fired := false
					faults.Set(func(at string) error {
						// After the update it may fail once only: the commit was made.
						if at != point || fired && point == "durable" {
							return nil
						}
						fired = true
						if how == "panic" {
							panic("planted")
						}
						return errPlanted
					})
					id := w.ids.Next(time.Now())
					ex := everything(2)
					ex.ExportID = id
					res, err := w.pipeline.Commit(t.Context(), key, ex)
					faults.Set(nil)
					if !fired {
						t.Fatal("the commit never came by")
					}
					w.checkOutcome(point, id, res, err)
					// The exchange is tried again under its id, and is there once, whatever happened before.
					if _, err := w.pipeline.Commit(t.Context(), key, ex); err != nil {
						t.Fatal(err)
					}
					w.settleDeferrals()
					if got := w.there(2); got != allTargets {
						t.Errorf("%d of %d are there in the end", got, allTargets)
					}
					if w.there(1) != allTargets {
						t.Error("the exchange before is not what it was")
					}
				})
			}
		}
	})
}

// What only some commits write leaves no half of an exchange either: its target is put off, or nothing of it is there.
func TestFaultsAtTheRarerWrites(t *testing.T) {
	onStoresOfParts(t, func(t *testing.T, open func(*testing.T, commit.Config) *world) {
		for _, how := range []string{"error", "panic"} {
			for _, point := range faulty.RarePoints {
				t.Run(how+"/"+point, func(t *testing.T) {
					w := open(t, commit.Config{Retries: []time.Duration{time.Hour}, Selection: memory.Selection{Quota: memory.Quota{Session: 1}}})
					faults := faulty.New(w.store)
					w.withStore(faults)
					forgettable := func(n int) commit.Exchange {
						ex := everything(n)
						ex.Candidates = append(ex.Candidates, memory.Candidate{Type: memory.Event, Text: fmt.Sprint("e", n), Given: full(0.9)})
						return ex
					}
					w.commit(forgettable(1))
					fired := false
					faults.Set(func(at string) error {
						if point == "PutDeferral" && at == "PutObservation" {
							return errPlanted // so that there is something to put off
						}
						if at != point {
							return nil
						}
						fired = true
						if how == "panic" {
							panic("planted")
						}
						return errPlanted
					})
					ex := forgettable(2)
					ex.ExportID = w.ids.Next(time.Now())
					ex.Intentions.Goals = append(ex.Intentions.Goals, cortex.GoalChange{ID: "nobody", Status: ptr(cortex.GoalPaused)}) // is refused
					res, err := w.pipeline.Commit(t.Context(), key, ex)
					faults.Set(nil)
					if !fired {
						t.Fatal("the commit never came by")
					}
					there := w.there(2)
					switch putOff := slices.Equal(res.Deferred, []commit.Target{commit.Memory}); {
					case point == "ArchiveItems" && (err != nil || !putOff || there != allTargets-1):
						t.Errorf("deferred %v, %v, %d of %d are there", res.Deferred, err, there, allTargets)
					case point != "ArchiveItems" && (err == nil || there != 0):
						t.Errorf("%v, and %d are there of an exchange that was not acknowledged", err, there)
					}
					if _, err := w.pipeline.Commit(t.Context(), key, ex); err != nil {
						t.Fatal(err)
					}
					w.settleDeferrals()
					if w.there(1) != allTargets || w.there(2) != allTargets {
						t.Errorf("%d and %d of %d are there in the end", w.there(1), w.there(2), allTargets)
					}
				})
			}
		}
	})
}

// checkOutcome: an acknowledged exchange is complete or says what was put off, any other is not there at all.
func (w *world) checkOutcome(point, id string, res commit.Result, err error) {
	w.Helper()
	deferred := map[string]commit.Target{
		"InsertTurns": commit.History, "Advance": commit.History, "PutDigest": commit.History,
		"InsertItems": commit.Memory, "InsertVersion": commit.Cortex, "PutObservation": commit.Scratch,
	}
	target, isTarget := deferred[point]
	switch {
	case isTarget:
		if err != nil || !slices.Equal(res.Deferred, []commit.Target{target}) || res.Status != commit.CompleteWithErrors {
			w.Fatalf("deferred %v, status %s, %v; want %s put off", res.Deferred, res.Status, err, target)
		}
		missing := 1
		if target == commit.History {
			missing = 2
		}
		if got := w.there(2); got != allTargets-missing {
			w.Errorf("%d are there, want all but %d", got, missing)
		}
		// What was put off is in the export all the same.
		export := w.export(id)
		if export.Turn.UserInput != "q2" || export.Turn.AssistantResponse != "a2" || len(export.Episodes) != 1 || export.Episodes[0].Text != "f2" {
			w.Errorf("exported %+v", export)
		}
		if len(export.Cortex.UpdatedGoals) != 1 || len(export.Scratch.Updated) != 1 {
			w.Errorf("exported goals %+v, notes %+v", export.Cortex, export.Scratch)
		}
	case point == "durable":
		if err == nil {
			w.Error("the fault was not told")
		}
		if w.there(2) != allTargets {
			w.Error("what is durable is not there")
		}
	default:
		if err == nil {
			w.Error("acknowledged")
		}
		if got := w.there(2); got != 0 {
			w.Errorf("%d are there of an exchange that was not acknowledged", got)
		}
	}
}

// settleDeferrals makes everything that was put off due, and tries it.
func (w *world) settleDeferrals() {
	w.Helper()
	w.due()
	w.pipeline.RetryDue(w.Context())
	if left := w.deferrals(); len(left) != 0 {
		w.Errorf("still put off: %+v", left)
	}
}

func (w *world) due() {
	w.Helper()
	deferrals := w.deferrals()
	w.update(func(tx store.Tx) error {
		for _, d := range deferrals {
			d.Next = tx.Now()
			if err := tx.Outbox().PutDeferral(w.Context(), d); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestTC31CommitFailureRecovery(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		// It is tried until the fault is gone, however late that is.
		w := open(commit.Config{Retries: slices.Repeat([]time.Duration{20 * time.Millisecond}, 10_000)})
		faults := faulty.New(w.store)
		w.withStore(faults)
		faults.Set(failAt("InsertItems"))
		res := w.commit(everything(1))
		if !slices.Equal(res.Deferred, []commit.Target{commit.Memory}) {
			t.Fatalf("deferred %v", res.Deferred)
		}
		w.eventually(func() bool { return w.deferrals()[0].Tries >= 3 })
		faults.Set(nil)
		w.eventually(func() bool { return len(w.deferrals()) == 0 })
		if got := w.there(1); got != allTargets {
			t.Errorf("%d of %d are there", got, allTargets)
		}
		export := w.export(res.ExportID)
		if export.Status != commit.Complete {
			t.Errorf("status %s after everything was written", export.Status)
		}
		story := w.story(res.TurnID)
		for _, want := range []string{"memory failed at try 2: planted", "memory failed at try 3: planted", "memory written at try "} {
			if !strings.Contains(story, want) {
				t.Errorf("the trace does not tell %q:\n%s", want, story)
			}
		}
	})
}

func TestTC32PartialCommit(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{Retries: []time.Duration{time.Millisecond, time.Millisecond}})
		faults := faulty.New(w.store)
		w.withStore(faults)
		faults.Set(failAt("InsertVersion"))
		res := w.commit(everything(1))
		if got := w.there(1); got != allTargets-1 {
			t.Errorf("%d of the others are there", got)
		}
		w.eventually(func() bool { return len(w.events()) > 0 })
		announced := w.events()
		if len(announced) != 1 || announced[0].Kind != event.CommitEscalated || announced[0].TurnID != res.TurnID || !strings.Contains(announced[0].Data, `"target":"cortex"`) {
			t.Errorf("announced %+v", announced)
		}
		// Nothing else suffers: the next exchange is committed as ever.
		faults.Set(nil)
		if res := w.commit(everything(2)); res.Status != commit.Complete {
			t.Errorf("the next exchange is %s", res.Status)
		}
		if story := w.story(res.TurnID); !strings.Contains(story, "cortex given up after 3 tries: goal g version 1: planted") {
			t.Errorf("the trace does not tell it:\n%s", story)
		}
	})
}

// failAt makes every write at a point fail.
func failAt(point string) func(string) error {
	return func(at string) error {
		if at == point {
			return errPlanted
		}
		return nil
	}
}

// withStore runs the pipeline on another view of the same store.
func (w *world) withStore(st store.Store) {
	w.Helper()
	if err := w.pipeline.Close(w.Context()); err != nil {
		w.Fatal(err)
	}
	config := w.config
	p, err := commit.New(w.Context(), st, config)
	if err != nil {
		w.Fatal(err)
	}
	w.pipeline = p
}

func (w *world) events() (list []event.Event) {
	w.Helper()
	w.view(func(tx store.Tx, _ turn.SessionInfo) (err error) {
		list, err = tx.Outbox().Events(w.Context(), key.Tenant, "", 0, 100)
		return err
	})
	return list
}

// story is the trace of an exchange as people see it.
func (w *world) story(turnID string) string {
	w.Helper()
	var parts []trace.TurnTrace
	w.view(func(tx store.Tx, _ turn.SessionInfo) error {
		rows, err := commit.Traces(w.Context(), tx, key.Tenant, turnID)
		if err != nil {
			return err
		}
		for _, r := range rows {
			part, err := trace.Decode(r.Body)
			if err != nil {
				return err
			}
			parts = append(parts, part)
		}
		return nil
	})
	return trace.Render(trace.Join(parts...), trace.Style{Width: 80, ASCII: true})
}

// eventually waits for something that happens in the background.
func (w *world) eventually(happened func() bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.Fatal("it never happened")
		}
	}
}
