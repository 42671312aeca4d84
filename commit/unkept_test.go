package commit_test

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/store"
)

// An update that is done again without the follow-up context is none of the tries that a store gets which cannot be reached,
// also where it comes after the last of them.
func TestUpdatesWithoutTheFollowUpContextAreNotCounted(t *testing.T) {
	for name, failures := range map[string][]error{
		"first": {dialogue.ErrNotKept, store.ErrUnavailable, store.ErrUnavailable, store.ErrUnavailable},
		"last":  {store.ErrUnavailable, store.ErrUnavailable, store.ErrUnavailable, dialogue.ErrNotKept},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOnMem(t, commit.Config{})
			faults := faulty.New(w.store)
			w.withStore(faults)
			left := failures
			fail := func(at string) (err error) {
				if at == "begin" && len(left) > 0 {
					err, left = left[0], left[1:]
				}
				return err
			}
			faults.Set(fail)
			if res := w.commit(talk("hello", "hi")); res.Status != commit.Complete || len(left) > 0 {
				t.Errorf("%s, %d failures are left", res.Status, len(left))
			}
			left = append(failures[:4:4], store.ErrUnavailable)
			if _, err := w.pipeline.Commit(t.Context(), key, talk("and now?", "no")); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%v", err)
			}
		})
	}
}
