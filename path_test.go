package turnstone_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// seqs are the numbers of turns.
func seqs(turns []turn.Turn) []int64 {
	list := make([]int64, len(turns))
	for i := range turns {
		list[i] = turns[i].Seq
	}
	return list
}

func TestThePathAfterARestore(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		s := session(t, open(t, st, turnstone.Config{}), "s")
		epoch, err := s.Epoch(t.Context(), turnstone.Head)
		if diff := cmp.Diff(prompt.Epoch{Path: []turn.Range{{From: 1}}, From: 1}, epoch); err != nil || diff != "" {
			t.Errorf("before the first prompt: %v (-want +got)\n%s", err, diff)
		}
		put := func(role turn.Role, c turn.Content) {
			t.Helper()
			if _, err := s.Append(t.Context(), turn.Draft{Role: role, Content: c}); err != nil {
				t.Fatal(err)
			}
		}
		call := func(id string) turn.Text {
			return turn.Text{ToolCalls: []turn.ToolCall{{ID: id, Name: "f", Arguments: "{}"}}}
		}
		result := func(id string) turn.Result { return turn.Result{Name: "f", CallID: id, Status: turn.CallOK} }
		say(t, s, turn.User, "one")    // 1
		put(turn.Agent, call("early")) // 2
		put(turn.Agent, call("cut"))   // 3
		snap(t, s, "here")
		say(t, s, turn.User, "four")    // 4
		put(turn.System, result("cut")) // 5
		put(turn.Agent, call("late"))   // 6
		window(t, s, 1, 3, 4, 5)
		if _, err := s.Restore(t.Context(), "here", turnstone.PromptOptions{Context: 4096}); err != nil {
			t.Fatal(err)
		}
		put(turn.System, result("early")) // 7
		put(turn.System, result("late"))  // 8
		window(t, s, 1, 2, 7)
		say(t, s, turn.User, "nine") // 9
		window(t, s, 1, 2, 7, 9)

		for _, test := range []struct {
			name string
			o    turn.HistoryOptions
			want []int64
		}{
			// The call of turn 3 was answered, and that of turn 6 made, in what was left behind.
			{"all", turn.HistoryOptions{Turns: 9}, []int64{1, 2, 7, 9}},
			{"with the system", turn.HistoryOptions{Turns: 9, KeepSystem: true}, []int64{1, 2, 7, 9}},
			{"the last", turn.HistoryOptions{Turns: 1}, []int64{9}},
			{"as many as asked for", turn.HistoryOptions{Turns: 2}, []int64{2, 7, 9}},
			{"not those of half a unit", turn.HistoryOptions{Turns: 2, KeepSystem: true}, []int64{2, 7, 9}},
			{"none", turn.HistoryOptions{}, []int64{}},
			{"before the restore", turn.HistoryOptions{Turns: 9, UpTo: 5}, []int64{1, 3, 4, 5}},
			{"in the range before", turn.HistoryOptions{Turns: 9, UpTo: 1}, []int64{1}},
			{"beyond the end", turn.HistoryOptions{Turns: 9, UpTo: 99}, []int64{1, 2, 7, 9}},
			{"the whole log", turn.HistoryOptions{Turns: 9, Path: []turn.Range{{From: 1}}}, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}},
			{"another path", turn.HistoryOptions{Turns: 9, Path: []turn.Range{{From: 4, To: 4}}}, []int64{4}},
		} {
			turns, err := s.History(t.Context(), test.o)
			if diff := cmp.Diff(test.want, seqs(turns)); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got)\n%s", test.name, err, diff)
			}
		}
		player, err := replay.Play(t.Context(), st, turn.Key{Tenant: turn.DefaultTenant, Session: "s"}, turn.HistoryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for seq, want := range map[int64][]int64{5: {1, 3, 4, 5}, 9: {1, 2, 7, 9}} {
			step, err := player.Seek(t.Context(), seq)
			if diff := cmp.Diff([][]int64{want, want}, [][]int64{seqs(step.Window), seqs(step.History)}); err != nil || diff != "" {
				t.Errorf("played up to %d: %v (-want +got)\n%s", seq, err, diff)
			}
		}
		for at, want := range map[int64][]turn.Range{
			turnstone.Head: {{From: 1, To: 3}, {From: 7}},
			5:              {{From: 1}},
			0:              {{From: 1}},
		} {
			epoch, err := s.Epoch(t.Context(), at)
			if diff := cmp.Diff(want, epoch.Path); err != nil || diff != "" {
				t.Errorf("at %d: %v (-want +got)\n%s", at, err, diff)
			}
		}
		var bad *turn.FieldError
		if _, err := s.Epoch(t.Context(), 10); !errors.As(err, &bad) || bad.Name != "at" {
			t.Errorf("beyond the end: %v", err)
		}
	})
}

// TestTheWindowFollowsThePath: also in forks, and back again.
func TestTheWindowFollowsThePath(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "s")
		say(t, s, turn.User, "one")
		snap(t, s, "here")
		say(t, s, turn.Agent, "two")
		window(t, s, 1, 2)
		o := turnstone.PromptOptions{Context: 4096}
		if _, err := s.Restore(t.Context(), "here", o); err != nil {
			t.Fatal(err)
		}
		window(t, s, 1)
		say(t, s, turn.User, "three")
		fork, err := s.Fork(t.Context(), turnstone.Head, turn.SessionInfo{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := fork.Fork(t.Context(), turnstone.Head, turn.SessionInfo{})
		if err != nil {
			t.Fatal(err)
		}
		say(t, again, turn.Agent, "four")
		window(t, fork, 1, 3)
		window(t, again, 1, 3, 4)
		if _, err := s.Undo(t.Context(), 0, o); err != nil {
			t.Fatal(err)
		}
		window(t, s, 1, 2, 3)
		window(t, again, 1, 3, 4)
		window(t, session(t, open(t, st, turnstone.Config{}), again.ID()), 1, 3, 4)
	})
}

// window checks which turns the recent window shows.
func window(t *testing.T, s *turnstone.Session, want ...int64) {
	t.Helper()
	turns, err := s.Window(t.Context())
	if diff := cmp.Diff(want, seqs(turns)); err != nil || diff != "" {
		t.Errorf("window of %s: %v (-want +got)\n%s", s.ID(), err, diff)
	}
}

// What the first epoch of a session did can be taken back like anything else.
func TestUndoInASessionWithoutAnEarlierPrompt(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		o := turnstone.PromptOptions{Context: 8192}
		for name, change := range map[string]func(*turnstone.Session) error{
			"pass": func(s *turnstone.Session) error {
				_, err := s.Compress(t.Context(), o)
				return err
			},
			"restore": func(s *turnstone.Session) error {
				snap(t, s, "here")
				say(t, s, turn.User, "left behind")
				_, err := s.Restore(t.Context(), "here", o)
				return err
			},
		} {
			s := session(t, eng, name)
			for n := range 150 {
				say(t, s, turn.Agent, fmt.Sprintf("Line %d is as long as it takes for a summary to be of any use at all.", n))
			}
			if err := change(s); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			changed, err := s.Epoch(t.Context(), turnstone.Head)
			if err != nil || changed.Number != 1 || changed.Before != 0 {
				t.Fatalf("%s: %v, %+v", name, err, changed)
			}
			done, err := s.Undo(t.Context(), 0, o)
			if err != nil || done.Pass != changed.Passes || done.Turns.To != changed.From-1 && name == "pass" {
				t.Errorf("%s: %v, %+v", name, err, done)
			}
			back, err := s.Epoch(t.Context(), turnstone.Head)
			if diff := cmp.Diff([]turn.Range{{From: 1}}, back.Path); err != nil || diff != "" || back.From != 1 {
				t.Errorf("%s: %v, shown from %d (-want +got)\n%s", name, err, back.From, diff)
			}
			if _, err := s.Undo(t.Context(), 0, o); !errors.Is(err, turnstone.ErrNothingToUndo) {
				t.Errorf("%s: undone twice: %v", name, err)
			}
		}
	})
}
