package commit_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// A note whose day ends while an exchange is being committed is archived, whether it was swept by then or not: what the exchange
// changes of it is refused.
func TestANoteThatExpiresDuringACommitStaysArchived(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, open := range map[string]func(t *testing.T, clock func() time.Time) store.Store{
		"mem": func(_ *testing.T, clock func() time.Time) store.Store { return mem.New(mem.Config{Clock: clock}) },
		"sqlite": func(t *testing.T, clock func() time.Time) store.Store {
			st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"), sqlite.Config{Clock: clock})
			if err != nil {
				t.Fatal(err)
			}
			return st
		},
	} {
		for _, swept := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				var later atomic.Int64 // read by the worker too
				clock := func() time.Time { return start.Add(time.Duration(later.Load())) }
				expire := func() {}
				w := newWorld(t, open(t, clock), commit.Config{
					Clock: clock, Deadlines: patient,
					Responder: commit.RespondFunc(func(context.Context, *commit.Situation) (string, error) {
						expire()
						return "", nil
					}),
				})
				ex := talk("hello", "hi")
				ex.Scratch.Put = []scratch.Change{{ID: "o", Type: ptr("alert"), Content: ptr("hot")}}
				w.commit(ex)
				later.Store(int64(time.Hour))
				ex.Scratch.Put = []scratch.Change{{ID: "later", Type: ptr("alert"), Content: ptr("hot")}}
				w.commit(ex)
				later.Store(int64(scratch.LiveRetention - time.Second))
				expire = func() {
					later.Store(int64(scratch.LiveRetention))
					if !swept {
						return
					}
					w.update(func(tx store.Tx) error {
						n, _, err := scratch.Sweep(t.Context(), tx.Scratch(), tx.Now(), 100)
						if n != 1 {
							t.Errorf("swept %d notes", n)
						}
						return err
					})
				}
				ex = talk("and now?", "cold")
				ex.Scratch.Put = []scratch.Change{{ID: "o", Content: ptr("cold")}, {ID: "later", Content: ptr("cold")}}
				res := w.commit(ex)
				if res.Status != commit.CompleteWithErrors || len(res.Refused) != 1 || res.Refused[0].What != "observation o" {
					t.Errorf("swept %t: %s, refused %+v", swept, res.Status, res.Refused)
				}
				if o, live := w.page().Observation("o"); live {
					t.Errorf("swept %t: it came back: %+v", swept, o)
				}
				if o, live := w.page().Observation("later"); !live || o.Content != "cold" {
					t.Errorf("swept %t: the other note is %+v", swept, o)
				}
			})
		}
	}
}
