package commit_test

import (
	"context"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/scratch"
)

// What the caller clears and what the Reflector clears are each all or nothing, also where they are put off.
func TestAClearOfTheReflectorDoesNotSpoilTheCallers(t *testing.T) {
	onStoresOfParts(t, func(t *testing.T, open func(*testing.T, commit.Config) *world) {
		for name, test := range map[string]struct {
			learned string
			fault   string
			refused int
		}{
			"not on the page":            {"nothing", "", 1},
			"the same":                   {"done", "", 0},
			"not on the page, put off":   {"nothing", "PutObservation", 0}, // it is refused when it is tried again
			"the same, put off":          {"done", "PutObservation", 0},
			"legal nowhere, and put off": {"bad\xff", "PutObservation", 1},
		} {
			t.Run(name, func(t *testing.T) {
				w := open(t, commit.Config{
					Deadlines: patient, Retries: []time.Duration{time.Hour},
					Reflector: commit.ReflectFunc(func(_ context.Context, s *commit.Situation, _ commit.Assessment) (r commit.Reflection, err error) {
						if s.Input == "q2" {
							r.Scratch.Clear = []string{test.learned}
						}
						return r, nil
					}),
				})
				ex := talk("q1", "a1")
				ex.Scratch.Put = []scratch.Change{{ID: "done", Type: ptr("x"), Content: ptr("c"), Status: ptr(scratch.Resolved)}}
				w.commit(ex)
				faults := faulty.New(w.store)
				w.withStore(faults)
				faults.Set(failAt(test.fault))
				ex = talk("q2", "a2")
				ex.Scratch.Clear = []string{"done"}
				res := w.commit(ex)
				faults.Set(nil)
				if told := w.export(res.ExportID).Scratch.Cleared; len(told) != 1 || len(res.Refused) != test.refused || (len(res.Deferred) > 0) != (test.fault != "") {
					t.Errorf("told of %q, refused %+v, put off %v", told, res.Refused, res.Deferred)
				}
				w.settleAll()
				if _, ok := w.page().Observation("done"); ok {
					t.Error("what the caller cleared is on the page")
				}
			})
		}
	})
}
