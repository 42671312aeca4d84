package commit_test

import (
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// What several said before anybody replied is told of each of them, in whichever order the exchanges end, and in a fork.
func TestExchangesThatOverlapKeepTheirLines(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		for name, test := range map[string]struct {
			order  []int
			putOff bool
		}{
			"the last first":   {order: []int{2, 1, 0}},
			"late, last first": {order: []int{2, 1, 0}, putOff: true},
		} {
			t.Run(name, func(t *testing.T) {
				w := open(commit.Config{Retries: []time.Duration{time.Hour}})
				w.commit(talk("q", "a"))
				opened := []string{w.say("q0").ID, w.say("q1").ID, w.say("q2").ID}
				faults := faulty.New(w.store)
				w.withStore(faults)
				if test.putOff {
					faults.Set(failAt("InsertTurns"))
				}
				for _, i := range test.order {
					w.commit(commit.Exchange{Opened: opened[i], Turns: talk("", "a"+string('0'+rune(i))).Turns[1:]})
				}
				faults.Set(nil)
				w.settleAll()
				w.view(func(tx store.Tx, info turn.SessionInfo) error {
					kept, err := commit.LoadDigest(t.Context(), tx, info)
					if err != nil {
						return err
					}
					if len(kept.Rolling.Lines) != 4 {
						t.Errorf("%d lines:\n%s", len(kept.Rolling.Lines), kept.Rolling)
					}
					return nil
				})
				fork := turn.SessionInfo{Key: turn.Key{Tenant: key.Tenant, Session: "fork " + name}}
				w.update(func(tx store.Tx) error {
					info, err := tx.Log().Session(t.Context(), key)
					if err != nil {
						return err
					}
					if fork, err = turn.Fork(t.Context(), tx.Log(), key, info.Head, fork, tx.Now()); err != nil {
						return err
					}
					kept, err := commit.LoadDigest(t.Context(), tx, info)
					if err != nil {
						return err
					}
					made, err := commit.LoadDigest(t.Context(), tx, fork)
					if !slices.Equal(made.Rolling.Lines, kept.Rolling.Lines) {
						t.Errorf("in a fork:\n%s", made.Rolling)
					}
					return err
				})
			})
		}
	})
}
