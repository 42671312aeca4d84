package turnstone_test

import (
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// A turn that was said before a fork may open an exchange in each of both sessions. Whose export is asked for, that one is
// told of; by the turn that of the session where it was said, whichever was committed first, and where the other is.
func TestExchangesOfForksAreToldApart(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	parent := session(t, eng, "parent")
	opened := say(t, parent, turn.User, "one")
	fork, err := parent.Fork(t.Context(), turnstone.Head, turn.SessionInfo{Key: turn.Key{Session: "fork"}})
	if err != nil {
		t.Fatal(err)
	}
	results := make(map[string]commit.Result)
	for _, s := range []*turnstone.Session{fork, parent} {
		if results[s.ID()], err = s.Commit(t.Context(), commit.Exchange{Opened: opened.ID}); err != nil {
			t.Fatal(err)
		}
	}
	for _, when := range []string{"before they are published", "after"} {
		for id, want := range map[string]string{
			results["fork"].ExportID: "fork", results["parent"].ExportID: "parent", opened.ID: "parent",
		} {
			told, err := eng.Trace(t.Context(), id)
			if err != nil || told.Session != want || told.ExportID != results[want].ExportID {
				t.Errorf("%s: the trace of %s is that of %s in %s, %v", when, id, told.ExportID, told.Session, err)
			}
			var elsewhere []trace.Exchange
			if id == opened.ID {
				elsewhere = []trace.Exchange{{Session: "fork", ExportID: results["fork"].ExportID}}
			}
			if !slices.Equal(told.Elsewhere, elsewhere) {
				t.Errorf("%s: the trace of %s tells of others %+v, want %+v", when, id, told.Elsewhere, elsewhere)
			}
			export, err := eng.Export(t.Context(), id)
			if err != nil || export.ExportID != results[want].ExportID {
				t.Errorf("%s: the export of %s is %s, %v", when, id, export.ExportID, err)
			}
		}
		if err := eng.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
