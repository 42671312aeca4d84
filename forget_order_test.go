package turnstone_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// saying is a turn that says the secret.
type saying struct {
	session *turnstone.Session
	seq     int64
}

// sayAgain has the secret said in an exchange that makes of it all that can be made, and then again: later in the same session, in a
// fork, and in an import that is a copy. What each of them makes of it is theirs.
func (v *vault) sayAgain(t *testing.T) map[string]saying {
	t.Helper()
	ctx := t.Context()
	v.session = session(t, v.engine, "home")
	making := func(s *turnstone.Session, input, id string) int64 {
		goal, action, kind, reminder := "Goal "+secret, "Replace "+secret, "alert", cortex.Reminder
		result, err := s.Commit(ctx, commit.Exchange{
			Turns:      []turn.Draft{{Role: turn.User, Content: turn.Text{Text: input}}, {Role: turn.Agent, Content: turn.Text{Text: "Noted."}}},
			Candidates: []memory.Candidate{{Type: memory.UserData, Text: id + " has " + secret, Source: memory.FromUser, Tags: []string{secret}}},
			Intentions: cortex.Changes{
				Goals:   []cortex.GoalChange{{ID: "g" + id, Title: &goal, NextSteps: &[]string{"Use " + secret}}},
				Actions: []cortex.ActionChange{{ID: "a" + id, Title: &action, Type: &reminder}},
			},
			Scratch: scratch.Changes{Put: []scratch.Change{{ID: "o" + id, Type: &kind, Content: &goal}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Believe(ctx, func(state *dialogue.State) error {
			if _, _, err := state.StackOn("f"+id, "keep", dialogue.Options{}); err != nil {
				return err
			}
			if err := state.DeclareSlot("key", dialogue.TypeString); err != nil {
				return err
			}
			return state.SetSlot("key", dialogue.Value(`"`+secret+`"`), "")
		}); err != nil {
			t.Fatal(err)
		}
		compiled(t, s, turnstone.PromptOptions{Model: "gpt-4o", Context: 8192, Late: []string{"Recalled: " + secret}})
		return result.Turns[0].Seq
	}
	found := map[string]saying{"first": {v.session, making(v.session, "My code is "+secret+".", "1")}}
	var err error
	if v.fork, err = v.session.Fork(ctx, turnstone.Head, turn.SessionInfo{Key: turn.Key{Session: "fork"}}); err != nil {
		t.Fatal(err)
	}
	var bundle bytes.Buffer
	if _, err := v.session.WriteBundle(ctx, &bundle, replay.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	copied, err := v.engine.ImportBundle(ctx, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(bundle.Bytes())), nil }, replay.ImportOptions{As: "copy"})
	if err != nil {
		t.Fatal(err)
	}
	found["again"] = saying{v.session, making(v.session, "Again "+secret+".", "2")}
	found["fork"] = saying{v.fork, say(t, v.fork, turn.User, "The fork says "+secret+".").Seq}
	found["copy"] = saying{copied, making(copied, "The copy says "+secret+".", "3")}
	for _, s := range []*turnstone.Session{v.session, v.fork, copied} {
		if _, err := s.End(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// orders are all orders of some names.
func orders(names ...string) (all [][]string) {
	if len(names) < 2 {
		return [][]string{names}
	}
	for i := range names {
		for _, rest := range orders(slices.Delete(slices.Clone(names), i, i+1)...) {
			all = append(all, append([]string{names[i]}, rest...))
		}
	}
	return all
}

// In whatever order the turns that say something are forgotten, nothing is left at the end that only they said.
func TestForgettingLeavesTheSameInEveryOrder(t *testing.T) {
	all := append(orders("first", "again", "fork", "copy"), []string{"first+again", "fork", "copy"}, []string{"copy", "fork", "first+again"})
	for i, order := range all {
		stores := []string{"mem"}
		if i%5 == 0 {
			stores = append(stores, "sqlite", "postgres")
		}
		t.Run(strings.Join(order, " "), func(t *testing.T) {
			onVaults(t, func(t *testing.T, v *vault) {
				said := v.sayAgain(t)
				for i, step := range order {
					if len(leaks(v.kept(t))) == 0 {
						t.Fatalf("before step %d nothing is left of it: what is still said went too", i+1)
					}
					var target turnstone.Target
					var s *turnstone.Session
					for name := range strings.SplitSeq(step, "+") {
						s = said[name].session
						target.Seqs = append(target.Seqs, said[name].seq)
					}
					if _, err := s.Forget(t.Context(), target); err != nil {
						t.Fatal(err)
					}
				}
				for _, leak := range leaks(v.kept(t)) {
					t.Error(leak)
				}
				for _, name := range []string{"first", "fork", "copy"} {
					s := said[name].session
					var bundle bytes.Buffer
					if _, err := s.WriteBundle(t.Context(), &bundle, replay.WriteOptions{}); err != nil {
						t.Fatal(err)
					}
					state, err := s.Intentions(t.Context(), true)
					if err != nil {
						t.Fatal(err)
					}
					shown := fmt.Sprintf("%s\n%s\n%+v", bundle.Bytes(), textOf(compiled(t, s, small)), state)
					for _, leak := range leaks([]byte(shown)) {
						t.Errorf("%s: %s", s.ID(), leak)
					}
				}
				healthy(t, v.st)
			}, stores...)
		})
	}
}

// What somebody set before the turn was said is not from it, and stays: goals, slots, and what is made of them.
func TestForgettingLeavesWhatWasThereBefore(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		ctx := t.Context()
		s := session(t, open(t, st, turnstone.Config{}), "s")
		goal := "Feed the walrus"
		if _, err := s.Intend(ctx, cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Title: &goal}}}); err != nil {
			t.Fatal(err)
		}
		believe := func(name, value string) {
			t.Helper()
			if _, err := s.Believe(ctx, func(state *dialogue.State) error {
				if len(state.Stack) == 0 {
					if _, _, err := state.StackOn("f", "feed", dialogue.Options{}); err != nil {
						return err
					}
				}
				if err := state.DeclareSlot(name, dialogue.TypeString); err != nil {
					return err
				}
				return state.SetSlot(name, dialogue.Value(`"`+value+`"`), "")
			}); err != nil {
				t.Fatal(err)
			}
		}
		believe("food", "clams")
		said := say(t, s, turn.User, "The walrus eats clams and mussels.")
		believe("more", "mussels")
		if _, err := s.Forget(ctx, turnstone.Target{Seqs: []int64{said.Seq}}); err != nil {
			t.Fatal(err)
		}
		state, err := s.State(ctx, turnstone.Head)
		if err != nil {
			t.Fatal(err)
		}
		var slots []string
		for _, slot := range state.State.Stack[0].Slots {
			slots = append(slots, slot.Name+"="+string(slot.Value))
		}
		if got := strings.Join(slots, " "); got != `food="clams" more=` {
			t.Errorf("slots: %s", got)
		}
		intended, err := s.Intentions(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		if g, ok := intended.Goal("g"); !ok || g.Title != goal {
			t.Errorf("%+v", g)
		}
	})
}

// Somebody else forgets the last other turn that says it, after this one was looked for: it counts as gone.
func TestForgettingSeesWhatIsForgottenMeanwhile(t *testing.T) {
	st := &interposed{Store: mem.New(mem.Config{})}
	s, other := session(t, open(t, st, turnstone.Config{}), "s"), open(t, st.Store, turnstone.Config{})
	first := say(t, s, turn.User, "My code is "+secret+".")
	goal := "Keep " + secret
	if _, err := s.Intend(t.Context(), cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Title: &goal}}}); err != nil {
		t.Fatal(err)
	}
	again := say(t, s, turn.User, "Again "+secret+".")
	meanwhile := func() {
		if _, err := other.Forget(t.Context(), turnstone.Target{Session: "s", Seqs: []int64{again.Seq}}); err != nil {
			t.Error(err)
		}
	}
	st.by.Store(&meanwhile)
	if _, err := s.Forget(t.Context(), turnstone.Target{Seqs: []int64{first.Seq}}); err != nil {
		t.Fatal(err)
	}
	for _, leak := range leaks([]byte(contents(t, st))) {
		t.Error(leak)
	}
}
