package commit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/turn"
)

// meanwhile runs f once, while an exchange is being committed, after its log was read.
func meanwhile(f func()) commit.Config {
	return commit.Config{Deadlines: patient, Evaluator: commit.EvaluateFunc(func(context.Context, *commit.Situation) (commit.Assessment, error) {
		if now := f; now != nil {
			f = nil
			now()
		}
		return commit.Assessment{Success: true}, nil
	})}
}

// greeting is a plain exchange whose input has a key.
func greeting(idempotencyKey string) commit.Exchange {
	ex := talk("hello", "hi")
	ex.Turns[0].IdempotencyKey = idempotencyKey
	return ex
}

// greeted appends the input of a greeting without a commit.
func (w *world) greeted(idempotencyKey string) string {
	w.Helper()
	return w.append(greeting(idempotencyKey).Turns[0]).ID
}

// An input that comes into the log under its key while its exchange is being committed is told under the id that it has there.
func TestAnInputThatIsAppendedMeanwhileOpensItsExchange(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		var w *world
		var id string
		w = open(meanwhile(func() { id = w.greeted("k") }))
		replies := 0
		ex := greeting("k")
		ex.Replied = func(string) { replies++ }
		res := w.commit(ex)
		if export := w.export(res.ExportID); res.TurnID != id || export.TurnID != id || !slices.Equal(export.TurnIDs, []string{id, res.Turns[1].ID}) || replies != 1 {
			t.Errorf("%s opened it; the result says %s, the export %s with %q; %d replies", id, res.TurnID, export.TurnID, export.TurnIDs, replies)
		}
		if _, err := w.pipeline.Commit(t.Context(), key, greeting("k")); !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), res.ExportID) || len(w.turns()) != 3 {
			t.Errorf("again: %v, log %q", err, w.turns())
		}
	})
}

// Two processes that commit an exchange under one key at the same time write it once, wherever its input is by then.
func TestAKeyedExchangeIsCommittedByOneProcess(t *testing.T) {
	for name, test := range map[string]struct{ there, putOff bool }{
		"new":                {},
		"put off":            {putOff: true},
		"in the log already": {there: true},
	} {
		t.Run(name, func(t *testing.T) {
			onSharedStores(t, func(t *testing.T, open func(commit.Config) *world) {
				other := open(commit.Config{Retries: []time.Duration{time.Hour}})
				faults := faulty.New(other.store)
				other.withStore(faults)
				var first commit.Result
				w := open(meanwhile(func() {
					if test.putOff {
						faults.Set(failAt("InsertTurns"))
					}
					first = other.commit(greeting("k"))
					faults.Set(nil)
				}))
				if test.there {
					w.greeted("k")
				}
				_, err := w.pipeline.Commit(t.Context(), key, greeting("k"))
				other.settleAll()
				if !errors.Is(err, turn.ErrConflict) || !strings.Contains(err.Error(), first.ExportID) || len(w.turns()) != 3 {
					t.Errorf("%v, log %q", err, w.turns())
				}
			})
		})
	}
}
