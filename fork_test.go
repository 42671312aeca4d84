package turnstone_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestForkDoesNotChangeAfterItWasMade: what the parent does at the fork point, before its next turn,
// is the parent's alone.
func TestForkDoesNotChangeAfterItWasMade(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	parent := session(t, eng, "parent")
	at := say(t, parent, turn.User, "one")
	believe := func(s *turnstone.Session, change func(*dialogue.State) error) {
		t.Helper()
		if _, err := s.Believe(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	complete := func(s *dialogue.State) error {
		_, err := s.Complete("")
		s.Pop()
		return err
	}
	believe(parent, func(s *dialogue.State) error {
		_, _, err := s.StackOn("done", "done", dialogue.Options{})
		return err
	})
	believe(parent, complete)
	believe(parent, func(s *dialogue.State) error {
		_, _, err := s.StackOn("open", "open", dialogue.Options{})
		return err
	})
	child, err := parent.Fork(t.Context(), turnstone.Head, turn.SessionInfo{})
	if err != nil {
		t.Fatal(err)
	}
	before := bundle(t, child)
	believe(parent, func(s *dialogue.State) error { return s.Attach(at.ID) })
	believe(parent, complete)
	if after := bundle(t, child); after != before {
		t.Errorf("the fork changed with its parent:\n%s\n%s", before, after)
	}
	believe(child, complete)
	flows, err := child.CompletedFlows(t.Context())
	if err != nil || !slices.Equal(flows, []string{"done", "open"}) {
		t.Errorf("completed %v, %v", flows, err)
	}
	grandchild, err := child.Fork(t.Context(), turnstone.Head, turn.SessionInfo{})
	if err != nil {
		t.Fatal(err)
	}
	if flows, err = grandchild.CompletedFlows(t.Context()); err != nil || !slices.Equal(flows, []string{"done", "open"}) {
		t.Errorf("the fork of the fork has completed %v, %v", flows, err)
	}
	rev, err := grandchild.State(t.Context(), turnstone.Head)
	if err != nil || rev.Number != 1 {
		t.Errorf("revision %d, %v; want 1, after revision 0: numbers have no gaps", rev.Number, err)
	}
}

func bundle(t *testing.T, s *turnstone.Session) string {
	t.Helper()
	var b strings.Builder
	if _, err := s.WriteBundle(t.Context(), &b, replay.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, records, _ := strings.Cut(b.String(), "\n") // the first line has the time
	records, _, _ = strings.Cut(records, `{"end"`)
	return records
}

func TestForkAtTheBeginningHasARevisionZero(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	parent := session(t, eng, "parent")
	say(t, parent, turn.User, "one")
	child, err := parent.Fork(t.Context(), 0, turn.SessionInfo{})
	if err != nil {
		t.Fatal(err)
	}
	rev, err := child.State(t.Context(), turnstone.Head)
	if err != nil || rev.Number != 0 {
		t.Errorf("revision %d, %v", rev.Number, err)
	}
	bundle(t, child)
}

func TestForkRefusesAnInheritedTurnID(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	parent := session(t, eng, "parent")
	first := say(t, parent, turn.User, "one")
	child, err := parent.Fork(t.Context(), turnstone.Head, turn.SessionInfo{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = child.Append(t.Context(), turn.Draft{ID: first.ID, Role: turn.User, Content: turn.Text{Text: "again"}})
	if !errors.Is(err, turn.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
}

func TestAttachNeedsATurnOfTheSession(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s, other := session(t, eng, "a"), session(t, eng, "b")
	foreign := say(t, other, turn.User, "elsewhere")
	for _, id := range []string{"no-such-turn", foreign.ID} {
		_, err := s.Believe(t.Context(), func(s *dialogue.State) error {
			if _, _, err := s.StackOn("f", "f", dialogue.Options{}); err != nil {
				return err
			}
			return s.Attach(id)
		})
		if !errors.Is(err, turn.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", id, err)
		}
	}
}

func TestCreateTakesOnlyADescription(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s, err := eng.Create(t.Context(), turn.SessionInfo{Head: 5, ForkSeq: 3, Parent: "x", Segment: 9, Status: turn.Ended, Title: "kept"})
	if err != nil {
		t.Fatal(err)
	}
	if first := say(t, s, turn.User, "one"); first.Seq != 1 {
		t.Errorf("the first turn is %d", first.Seq)
	}
	if info, err := s.Info(t.Context()); err != nil || info.Title != "kept" || info.Parent != "" {
		t.Errorf("%+v, %v", info, err)
	}
}
