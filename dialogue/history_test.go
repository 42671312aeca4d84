package dialogue_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/dialogue"
)

const tenant = "default"

var (
	noon    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ownSpan = []dialogue.Span{{Segment: 1, From: 1, To: math.MaxInt64}}
)

// session is one session's way through the history functions: each step appends a turn.
type session struct {
	t       *testing.T
	rows    *memory
	segment int64
	seq     int64
	rev     dialogue.Revision
}

func begin(t *testing.T) *session {
	t.Helper()
	rows := &memory{}
	rev, err := dialogue.Start(t.Context(), rows, tenant, 1, noon)
	must(t, err)
	if diff := cmp.Diff(dialogue.Revision{At: noon}, rev); diff != "" {
		t.Fatal(diff)
	}
	return &session{t: t, rows: rows, segment: 1, rev: rev}
}

// turn changes the state in one turn and saves it. The turn's id is "t" and its seq.
func (s *session) turn(change func(state *dialogue.State, turnID string)) {
	s.t.Helper()
	s.seq++
	state := s.rev.State
	change(&state, fmt.Sprint("t", s.seq))
	s.save(&state)
}

func (s *session) save(state *dialogue.State) {
	s.t.Helper()
	var err error
	s.rev, err = dialogue.Save(s.t.Context(), s.rows, tenant, s.segment, s.rev, state, s.seq, noon.Add(time.Duration(s.seq)*time.Minute))
	must(s.t, err)
}

func stack(id string) func(*dialogue.State, string) {
	return func(s *dialogue.State, turnID string) {
		s.StackOn(id, "flow "+id, dialogue.Options{})
		s.Attach(turnID)
	}
}

func stay(s *dialogue.State, turnID string) { s.Attach(turnID) }

func finish(s *dialogue.State, turnID string) {
	s.Attach(turnID)
	s.Complete("")
	s.KeepGoing(turnID)
}

// atTurn draws the state at a turn: revision number, flows and their turns.
func atTurn(t *testing.T, rows dialogue.Rows, spans []dialogue.Span, seq int64) string {
	t.Helper()
	rev, err := dialogue.At(t.Context(), rows, tenant, spans, seq)
	must(t, err)
	text := fmt.Sprintf("r%d@%d", rev.Number, rev.AfterSeq)
	for _, f := range rev.State.Stack {
		text += fmt.Sprintf(" %s:%s%v", f.ID, f.Status, f.TurnIDs)
	}
	for _, f := range rev.State.SetAside {
		text += fmt.Sprintf(" | %s:%s%v", f.ID, f.Status, f.TurnIDs)
	}
	return text
}

func TestStateAtAnyTurn(t *testing.T) {
	s := begin(t)
	s.turn(stack("a"))
	s.turn(stay)
	s.turn(stay)
	s.turn(stack("b"))
	s.turn(finish)
	s.turn(func(s *dialogue.State, turnID string) {
		s.Fallback("c", "flow c")
		s.Attach(turnID)
	})
	want := []string{
		"r0@0",
		"r1@1 a:active[t1]",
		"r1@1 a:active[t1 t2]",
		"r1@1 a:active[t1 t2 t3]",
		"r2@4 a:pending[t1 t2 t3] b:active[t4]",
		"r3@5 a:active[t1 t2 t3 t5]",
		"r4@6 c:active[t6] | a:invalid[t1 t2 t3 t5]",
		"r4@6 c:active[t6] | a:invalid[t1 t2 t3 t5]",
	}
	for seq, want := range want {
		if got := atTurn(t, s.rows, ownSpan, int64(seq)); got != want {
			t.Errorf("after turn %d: %s, want %s", seq, got, want)
		}
	}
	s.turn(func(*dialogue.State, string) {})
	if s.rows.inserted != 7 || s.rows.calls != 6 {
		t.Errorf("%d pointers were written in %d calls, want 7 in 6", s.rows.inserted, s.rows.calls)
	}
	rev, err := dialogue.At(t.Context(), s.rows, tenant, ownSpan, 4)
	must(t, err)
	if rev.At != noon.Add(4*time.Minute) || rev.AfterSeq != 4 {
		t.Errorf("revision 2 is of %v after turn %d", rev.At, rev.AfterSeq)
	}
}

func TestSaveReturnsWhatAtRebuilds(t *testing.T) {
	s := begin(t)
	for _, change := range []func(*dialogue.State, string){stack("a"), stay, stack("b"), stay, finish, finish} {
		s.turn(change)
		rev, err := dialogue.At(t.Context(), s.rows, tenant, ownSpan, s.seq)
		must(t, err)
		if diff := cmp.Diff(rev, s.rev); diff != "" {
			t.Error(diff)
		}
		if left := s.rev.State.TakeAttached(); left != nil {
			t.Errorf("%v would be written again", left)
		}
		if left := s.rev.State.TakeCompleted(); left != nil {
			t.Errorf("%v would be reported again", left)
		}
	}
}

func TestLoadLeavesOutTurnsAndGoesOn(t *testing.T) {
	s := begin(t)
	s.turn(stack("a"))
	s.turn(stay)
	rev, err := dialogue.Load(t.Context(), s.rows, tenant, ownSpan, s.seq)
	must(t, err)
	if active, ok := rev.State.Active(); !ok || active.TurnIDs != nil {
		t.Fatalf("loaded %+v, %v", active, ok)
	}
	s.rev = rev
	s.turn(stay)
	if got, want := atTurn(t, s.rows, ownSpan, s.seq), "r1@1 a:active[t1 t2 t3]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	state := s.rev.State
	must(t, state.Attach("t1"))
	s.save(&state)
	if got, want := atTurn(t, s.rows, ownSpan, s.seq), "r1@1 a:active[t1 t2 t3]"; got != want {
		t.Errorf("after attaching an old turn again: %s, want %s", got, want)
	}
}

func TestSaveTwiceWritesTheSame(t *testing.T) {
	s := begin(t)
	state := s.rev.State
	stack("a")(&state, "t1")
	for _, rows := range []*memory{{}, {}} {
		rev, err := dialogue.Save(t.Context(), rows, tenant, 1, s.rev, &state, 1, noon)
		must(t, err)
		if rev.Number != 1 || len(rows.revisions) != 1 || len(rows.turns) != 1 {
			t.Errorf("revision %d; rows %+v", rev.Number, rows)
		}
	}
}

func TestSaveIsRefused(t *testing.T) {
	s := begin(t)
	s.turn(stack("a"))
	stale := dialogue.Revision{}
	state := stale.State
	stack("b")(&state, "t2")
	_, err := dialogue.Save(t.Context(), s.rows, tenant, 1, stale, &state, 2, noon)
	if !errors.Is(err, dialogue.ErrConflict) || err.Error() != "dialogue state revision 1: conflict" {
		t.Errorf("got %v", err)
	}
	_, err = dialogue.Save(t.Context(), s.rows, tenant, 1, s.rev, &state, 0, noon)
	if want := "after_seq: 0 lies before 1, where the newest revision is; save after the newest turn"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	broken := stacked(t, "a")
	broken.Stack[0].Status = dialogue.Pending
	rows := len(s.rows.revisions)
	_, err = dialogue.Save(t.Context(), s.rows, tenant, 1, s.rev, &broken, 1, noon)
	if want := "state.stack[0].status: the top cannot be pending; make it active"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if len(s.rows.revisions) != rows {
		t.Error("a broken state was stored")
	}
	if _, err := dialogue.Start(t.Context(), s.rows, tenant, 1, noon); !errors.Is(err, dialogue.ErrConflict) {
		t.Errorf("a second start: %v", err)
	}
}

func TestHistoryReturnsTheErrorsOfTheRows(t *testing.T) {
	s := begin(t)
	s.turn(stack("a"))
	if _, err := dialogue.At(t.Context(), s.rows, "other", ownSpan, 1); !errors.Is(err, dialogue.ErrNotFound) {
		t.Errorf("another tenant's state: %v", err)
	}
	if _, err := dialogue.Fork(t.Context(), s.rows, "other", ownSpan, 2, 1, noon); !errors.Is(err, dialogue.ErrNotFound) {
		t.Errorf("a fork of another tenant's state: %v", err)
	}
	state := s.rev.State
	stay(&state, "t2")
	disk := errors.New("disk on fire")
	s.rows.failure = disk
	if _, err := dialogue.Save(t.Context(), s.rows, tenant, 1, s.rev, &state, 2, noon); !errors.Is(err, disk) || err.Error() != "flows of turn 2: disk on fire" {
		t.Errorf("save: %v", err)
	}
	if _, err := dialogue.Load(t.Context(), s.rows, tenant, ownSpan, 1); !errors.Is(err, disk) {
		t.Errorf("load: %v", err)
	}
	var last error
	n := 0
	for _, err := range dialogue.History(t.Context(), s.rows, tenant, ownSpan) {
		last = err
		n++
	}
	if !errors.Is(last, disk) || n != 3 {
		t.Errorf("history: %v after %d rows", last, n)
	}
	s.rows.failure = nil
	s.rows.revisions[1].State = `{"stack":7}`
	if _, err := dialogue.At(t.Context(), s.rows, tenant, ownSpan, 1); err == nil || err.Error() != "dialogue state revision 1: stack: expected an array, found a number" {
		t.Errorf("a damaged row: %v", err)
	}
}

// turnless fails where turn ids are read.
type turnless struct{ *memory }

func (m turnless) FlowTurns(ctx context.Context, tenant string, spans []dialogue.Span, flowID string, upTo int64) ([]string, error) {
	return nil, errors.New("no turns today")
}

func TestAtNamesTheFlowWhoseTurnsCannotBeRead(t *testing.T) {
	s := begin(t)
	s.turn(stack("a"))
	_, err := dialogue.At(t.Context(), turnless{s.rows}, tenant, ownSpan, 1)
	if want := `turns of flow "a" up to turn 1: no turns today`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestForkInheritsTheStateAsItWas(t *testing.T) {
	parent := begin(t)
	parent.turn(stack("a"))
	parent.turn(stay)
	parent.turn(stack("b"))

	pinned, err := dialogue.Fork(t.Context(), parent.rows, tenant, ownSpan, 2, 2, noon)
	must(t, err)
	if !pinned.At.Equal(noon) || parent.rows.inserted != 4 {
		t.Errorf("pinned at %v, the fourth of %d pointers", pinned.At, parent.rows.inserted)
	}
	early := &session{t: t, rows: parent.rows, segment: 2, seq: 2, rev: pinned}
	early.turn(stay)
	early.turn(finish)
	earlySpans := []dialogue.Span{{Segment: 1, From: 1, To: 1}, {Segment: 2, From: 3, To: math.MaxInt64}}

	pinned, err = dialogue.Fork(t.Context(), parent.rows, tenant, ownSpan, 3, 3, noon)
	must(t, err)
	head := &session{t: t, rows: parent.rows, segment: 3, seq: 3, rev: pinned}
	headSpans := []dialogue.Span{{Segment: 1, From: 1, To: 2}, {Segment: 3, From: 4, To: math.MaxInt64}}

	// The parent changes its state twice without another turn, at the very fork point of head.
	for range 2 {
		state := parent.rev.State
		_, err := state.Complete("")
		must(t, err)
		state.Pop()
		parent.save(&state)
	}
	head.turn(stay)

	tests := []struct {
		name  string
		spans []dialogue.Span
		want  []string
	}{
		{"parent", ownSpan, []string{"r0@0", "r1@1 a:active[t1]", "r1@1 a:active[t1 t2]", "r4@3", "r4@3"}},
		{"early", earlySpans, []string{"r0@0", "r1@1 a:active[t1]", "r2@2 a:active[t1 t2]", "r2@2 a:active[t1 t2 t3]", "r3@4"}},
		{"head", headSpans, []string{"r0@0", "r1@1 a:active[t1]", "r1@1 a:active[t1 t2]",
			"r2@3 a:pending[t1 t2] b:active[t3]", "r2@3 a:pending[t1 t2] b:active[t3 t4]"}},
	}
	for _, tt := range tests {
		for seq, want := range tt.want {
			if got := atTurn(t, parent.rows, tt.spans, int64(seq)); got != want {
				t.Errorf("%s after turn %d: %s, want %s", tt.name, seq, got, want)
			}
		}
	}
	numbers := map[string]string{"parent": "[0@0 1@1 2@3 3@3 4@3]", "early": "[0@0 1@1 2@2 3@4]", "head": "[0@0 1@1 2@3]"}
	for _, tt := range tests {
		var got []string
		for row, err := range dialogue.History(t.Context(), parent.rows, tenant, tt.spans) {
			must(t, err)
			got = append(got, fmt.Sprintf("%d@%d", row.Number, row.AfterSeq))
		}
		if fmt.Sprint(got) != numbers[tt.name] {
			t.Errorf("history of %s is %v, want %s", tt.name, got, numbers[tt.name])
		}
	}
	if head.rev.State.Stack[1].Status != dialogue.Active {
		t.Errorf("the pinned state of head became %v", head.rev.State)
	}
}

func TestForkBeforeTheFirstTurn(t *testing.T) {
	parent := begin(t)
	parent.turn(stack("a"))
	rev, err := dialogue.Fork(t.Context(), parent.rows, tenant, ownSpan, 2, 0, noon)
	must(t, err)
	if diff := cmp.Diff(dialogue.Revision{At: noon}, rev); diff != "" {
		t.Error(diff)
	}
}

func TestHistoryCanBeLeftEarly(t *testing.T) {
	s := begin(t)
	for range 3 {
		s.turn(stack(fmt.Sprint(s.seq)))
	}
	s.rows.failure = errors.New("disk on fire")
	for stop := range 4 {
		n := 0
		for range dialogue.History(t.Context(), s.rows, tenant, ownSpan) {
			if n++; n > stop {
				break
			}
		}
		if n != stop+1 {
			t.Errorf("saw %d rows, left after %d", n, stop+1)
		}
	}
}

func TestStoredStateDoesNotGrowWithTheTurns(t *testing.T) {
	s := begin(t)
	s.turn(stack("a"))
	before := len(dialogue.EncodeState(s.rev.State))
	for range 500 {
		s.turn(stay)
	}
	if after := len(dialogue.EncodeState(s.rev.State)); after != before || len(s.rows.revisions) != 2 || s.rows.inserted != 501 {
		t.Errorf("state grew from %d to %d bytes, %d revisions, %d pointers", before, after, len(s.rows.revisions), s.rows.inserted)
	}
}
