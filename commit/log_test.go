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
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// append puts turns into the log that are of no exchange yet, and returns the first of them.
func (w *world) append(drafts ...turn.Draft) (first turn.Turn) {
	w.Helper()
	sealed := make([]turn.Sealed, len(drafts))
	for i, d := range drafts {
		d.ID = w.config.NewID()
		var err error
		if sealed[i], err = d.Seal(turn.Limits{Text: 1 << 20, Blob: 1, Calls: 1}); err != nil {
			w.Fatal(err)
		}
	}
	w.update(func(tx store.Tx) error {
		turns, err := turn.Append(w.Context(), tx.Log(), key, tx.Now(), sealed...)
		if err == nil {
			first = turns[0]
		}
		return err
	})
	return first
}

// say appends what the user says, without a commit.
func (w *world) say(text string) turn.Turn {
	w.Helper()
	return w.append(turn.Draft{Role: turn.User, Content: turn.Text{Text: text}})
}

// opened is an exchange whose input is in the log, as its caller knows.
func (w *world) opened(input, reply string) commit.Exchange {
	w.Helper()
	said := w.say(input)
	return commit.Exchange{
		Opened: said.ID, Log: []turn.Turn{said}, Turns: []turn.Draft{{Role: turn.Agent, Content: turn.Text{Text: reply}}},
	}
}

// parrot never says the same twice.
type parrot struct{ asked int }

func (p *parrot) Respond(context.Context, *commit.Situation) (string, error) {
	p.asked++
	return fmt.Sprintf("Reply %d.", p.asked), nil
}

// Where more was said than the caller knows, all of it is in the export, and the reply is the one that was handed over.
func TestMoreWasSaidThanTheCallerKnows(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		responder, traced := &parrot{}, 0
		w := open(commit.Config{Responder: responder, Traced: func(context.Context, trace.TurnTrace) { traced++ }})
		w.commit(talk("hello", "hi"))
		ex := w.opened("Buy bread.", "Yes.")
		w.say("And milk.")
		w.states, responder.asked, traced = nil, 0, 0
		var replied []string
		ex.Replied = func(reply string) { replied = append(replied, reply) }
		res := w.commit(ex)
		export := w.export(res.ExportID)
		if export.Turn.UserInput != "Buy bread.\nAnd milk." || export.Turn.AssistantResponse != "Reply 1." || res.Reply != "Reply 1." {
			t.Errorf("%+v, the export says %+v", res, export.Turn)
		}
		if !slices.Equal(replied, []string{"Reply 1."}) || responder.asked != 1 {
			t.Errorf("replied %q, the responder was asked %d times", replied, responder.asked)
		}
		if traced != 1 {
			t.Errorf("%d traces", traced)
		}
		if want := []commit.State{commit.Completing, commit.ReadyForCommit, commit.Committing, commit.Complete}; !slices.Equal(w.states, want) {
			t.Errorf("states %q", w.states)
		}
	})
}

// interrupting judges by the rules, and says something else meanwhile, as often as is left.
type interrupting struct {
	w    *world
	left int
}

func (s *interrupting) Score(c *memory.Candidate, v *memory.View) memory.Inputs {
	if s.left > 0 {
		s.left--
		s.w.say("And milk.")
	}
	return memory.Rules{}.Score(c, v)
}

// What is said while an exchange is being committed that the log has the input of is in its export as it is in its summary, whether
// its caller knows the log or not.
func TestMoreIsSaidDuringTheCommit(t *testing.T) {
	onStoresOfParts(t, func(t *testing.T, open func(*testing.T, commit.Config) *world) {
		for _, known := range []bool{false, true} {
			for _, lease := range []bool{false, true} {
				for _, times := range []int{1, 3} {
					t.Run(fmt.Sprintf("known %t, lease %t, %d times", known, lease, times), func(t *testing.T) {
						scorer, responder := &interrupting{}, &parrot{}
						how := everyEvent
						how.Scorer = scorer
						w := open(t, commit.Config{Selection: how, Responder: responder, Deadlines: patient})
						w.commit(talk("hello", "hi"))
						ex := w.opened("Buy bread.", "Yes.")
						if !known {
							ex.Log = nil
						}
						if lease {
							ex.Lease = w.config.NewID()
							w.update(func(tx store.Tx) error {
								_, err := turn.Acquire(t.Context(), tx.Log(), key, ex.Lease, tx.Now())
								return err
							})
						}
						ex.Candidates = []memory.Candidate{{Type: memory.Event, Text: "bread is bought", Source: memory.FromAgent}}
						responder.asked = 0
						scorer.w, scorer.left = w, times
						res := w.commit(ex)
						export := w.export(res.ExportID)
						if want := "Buy bread." + strings.Repeat("\nAnd milk.", times); export.Turn.UserInput != want || len(export.TurnIDs) != times+3 {
							t.Errorf("the export tells of %d turns and says %+v", len(export.TurnIDs), export.Turn)
						}
						if covers := res.Turns[len(res.Turns)-1].Covers; covers.To-covers.From+1 != int64(times+3) {
							t.Errorf("the summary covers %v", covers)
						}
						if responder.asked != 1 || len(w.items()) != 1 {
							t.Errorf("the responder was asked %d times, remembered is %q", responder.asked, w.items())
						}
					})
				}
			}
		}
	})
}

// What was committed since the exchange was opened may have been this exchange, whatever its caller thinks.
func TestAnExchangeThatIsKnownIsCommittedOnce(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		w.commit(talk("hello", "hi"))
		ex := w.opened("Buy bread.", "Yes.")
		other := w.commit(commit.Exchange{Opened: ex.Opened})
		ex.Log = append(ex.Log, other.Turns...)
		if _, err := w.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, turn.ErrConflict) {
			t.Errorf("it was committed twice: %v", err)
		}
	})
}

// An exchange that is known and whose answer was lost is found again, also where its id was not given.
func TestAnExchangeThatIsKnownAndLostIsFound(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		faults := w.loseOneAnswer()
		faults.Set(nil)
		w.commit(talk("hello", "hi"))
		ex := w.opened("Buy bread.", "Yes.")
		left := 1
		faults.Set(func(at string) error {
			if at == "durable" && left > 0 {
				left--
				return fmt.Errorf("connection lost: %w", store.ErrUnknown)
			}
			return nil
		})
		if res := w.commit(ex); res.Repeated || len(res.Turns) != 2 || res.Status != commit.Complete || w.export(res.ExportID).Turn.UserInput != "Buy bread." {
			t.Errorf("%+v", res)
		}
		if left != 0 {
			t.Error("nothing was lost")
		}
	})
}

// What a caller knows of the log without an exchange that it opens is no part of any.
func TestAKnownLogThatOpensNothing(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		w.commit(talk("hello", "hi"))
		ex := talk("Buy bread.", "Yes.")
		ex.Log = []turn.Turn{w.say("And milk.")}
		if res := w.commit(ex); w.export(res.ExportID).Turn.UserInput != "Buy bread." {
			t.Errorf("the export says %q", w.export(res.ExportID).Turn.UserInput)
		}
	})
}

// Who holds the lease is not alone with an exchange whose log was not read: another process may have committed it just now.
func TestAnExchangeThatIsKnownIsCommittedOnceByAllProcesses(t *testing.T) {
	onSharedStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w, other := open(commit.Config{}), open(commit.Config{})
		w.commit(talk("hello", "hi"))
		ex := w.opened("Buy bread.", "Yes.")
		ex.Lease = w.config.NewID()
		w.update(func(tx store.Tx) error {
			_, err := turn.Acquire(t.Context(), tx.Log(), key, ex.Lease, tx.Now())
			return err
		})
		// The turns of the other commit are put off behind these, so that the log does not grow.
		other.update(func(tx store.Tx) error {
			return tx.Outbox().PutDeferral(t.Context(), event.Deferral{
				Tenant: key.Tenant, Session: key.Session, ExportID: w.config.NewID(), Target: string(commit.History),
				Payload: "{}", Tries: 1, Error: "disk full", At: tx.Now(), Next: tx.Now().Add(time.Hour),
			})
		})
		other.commit(commit.Exchange{Opened: ex.Opened})
		if res, err := w.pipeline.Commit(t.Context(), key, ex); !errors.Is(err, turn.ErrConflict) {
			t.Errorf("it was committed twice: %+v, %v", res, err)
		}
	})
}
