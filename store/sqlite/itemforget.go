package sqlite

import (
	"context"

	"github.com/turnstone-dev/turnstone/store"
)

// What is taken out of an FTS5 index is only marked as gone; its words stay in the file until the part
// of the index that holds them is merged, which may be never. Words of items that expired are left to
// that. Those of items that somebody deleted are made to go: the whole index is merged, in the
// background and step by step.
//
// HAZARD: FTS5's secure-delete, which is made for this, damages an index with detail = none when it is
// mixed with other deletions, and takes twenty times as long.

// forgetting is a source of work for the indexer besides turns and items.
var forgetting = textSource{segment: -1}

// mergeStep is how many pages a step merges.
const mergeStep = 64

// forget notes that the index is to be merged.
func (r memoryRows) forget() error {
	r.noteAppended(forgetting)
	return r.fail(r.c.Prepare(`INSERT OR IGNORE INTO memory_forgotten (id) VALUES (1)`).Run())
}

// toForget reports whether there are words to be forgotten.
func (r memoryRows) toForget() (bool, error) {
	_, some, err := one(r.tx, r.c.Prepare(`SELECT id FROM memory_forgotten`), readInt)
	return some, err
}

// forgetItems merges a step and reports whether there are more.
func (s *Store) forgetItems(ctx context.Context) (more bool, err error) {
	err = s.Update(ctx, func(st store.Tx) error {
		r := memoryRows{st.(*tx)}
		if more, err = r.toForget(); err != nil || !more {
			return err
		}
		before := r.c.TotalChanges()
		err := r.c.Prepare(`INSERT INTO memory_text (memory_text, rank) VALUES ('merge', ?)`).Int(-mergeStep).Run()
		if err != nil {
			return r.fail(err)
		}
		// The statement itself counts as a change.
		if more = r.c.TotalChanges()-before > 1; more {
			return nil
		}
		return r.fail(r.c.Prepare(`DELETE FROM memory_forgotten`).Run())
	})
	return more, err
}
