package turnstone_test

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// linkEach notes a link for each turn of a session and returns its hashes, by seq from 1.
func linkEach(t *testing.T, st store.Store, session string, turns int64) []chain.Hash {
	t.Helper()
	hashes := make([]chain.Hash, turns+1)
	err := st.Update(t.Context(), func(tx store.Tx) (err error) {
		for seq := int64(1); seq <= turns; seq++ {
			hashes[seq] = chain.Next(hashes[seq-1], chain.Message{Role: session})
			err = errors.Join(err, tx.Chains().PutLink(t.Context(), chain.Link{
				Tenant: turn.DefaultTenant, Hash: hashes[seq], Session: session, Seq: seq, At: tx.Now(),
			}))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hashes
}

// linked returns the seqs whose links are still there.
func linked(t *testing.T, st store.Store, hashes []chain.Hash) (seqs []int64) {
	t.Helper()
	err := st.View(t.Context(), func(tx store.Tx) error {
		for _, h := range hashes[1:] {
			links, err := tx.Chains().Links(t.Context(), turn.DefaultTenant, h, 9)
			if err != nil {
				return err
			}
			for _, l := range links {
				seqs = append(seqs, l.Seq)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seqs
}

// A hash holds all that was said up to it: those from a forgotten turn on go, in the forks that share it too.
func TestLinksOfWhatIsForgotten(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "home")
		for range 4 {
			say(t, s, turn.User, "hello")
		}
		fork, err := s.Fork(t.Context(), 3, turn.SessionInfo{Key: turn.Key{Session: "fork"}})
		if err != nil {
			t.Fatal(err)
		}
		say(t, fork, turn.User, "another way")
		before, err := s.Fork(t.Context(), 1, turn.SessionInfo{Key: turn.Key{Session: "before"}})
		if err != nil {
			t.Fatal(err)
		}
		say(t, before, turn.User, "yet another")
		home, forked, earlier := linkEach(t, st, "home", 4), linkEach(t, st, "fork", 4), linkEach(t, st, "before", 2)
		check := func(after string, want ...int) {
			t.Helper()
			got := []int{len(linked(t, st, home)), len(linked(t, st, forked)), len(linked(t, st, earlier))}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("after %s: %v links are left, want %v", after, got, want)
					return
				}
			}
		}
		receipt, err := s.Forget(t.Context(), turnstone.Target{Seqs: []int64{3}})
		if err != nil {
			t.Fatal(err)
		}
		check("a turn", 2, 2, 2)
		for _, removed := range receipt.Removed {
			if removed.Where == "chain_links" && removed.Count != 4 {
				t.Errorf("the receipt counts %d links", removed.Count)
			}
		}
		if _, err := before.Forget(t.Context(), turnstone.Target{All: true}); err != nil {
			t.Fatal(err)
		}
		check("a session", 2, 2, 0)
	})
}
