package turnstone_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// mind is what is known of a session besides its log.
type mind struct {
	Goals   []cortex.Goal
	Actions []cortex.PendingAction
	Notes   []scratch.Observation
	Items   []memory.Episode
	Digest  memory.Digest
	Trace   trace.TurnTrace
}

func mindOf(t *testing.T, eng *turnstone.Engine, s *turnstone.Session, turnID string) mind {
	t.Helper()
	ctx := t.Context()
	aims, err := s.Intentions(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	notes, err := s.Notes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Remembered(ctx, memory.Search{Archived: true})
	if err != nil {
		t.Fatal(err)
	}
	m := mind{Goals: aims.Goals(), Actions: aims.Actions(), Notes: notes.Observations()}
	for _, item := range found.Items {
		m.Items = append(m.Items, item.Episode)
	}
	if m.Digest, err = s.Digest(ctx); err != nil {
		t.Fatal(err)
	}
	if m.Trace, err = eng.Trace(ctx, turnID); err != nil {
		t.Fatal(err)
	}
	return m
}

// exchange commits an input and its reply, with changes of goals and notes and something to remember.
func exchange(t *testing.T, s *turnstone.Session, input, reply string) {
	t.Helper()
	title, kind := "Plant a tree", "fact"
	_, err := s.Commit(t.Context(), commit.Exchange{
		Turns: []turn.Draft{
			{Role: turn.User, Content: turn.Text{Text: input}},
			{Role: turn.Agent, Content: turn.Text{Text: reply}},
		},
		Intentions: cortex.Changes{
			Goals:   []cortex.GoalChange{{ID: "tree", Title: &title, Why: input}},
			Actions: []cortex.ActionChange{{Title: &input}},
		},
		Candidates: []memory.Candidate{{Type: memory.UserData, Text: input, Source: memory.FromUser}},
		Scratch:    scratch.Changes{Put: []scratch.Change{{Type: &kind, Content: &reply}}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func healthy(t *testing.T, st store.Store) {
	t.Helper()
	if _, err := doctor.Examine(t.Context(), st, func(f doctor.Finding) { t.Errorf("doctor: %+v", f) }, func(int64) {}); err != nil {
		t.Error(err)
	}
}

func TestACommittedSessionMovesWhole(t *testing.T) {
	ctx := t.Context()
	there := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, there, "alice")
	exchange(t, s, "I like oaks. Please plant one.", "An oak it is. We decided to plant it in May.")
	exchange(t, s, "My garden is small.", "Then a dwarf oak.")
	if err := there.Publish(ctx); err != nil {
		t.Fatal(err)
	}
	page, err := s.Query(ctx, turn.Query{})
	if err != nil {
		t.Fatal(err)
	}
	opened := page.Turns[0].ID
	var file bytes.Buffer
	b, err := s.WriteBundle(ctx, &file, replay.WriteOptions{Compress: true})
	if err != nil {
		t.Fatal(err)
	}
	if b.Intentions < 3 || b.Observations == 0 || b.MemoryItems == 0 || b.Digests != 1 || b.TraceParts == 0 {
		t.Fatalf("bundle %+v", b)
	}

	st := mem.New(mem.Config{})
	reader := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil }
	if _, err := replay.Import(ctx, st, reader, replay.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	// What was announced there is not announced again here.
	nobody := errors.New("something was published")
	if n, err := st.Publish(ctx, 10, store.Publication{Send: func(context.Context, []event.Export) (int, error) { return 0, nobody }}); n != 0 || err != nil {
		t.Errorf("published %d, %v", n, err)
	}
	healthy(t, st)

	here := open(t, st, turnstone.Config{})
	moved := session(t, here, "alice")
	want, got := mindOf(t, there, s, opened), mindOf(t, here, moved, opened)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-there +here):\n%s", diff)
	}
	exchange(t, moved, "And a bench.", "Under the oak.")
	grown := mindOf(t, here, moved, opened)
	if len(grown.Actions) != 3 || len(grown.Notes) != 3 || grown.Digest.ThroughSeq <= got.Digest.ThroughSeq {
		t.Errorf("after one more exchange: %+v", grown)
	}
	healthy(t, st)
}
