package sqlite_test

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// An observation that is written again keeps its place in the index that sweeps go by, which is right
// as long as it does not expire before that.
func TestSweepOfObservationsThatWereWrittenAgain(t *testing.T) {
	alone(t)
	type step struct {
		put   time.Duration // when it expires, counted from noon; 0: nothing is written
		sweep time.Duration
		swept int64
	}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"it expires later", []step{{put: time.Hour}, {put: 3 * time.Hour}, {sweep: 2 * time.Hour}, {sweep: 3 * time.Hour, swept: 1}}},
		{"it expires earlier", []step{{put: 3 * time.Hour}, {put: time.Hour}, {sweep: time.Hour - 1000, swept: 0}, {sweep: time.Hour, swept: 1}}},
		{"it was swept past", []step{
			{put: time.Hour}, {put: 5 * time.Hour}, {sweep: 2 * time.Hour}, {put: 4 * time.Hour},
			{sweep: 4*time.Hour - 1000}, {sweep: 4 * time.Hour, swept: 1},
		}},
	} {
		for _, status := range []scratch.Status{scratch.Active, scratch.Archived} {
			t.Run(c.name+", "+string(status), func(t *testing.T) {
				s := openNew(t, sqlite.Config{})
				segment := create(t, s, key("a")).Segment
				for i, step := range c.steps {
					err := s.Update(t.Context(), func(tx store.Tx) error {
						if step.put != 0 {
							return tx.Scratch().PutObservation(t.Context(), key("a").Tenant, segment, scratch.Row{
								ID: "o", Type: "note", Status: status, At: noon, Expires: noon.Add(step.put), Doc: "{}",
							})
						}
						archived, swept, err := scratch.Sweep(t.Context(), tx.Scratch(), noon.Add(step.sweep), 10)
						if status == scratch.Active {
							archived, swept = swept, archived
						}
						if archived != 0 {
							t.Errorf("step %d: %d of the other kind", i, archived)
						}
						if swept != step.swept {
							t.Errorf("step %d: swept %d, want %d", i, swept, step.swept)
						}
						return err
					})
					if err != nil {
						t.Fatal(err)
					}
					if behind := s.SweptPast(t, noon.Add(step.sweep)); step.put == 0 && behind != 0 {
						t.Errorf("step %d: %d observations are still looked at by each sweep", i, behind)
					}
				}
			})
		}
	}
}
