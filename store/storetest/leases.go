package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testLeases(t *testing.T, w *world) {
	k := w.create(w.key("leased")).Key
	l := leaser{w, k}
	until := noon.Add(turn.LeaseTime)
	late := until.Add(-time.Microsecond)

	w.run("a free lease is taken for its time", func(t *testing.T) {
		same(t, "none", l.held(), turn.Lease{})
		got, err := l.acquire("one", noon)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "acquired", got, turn.Lease{Token: "one", Until: until})
		same(t, "held", l.held(), got)
	})

	w.run("a held lease is refused until its last microsecond", func(t *testing.T) {
		_, err := l.acquire("two", late)
		var held *turn.LeaseHeldError
		if !errors.As(err, &held) || held.Session != "leased" || !held.Until.Equal(until) {
			t.Errorf("got %v, want a LeaseHeldError until %v", err, until)
		}
		same(t, "held", l.held().Token, "one")
	})

	w.run("the holder's writes pass and others' are refused", func(t *testing.T) {
		if err := l.write("one", late); err != nil {
			t.Error(err)
		}
		is(t, "another token", l.write("two", late), turn.ErrLeaseLost)
		is(t, "no token", l.write("", late), turn.ErrLeaseLost)
		same(t, "log", seqs(w.log(k)), []int64{1})
	})

	w.run("renewing counts from now", func(t *testing.T) {
		var got turn.Lease
		w.update(func(tx store.Tx) (err error) {
			got, err = turn.Renew(w.ctx(), tx.Log(), k, "one", late)
			return err
		})
		same(t, "renewed", l.held(), got)
		same(t, "until", got.Until, late.Add(turn.LeaseTime))
		until = got.Until
	})

	w.run("a lease that ran out is its holder's until another takes it", func(t *testing.T) {
		if err := l.write("one", until); err != nil {
			t.Error(err)
		}
		if _, err := l.acquire("two", until); err != nil {
			t.Fatal(err)
		}
		is(t, "write of the first", l.write("one", until), turn.ErrLeaseLost)
		is(t, "renew", w.Update(w.ctx(), func(tx store.Tx) error {
			_, err := turn.Renew(w.ctx(), tx.Log(), k, "one", until)
			return err
		}), turn.ErrLeaseLost)
	})

	w.run("renewing one that ran out keeps it", func(t *testing.T) {
		late := until.Add(time.Hour)
		w.update(func(tx store.Tx) error {
			_, err := turn.Renew(w.ctx(), tx.Log(), k, "two", late)
			return err
		})
		var held *turn.LeaseHeldError
		if _, err := l.acquire("three", late); !errors.As(err, &held) {
			t.Errorf("taken while it was held: %v", err)
		}
	})

	w.run("a released lease is gone", func(t *testing.T) {
		is(t, "release of another", l.release("one"), turn.ErrLeaseLost)
		if err := l.release("two"); err != nil {
			t.Fatal(err)
		}
		same(t, "held", l.held(), turn.Lease{})
		is(t, "second release", l.release("two"), turn.ErrLeaseLost)
	})

	w.run("of many that want it one gets it", func(t *testing.T) {
		tokens := make(chan string, 16)
		for i := range cap(tokens) {
			go func() {
				token := string(rune('a' + i))
				_, err := l.acquire(token, noon)
				var held *turn.LeaseHeldError
				switch {
				case err == nil:
					tokens <- token
				case errors.As(err, &held):
					tokens <- ""
				default:
					t.Error(err)
					tokens <- ""
				}
			}()
		}
		var won []string
		for range cap(tokens) {
			if token := <-tokens; token != "" {
				won = append(won, token)
			}
		}
		same(t, "winner", won, []string{l.held().Token})
	})

	w.run("an unknown session has none", func(t *testing.T) {
		_, err := leaser{w, w.key("nobody")}.acquire("one", noon)
		is(t, "acquire", err, turn.ErrNotFound)
	})
}

// leaser works with one session's lease, each step in a transaction of its own.
type leaser struct {
	*world
	key turn.Key
}

func (l leaser) held() (lease turn.Lease) {
	l.view(func(tx store.Tx) (err error) {
		lease, err = tx.Log().Lease(l.ctx(), l.key)
		return err
	})
	return lease
}

// acquire is safe for concurrent use.
func (l leaser) acquire(token string, now time.Time) (lease turn.Lease, err error) {
	err = l.Update(l.ctx(), func(tx store.Tx) (err error) {
		lease, err = turn.Acquire(l.ctx(), tx.Log(), l.key, token, now)
		return err
	})
	return lease, err
}

func (l leaser) release(token string) error {
	return l.Update(l.ctx(), func(tx store.Tx) error { return turn.Release(l.ctx(), tx.Log(), l.key, token) })
}

// write appends a turn under the lease. The turn is written first, so that a refused lease must undo it.
func (l leaser) write(token string, now time.Time) error {
	sealed, err := l.seal(said(turn.Agent, "under a lease"))
	if err != nil {
		return err
	}
	return l.Update(l.ctx(), func(tx store.Tx) error {
		if _, err := turn.Append(l.ctx(), tx.Log(), l.key, now, sealed...); err != nil {
			return err
		}
		return turn.CheckLease(l.ctx(), tx.Log(), l.key, token)
	})
}
