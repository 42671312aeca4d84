package turnstone_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// busyModel does something before it replies.
type busyModel struct{ do func() }

func (busyModel) Name() string { return "busy" }

func (m busyModel) Stream(context.Context, llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		m.do()
		yield(llm.Chunk{Text: "Done.", Stop: llm.StopEnd}, nil)
	}
}

// outboxReads counts how often it is looked for an export outside of updates, as commits do and nothing in the background.
type outboxReads struct {
	store.Store
	reads atomic.Int32
}

func (c *outboxReads) View(ctx context.Context, fn func(store.Tx) error) error {
	return c.Store.View(ctx, func(tx store.Tx) error { return fn(countedOutbox{tx, c}) })
}

type countedOutbox struct {
	store.Tx
	counter *outboxReads
}

func (t countedOutbox) Outbox() event.Rows { return countedExports{t.Tx.Outbox(), t.counter} }

type countedExports struct {
	event.Rows
	counter *outboxReads
}

func (r countedExports) Export(ctx context.Context, tenant, id string) (event.Export, error) {
	r.counter.reads.Add(1)
	return r.Rows.Export(ctx, tenant, id)
}

// What an exchange consists of is known while it is under way: its commit reads nothing.
func TestACommitDoesNotReadWhatWasJustSaid(t *testing.T) {
	counted := &outboxReads{Store: sqliteStore(t, filepath.Join(t.TempDir(), "a.db"))}
	eng := open(t, counted, turnstone.Config{ModelName: "m"})
	s := session(t, eng, "s")
	model := turnstone.WithModel("busy", busyModel{func() {}}, 8192)
	for n := range 3 {
		counted.reads.Store(0)
		if _, err := s.Say(t.Context(), "Go on.", model); err != nil {
			t.Fatal(err)
		}
		if reads := counted.reads.Load(); reads != 0 {
			t.Errorf("exchange %d: %d reads", n, reads)
		}
	}
}

// What others append while the model replies is part of the exchange, whichever process they are.
func TestACommitKnowsWhatOthersSaidMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	eng := open(t, sqliteStore(t, path), turnstone.Config{ModelName: "m"})
	other := open(t, sqliteStore(t, path), turnstone.Config{})
	for name, from := range map[string]*turnstone.Engine{"this process": eng, "another": other} {
		s := session(t, eng, "of-"+name[:4])
		if _, err := s.Say(t.Context(), "Hello.", turnstone.WithModel("busy", busyModel{func() {}}, 8192)); err != nil {
			t.Fatal(err)
		}
		model := busyModel{func() {
			_, err := session(t, from, s.ID()).Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "And milk."}})
			if err != nil {
				t.Error(err)
			}
		}}
		reply, err := s.Say(t.Context(), "Buy bread.", turnstone.WithModel("busy", model, 8192))
		if err != nil {
			t.Fatal(err)
		}
		export, err := eng.Export(t.Context(), reply.Commit.ExportID)
		if err != nil {
			t.Fatal(err)
		}
		if export.Turn.UserInput != "Buy bread.\nAnd milk." {
			t.Errorf("from %s: the export says %q", name, export.Turn.UserInput)
		}
	}
}

// An exchange is committed once, also where somebody else commits it while the model replies.
func TestACommitKnowsThatOthersCommitted(t *testing.T) {
	eng := open(t, sqliteStore(t, filepath.Join(t.TempDir(), "a.db")), turnstone.Config{ModelName: "m"})
	s := session(t, eng, "s")
	if _, err := s.Say(t.Context(), "Hello.", turnstone.WithModel("busy", busyModel{func() {}}, 8192)); err != nil {
		t.Fatal(err)
	}
	model := busyModel{func() {
		var page turn.Page
		for len(page.Turns) == 0 { // the model is asked before the disk has it
			var err error
			if page, err = s.Query(t.Context(), turn.Query{Match: "Buy bread.", Limit: 1}); err != nil {
				t.Error(err)
				return
			}
		}
		if _, err := s.Commit(t.Context(), commit.Exchange{Opened: page.Turns[0].ID}); err != nil {
			t.Error(err)
		}
	}}
	if reply, err := s.Say(t.Context(), "Buy bread.", turnstone.WithModel("busy", model, 8192)); !errors.Is(err, turn.ErrConflict) {
		t.Errorf("it was committed twice: %+v, %v", reply.Commit, err)
	}
}

// turnsSeen is a responder that counts the turns of exchanges.
type turnsSeen struct{ turns []int }

func (s *turnsSeen) Respond(_ context.Context, about *commit.Situation) (string, error) {
	s.turns = append(s.turns, len(about.Turns))
	return about.Reply, nil
}

// Results that are cancelled since a client brought none are part of the exchange that its other results open, and not of
// one that a message opens.
func TestACommitKnowsWhatWasCancelled(t *testing.T) {
	counted := &outboxReads{Store: sqliteStore(t, filepath.Join(t.TempDir(), "a.db"))}
	seen := &turnsSeen{}
	eng := open(t, counted, turnstone.Config{ModelName: "m", Responder: seen})
	said := turn.Draft{Role: turn.User, Content: turn.Text{Text: "Go on."}}
	result := turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: "a", Status: turn.CallOK, Result: `"x"`}}
	calls := llm.Answer{Calls: []llm.Call{{ID: "a", Name: "f", Arguments: "{}"}, {ID: "b", Name: "f", Arguments: "{}"}}, Stop: llm.StopCalls}
	for name, test := range map[string]struct {
		input []turn.Draft
		turns int
	}{
		"results":               {[]turn.Draft{result}, 3},
		"results and a message": {[]turn.Draft{result, said}, 4},
		"a message":             {[]turn.Draft{said}, 2},
	} {
		s := session(t, eng, "of-"+strings.ReplaceAll(name, " ", "-"))
		relay := func(a llm.Answer, input ...turn.Draft) {
			r := s.Relay(turnstone.RelayOptions{Model: "m", After: turnstone.Head})
			err := r.Begin(t.Context(), input...)
			if err == nil {
				_, err = r.Begun(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(r.Answer(t.Context(), a), r.End(t.Context(), agent.Ending{State: commit.Complete})); err != nil {
				t.Fatal(err)
			}
		}
		relay(calls, said)
		counted.reads.Store(0)
		relay(llm.Answer{Text: "Done.", Stop: llm.StopEnd}, test.input...)
		if reads := counted.reads.Load(); reads != 0 {
			t.Errorf("%s: %d reads", name, reads)
		}
		if !slices.Equal(seen.turns, []int{2, test.turns}) {
			t.Errorf("%s: exchanges of %d turns, want %d in the last", name, seen.turns, test.turns)
		}
		seen.turns = nil
	}
}

func sqliteStore(t *testing.T, path string) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}
