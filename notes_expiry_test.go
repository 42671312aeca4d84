package turnstone_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/scenario"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// A note is archived a day after it last changed and kept for a week more: a summariser is told what flows found
// out, bundles have it, and neither depends on when it was swept.
func TestNotesAreArchivedAfterADay(t *testing.T) {
	var insights []string
	by := &summariser{do: func(ctx context.Context, r compress.Request) (string, error) {
		insights = r.Insights
		return extract(ctx, r)
	}}
	clock := scenario.NewClock()
	st := mem.New(mem.Config{Clock: clock.Now})
	eng := open(t, st, turnstone.Config{Clock: clock.Now, Summariser: by})
	s := session(t, eng, "s")
	converseTo(t, s, 0, 9)
	kind, content, refs := scratch.FlowInsight, "parcels leave at noon", []string{"flow:orders"}
	put := scratch.Changes{Put: []scratch.Change{{ID: "i", Type: &kind, Content: &content, ContextRefs: &refs}}}
	if _, err := s.Note(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	bundle := func() []byte {
		var b bytes.Buffer
		if _, err := s.WriteBundle(t.Context(), &b, replay.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(b.Bytes(), []byte("\n"))
		return bytes.Join(slices.DeleteFunc(lines, func(l []byte) bool { return !bytes.HasPrefix(l, []byte(`{"observation"`)) }), nil)
	}
	clock.Advance(25 * time.Hour)
	before := bundle()
	if !bytes.Contains(before, []byte(`"status":"archived"`)) {
		t.Errorf("bundled %s", before)
	}
	compressed(t, s)
	if len(insights) != 1 || insights[0] != content {
		t.Errorf("told %q", insights)
	}
	if swept, err := eng.Sweep(t.Context()); err != nil || swept.Notes != 1 || swept.Observations != 0 {
		t.Errorf("swept %+v, %v", swept, err)
	}
	if after := bundle(); !bytes.Equal(before, after) {
		t.Errorf("bundled %s\nand once it was swept %s", before, after)
	}
	if page, err := s.Notes(t.Context()); err != nil || len(page.Observations()) != 0 {
		t.Errorf("live: %v, %v", page.Observations(), err)
	}
	healthy(t, st)
	clock.Advance(7 * 24 * time.Hour)
	if swept, err := eng.Sweep(t.Context()); err != nil || swept.Notes != 0 || swept.Observations != 1 {
		t.Errorf("swept %+v, %v", swept, err)
	}
}

// What the engine remembers of a session has an end too: a failure of the day before does not make the next one a
// repetition, and what is archived by now takes no change.
func TestNotesExpireInWhatIsRemembered(t *testing.T) {
	clock := scenario.NewClock()
	eng := open(t, mem.New(mem.Config{Clock: clock.Now}), turnstone.Config{Clock: clock.Now})
	s := session(t, eng, "s")
	kind, content := "note", "the shop is closed"
	failing := func() commit.Result {
		t.Helper()
		ex := commit.Exchange{
			Turns: []turn.Draft{
				{Role: turn.User, Content: turn.Text{Text: "book"}},
				{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "c", Name: "hotel", Arguments: `{}`}}}},
				{Role: turn.System, Content: turn.Result{Name: "hotel", CallID: "c", Status: turn.CallError, Result: `"full"`}},
				{Role: turn.Agent, Content: turn.Text{Text: "no"}},
			},
			Scratch: scratch.Changes{Put: []scratch.Change{{ID: "n", Type: &kind, Content: &content}}},
		}
		res, err := s.Commit(t.Context(), ex)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := failing(); len(res.Refused) != 0 {
		t.Fatalf("%+v", res.Refused)
	}
	clock.Advance(24 * time.Hour)
	res := failing()
	story, err := eng.Trace(t.Context(), res.TurnID)
	if err != nil {
		t.Fatal(err)
	}
	if told := fmt.Sprint(story); !strings.Contains(told, "tool_failed") || strings.Contains(told, "repeated_failure") {
		t.Errorf("told %s", told)
	}
	if len(res.Refused) != 1 {
		t.Errorf("it came back: %+v", res.Refused)
	}
}

// A note that was swept stays archived also where the clock goes back after that.
func TestASweptNoteStaysArchivedWhenTheClockGoesBack(t *testing.T) {
	clock := scenario.NewClock()
	eng := open(t, mem.New(mem.Config{Clock: clock.Now}), turnstone.Config{Clock: clock.Now})
	s := session(t, eng, "s")
	kind, content := "note", "the shop is closed"
	put := func() commit.Result {
		t.Helper()
		res, err := s.Commit(t.Context(), commit.Exchange{
			Turns:   []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "book"}}, {Role: turn.Agent, Content: turn.Text{Text: "no"}}},
			Scratch: scratch.Changes{Put: []scratch.Change{{ID: "n", Type: &kind, Content: &content}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	put()
	clock.Advance(25 * time.Hour)
	if swept, err := eng.Sweep(t.Context()); err != nil || swept.Notes != 1 {
		t.Fatalf("swept %+v, %v", swept, err)
	}
	clock.Advance(-2 * time.Hour)
	if res := put(); len(res.Refused) != 1 {
		t.Errorf("it came back: %+v", res)
	}
}

// Notes that are archived are listed where all that is kept is asked for, on every store.
func TestKeptNotes(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "s")
		kind, content := "note", "slow on Mondays"
		put := scratch.Changes{
			Put:     []scratch.Change{{ID: "a", Type: &kind, Content: &content}, {ID: "b", Type: &kind, Content: &content}},
			Archive: []string{"b"},
		}
		if _, err := s.Note(t.Context(), put); err != nil {
			t.Fatal(err)
		}
		kept, err := s.KeptNotes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		live, err := s.Notes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if list := live.Observations(); len(list) != 1 || list[0].ID != "a" {
			t.Errorf("live are %+v, want a alone", list)
		}
		if list := kept.Kept(); len(list) != 2 || list[0].Status != scratch.Active || list[1].Status != scratch.Archived {
			t.Errorf("kept are %+v, want a, which is active, and b, which is archived", list)
		}
	})
}
