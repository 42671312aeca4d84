package replay_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// naive compiles a history from all turns, without an index.
func naive(turns []turn.Turn, seq int64, n int, keepSystem bool) []turn.Turn {
	turns = turns[:seq]
	answered := map[string]bool{}
	whole := func(t turn.Turn) bool {
		if t.Unit == 0 {
			return true
		}
		for _, c := range turns[t.Unit-1].Calls() {
			if !answered[c.ID] {
				return false
			}
		}
		return true
	}
	// Ids may be used again after an answer, so that only results of the unit itself count.
	shown := map[int64]bool{}
	for i := len(turns) - 1; i >= 0 && n > 0; i-- {
		t := turns[i]
		if shown[t.Seq] || !keepSystem && !t.Utterance() {
			continue
		}
		members := []turn.Turn{t}
		if t.Unit != 0 {
			clear(answered)
			members = members[:0]
			for _, m := range turns {
				if m.Unit == t.Unit {
					members = append(members, m)
					if r, ok := m.Content.(turn.Result); ok {
						answered[r.CallID] = true
					}
				}
			}
		}
		if !whole(t) {
			continue
		}
		for _, m := range members {
			shown[m.Seq] = true
			if keepSystem {
				n--
			}
		}
		if !keepSystem {
			n--
		}
	}
	var history []turn.Turn
	for _, t := range turns {
		if shown[t.Seq] {
			history = append(history, t)
		}
	}
	return history
}

// check holds a step against what can be worked out from the whole story.
func (s *story) check(step replay.Step, o turn.HistoryOptions) {
	s.w.Helper()
	want := replay.Step{
		Seq:     step.Seq,
		Window:  naive(s.turns, step.Seq, 7, false),
		History: naive(s.turns, step.Seq, o.Turns, o.KeepSystem),
	}
	if step.Seq > 0 {
		want.Turn = s.turns[step.Seq-1]
	}
	ignore := cmpopts.IgnoreFields(replay.Step{}, "State", "Intentions")
	ofAnySession := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Session" }, cmp.Ignore())
	if diff := cmp.Diff(want, step, ignore, ofAnySession, cmpopts.EquateEmpty()); diff != "" {
		s.w.Fatalf("at turn %d (-want +got):\n%s", step.Seq, diff)
	}
	for _, t := range slices.Concat(step.Window, step.History) {
		if t.Session != s.key.Session {
			s.w.Fatalf("at turn %d: turn %d was read through session %q", step.Seq, t.Seq, t.Session)
		}
	}
	at := step.Seq
	for s.states[at] == "" {
		at--
	}
	if got := aimsJSON(s.w, step.Intentions); got != s.aims[at] {
		s.w.Fatalf("goals and actions at turn %d:\n%s\nwant, as after turn %d:\n%s", step.Seq, got, at, s.aims[at])
	}
	if got := stateJSON(s.w, step.State.State); got != s.states[at] {
		s.w.Fatalf("state at turn %d:\n%s\nwant, as after turn %d:\n%s", step.Seq, got, at, s.states[at])
	}
}

// flattened returns the turns as they are in a session that stands alone: of two turns with one
// idempotency key, the fork's own has it.
func flattened(turns []turn.Turn) []turn.Turn {
	turns = slices.Clone(turns)
	last := map[string]int64{}
	for _, t := range turns {
		last[t.IdempotencyKey] = t.Seq
	}
	for i, t := range turns {
		if last[t.IdempotencyKey] != t.Seq {
			turns[i].IdempotencyKey = ""
		}
	}
	return turns
}

func TestPlayerShowsEveryTurnAsItWas(t *testing.T) {
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, ctx)
		s := tell(w, t)
		copied := newWorld(t, ctx)
		copied.imported(w.plain(s.key), replay.ImportOptions{})
		o := turn.HistoryOptions{Turns: rapid.IntRange(1, 12).Draw(t, "history"), KeepSystem: rapid.Bool().Draw(t, "keep system")}
		p, err := replay.Play(ctx, w, s.key, o)
		if err != nil {
			t.Fatal(err)
		}
		if p.Len() != int64(len(s.turns)) || p.Session().Key != s.key {
			t.Fatalf("%d turns of %v", p.Len(), p.Session().Key)
		}
		for n := int64(1); n <= p.Len(); n++ {
			step, err := p.Next(ctx)
			if err != nil || step.Seq != n {
				t.Fatalf("next to %d: %d, %v", n, step.Seq, err)
			}
			s.check(step, o)
		}
		if _, err := p.Next(ctx); err != io.EOF {
			t.Fatalf("past the last turn: %v", err)
		}

		s.turns = flattened(s.turns)
		if p, err = replay.Play(ctx, copied, s.key, o); err != nil {
			t.Fatal(err)
		}
		step, err := p.Seek(ctx, p.Len())
		for n := p.Len(); err == nil; n-- {
			if step.Seq != n {
				t.Fatalf("back to %d: %d", n, step.Seq)
			}
			s.check(step, o)
			step, err = p.Prev(ctx)
		}
		if err != io.EOF {
			t.Fatalf("before the first turn: %v", err)
		}
	})
}

func TestSeek(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.trip()
	p, err := replay.Play(t.Context(), w, k, turn.HistoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	step, err := p.Seek(t.Context(), 9)
	if err != nil {
		t.Fatal(err)
	}
	// Turn 9 is a call that still waits: the window does not show it.
	if n := len(step.Window); step.Turn.Seq != 9 || n == 0 || step.Window[n-1].Seq != 8 {
		t.Errorf("at 9: turn %d, window %v", step.Turn.Seq, step.Window)
	}
	if step.State.Number != 2 || len(step.State.State.Stack[0].TurnIDs) != 3 {
		t.Errorf("at 9: state %+v", step.State)
	}
	for _, seq := range []int64{-1, 20} {
		if _, err := p.Seek(t.Context(), seq); !errors.Is(err, turn.ErrNotFound) {
			t.Errorf("seek %d: %v", seq, err)
		}
	}
	if step, err := p.Next(t.Context()); err != nil || step.Seq != 10 {
		t.Errorf("after a seek that failed: %d, %v", step.Seq, err)
	}
	if step, err := p.Seek(t.Context(), p.Len()); err != nil || len(step.History) != 12 {
		t.Errorf("at the end: %d turns of history, %v", len(step.History), err)
	}
}

func TestAPlayerLooksAtOneMoment(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.create("live")
	w.say(k, text(turn.User, "one"))
	p, err := replay.Play(t.Context(), w, k, turn.HistoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.say(k, text(turn.User, "two"))
	if step, err := p.Next(t.Context()); err != nil || len(step.History) != 1 {
		t.Errorf("turn 1: %v, %v", step, err)
	}
	if _, err := p.Next(t.Context()); err != io.EOF {
		t.Errorf("turn 2: %v", err)
	}
}

func TestPlayerErrors(t *testing.T) {
	w := newWorld(t, t.Context())
	if _, err := replay.Play(t.Context(), w, key("nobody"), turn.HistoryOptions{}); !errors.Is(err, turn.ErrNotFound) {
		t.Errorf("no session: %v", err)
	}
	k := w.create("some")
	w.say(k, text(turn.User, "one"))
	p, err := replay.Play(t.Context(), w, k, turn.HistoryOptions{Turns: -1})
	if err != nil {
		t.Fatal(err)
	}
	var field *turn.FieldError
	if _, err := p.Next(t.Context()); !errors.As(err, &field) {
		t.Errorf("negative history: %v", err)
	}
	for _, method := range []string{"RevisionAt", "Newest", "Scan"} {
		p, err := replay.Play(t.Context(), unreadable{w, method}, k, turn.HistoryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Next(t.Context()); !errors.Is(err, errBroken) {
			t.Errorf("%s fails: %v", method, err)
		}
	}
	w.update(func(tx store.Tx) error { return tx.Log().Advance(w.ctx, k, 3, tx.Now()) })
	holes, err := replay.Play(t.Context(), w, k, turn.HistoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holes.Seek(t.Context(), 2); !errors.Is(err, turn.ErrNotFound) {
		t.Errorf("a turn that is gone: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Next(t.Context()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("closed store: %v", err)
	}
}

func TestASessionWithoutStateIsPlayed(t *testing.T) {
	w := newWorld(t, t.Context())
	w.update(func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(w.ctx, turn.SessionInfo{Key: key("bare"), Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now()})
		return err
	})
	w.say(key("bare"), text(turn.User, "one"))
	file := w.plain(key("bare"))
	if want := `"session":{"session_id":"bare","tenant":"acme","status":"active","created_at":`; !strings.Contains(string(file), want) {
		t.Errorf("what is empty is not left out of\n%s", file)
	}
	p, err := replay.Play(t.Context(), w, key("bare"), turn.HistoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	step, err := p.Next(t.Context())
	if err != nil || !step.State.State.Equal(dialogue.State{}) || step.Turn.Seq != 1 {
		t.Errorf("step %+v, %v", step, err)
	}
}
