package turnstone_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Turns that repeat what is forgotten stay, and whoever forgets must know of them: those of the session, of its forks and of its copies.
func TestForgettingNamesTheTurnsThatRepeatIt(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		ctx := t.Context()
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "home")
		asked := say(t, s, turn.User, "My password is walrus77, and the red ocelot eats clams. What is on today?")
		noted := say(t, s, turn.Agent, "Noted: walrus77. What is on today is the plan.")
		say(t, s, turn.User, "Thank you, what is on today, and tomorrow?")
		fork, err := s.Fork(ctx, turnstone.Head, turn.SessionInfo{Key: turn.Key{Session: "fork"}})
		if err != nil {
			t.Fatal(err)
		}
		forked := say(t, fork, turn.Agent, "Good day. Your ocelot eats clams. It is raining.\nBring an umbrella.")
		var bundle bytes.Buffer
		if _, err := s.WriteBundle(ctx, &bundle, replay.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := eng.ImportBundle(ctx, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(bundle.Bytes())), nil }, replay.ImportOptions{As: "copy"}); err != nil {
			t.Fatal(err)
		}
		want := []turnstone.Repeat{
			{Session: "home", Seq: noted.Seq, TurnID: noted.ID, Role: turn.Agent, Texts: []string{"walrus77"}},
			{Session: "fork", Seq: forked.Seq, TurnID: forked.ID, Role: turn.Agent, Texts: []string{"Your ocelot eats clams."}},
		}
		target := turnstone.Target{Seqs: []int64{asked.Seq}, Preview: true}
		preview, err := s.Forget(ctx, target)
		if d := cmp.Diff(want, preview.Repeats); err != nil || d != "" {
			t.Errorf("the preview: %v (-want +got)\n%s", err, d)
		}
		target.Preview = false
		done, err := s.Forget(ctx, target)
		for i := range want {
			want[i].Texts = nil
		}
		if d := cmp.Diff(want, done.Repeats); err != nil || d != "" {
			t.Errorf("the receipt: %v (-want +got)\n%s", err, d)
		}
		for _, receipt := range receipts(t, eng, "home") {
			if strings.Contains(receipt, "walrus") || strings.Contains(receipt, "ocelot") {
				t.Errorf("it says what was forgotten: %s", receipt)
			}
		}
		// They are taken along like any other.
		for _, r := range done.Repeats {
			if r, err := eng.Forget(ctx, turnstone.Target{Session: r.Session, Seqs: []int64{r.Seq}}); err != nil || len(r.Repeats) > 0 {
				t.Errorf("%+v, %v", r.Repeats, err)
			}
		}
		if kept := contents(t, st); strings.Contains(kept, "walrus77") || strings.Contains(kept, "ocelot eats") {
			t.Error("it is still there")
		}
	})
}

// In a fork it counts what the parent says too, also what it said after the fork.
func TestForgettingInAForkNamesWhatTheParentRepeats(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := session(t, open(t, st, turnstone.Config{}), "home")
		say(t, s, turn.User, "Hello.")
		fork, err := s.Fork(t.Context(), turnstone.Head, turn.SessionInfo{Key: turn.Key{Session: "fork"}})
		if err != nil {
			t.Fatal(err)
		}
		said := say(t, fork, turn.User, "My password is walrus77.")
		again := say(t, s, turn.User, "It is walrus77.")
		r, err := fork.Forget(t.Context(), turnstone.Target{Seqs: []int64{said.Seq}})
		if err != nil || len(r.Repeats) != 1 || r.Repeats[0].Session != "home" || r.Repeats[0].Seq != again.Seq {
			t.Errorf("%+v, %v", r.Repeats, err)
		}
		if !slices.Equal(r.Sessions, []string{"fork"}) {
			t.Errorf("it reached %v", r.Sessions)
		}
	})
}

// What goes anyway repeats nothing.
func TestForgettingAllNamesOnlyWhatStays(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s, err := eng.Create(t.Context(), turn.SessionInfo{User: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		say(t, s, turn.User, "My password is walrus77.")
		say(t, s, turn.Agent, "Noted: walrus77.")
		for _, user := range []string{"ann", "bob"} {
			fork, err := s.Fork(t.Context(), turnstone.Head, turn.SessionInfo{Key: turn.Key{Session: user + "s"}, User: user})
			if err != nil {
				t.Fatal(err)
			}
			say(t, fork, turn.User, "It is walrus77.")
		}
		for _, preview := range []bool{true, false} {
			r, err := eng.Forget(t.Context(), turnstone.Target{User: "ann", Preview: preview})
			if err != nil || len(r.Repeats) != 1 || r.Repeats[0].Session != "bobs" {
				t.Errorf("preview %v: %+v, %v", preview, r.Repeats, err)
			}
		}
	})
}
