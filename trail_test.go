package turnstone_test

import (
	"context"
	"iter"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/turnstone-dev/turnstone"
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
	for n, want := range []int32{1, 0, 0} { // the first time nothing is known of the session
		counted.reads.Store(0)
		if _, err := s.Say(t.Context(), "Go on.", model); err != nil {
			t.Fatal(err)
		}
		if reads := counted.reads.Load(); reads != want {
			t.Errorf("exchange %d: %d reads, want %d", n, reads, want)
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

func sqliteStore(t *testing.T, path string) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}
