package sqlite

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// What is taken out of an FTS5 index is only marked as gone; its words stay in the file until the part
// of the index that holds them is merged, which may be never. Words of items that expired are left to
// that. Those of items that somebody deleted, and of turns that were forgotten, are made to go: the whole index is
// merged, in the background and step by step. What else was forgotten is left behind in pages that are free or
// in use by others: they are gone when the whole file was written anew.
//
// HAZARD: FTS5's secure-delete, which is made for this, damages an index with detail = none when it is
// mixed with other deletions, and takes twenty times as long.

// forgetting is a source of work for the indexer besides turns and items.
var forgetting = textSource{segment: -1}

// leftover is something that still holds what was forgotten: a row of memory_forgotten.
type leftover int64

const (
	itemWords   leftover = 1 + iota // the index of memory
	turnWords                       // the index of turns
	freePages                       // the file and its write-ahead log
	pagesAtWork                     // and any above it: the same, since somebody began to write the file anew
)

// mergeStep is how many pages a step merges.
const mergeStep = 64

// forget notes that the index of memory is to be merged.
func (r memoryRows) forget() error { return r.wanted(itemWords) }

// wanted notes that something is to be made to go.
func (t *tx) wanted(what leftover) error {
	t.noteAppended(forgetting)
	return t.fail(t.c.Prepare(`INSERT OR IGNORE INTO memory_forgotten (id) VALUES (?)`).Int(int64(what)).Run())
}

// toForget returns what is to be made to go next; some is false where nothing is.
func (t *tx) toForget() (what leftover, some bool, err error) {
	next, some, err := one(t, t.c.Prepare(`SELECT id FROM memory_forgotten ORDER BY id LIMIT 1`), readInt)
	return leftover(next), some, err
}

func (t *tx) gone(what leftover) error {
	return t.fail(t.c.Prepare(`DELETE FROM memory_forgotten WHERE id = ?`).Int(int64(what)).Run())
}

// forgetSome does a step of what is to be done and reports whether there may be more.
func (s *Store) forgetSome(ctx context.Context) (more bool, err error) {
	pages, more, err := s.forgetWords(ctx)
	if err != nil || len(pages) == 0 {
		return more, err
	}
	if err := s.rewriteFile(ctx); err != nil {
		return true, err
	}
	return true, s.pagesGone(ctx, pages)
}

// forgetWords does a step of merging what is to be merged. Once that is done and the file is to be written anew, it notes
// that this begins, and pages are what will be granted by it.
func (s *Store) forgetWords(ctx context.Context) (pages []leftover, more bool, err error) {
	err = s.Update(ctx, func(st store.Tx) error {
		t := st.(*tx)
		pages = nil
		var what leftover
		if what, more, err = t.toForget(); err != nil || !more {
			return err
		}
		if what < freePages {
			return t.merge(what)
		}
		pages, err = t.beginPages()
		return err
	})
	return pages, more, err
}

// beginPages notes that the file is about to be written anew, and returns all that is noted so. What is forgotten from here on
// is a wish of its own, that does not go with those that are being granted; nor does one that another process begins to
// grant meanwhile, which may die over it. Where there is no new wish nothing is noted, so that two processes do not go on
// for ever, each for what the other is at.
func (t *tx) beginPages() ([]leftover, error) {
	own := int64(pagesAtWork) + rand.Int64N(math.MaxInt64-int64(pagesAtWork))
	if err := t.fail(t.c.Prepare(`UPDATE memory_forgotten SET id = ? WHERE id = ?`).Int(own).Int(int64(freePages)).Run()); err != nil {
		return nil, err
	}
	return all(t, t.c.Prepare(`SELECT id FROM memory_forgotten WHERE id >= ?`).Int(int64(pagesAtWork)), func(q *lite.Stmt) leftover { return leftover(q.ReadInt()) })
}

// pagesGone notes that the file was written anew for these.
func (s *Store) pagesGone(ctx context.Context, pages []leftover) error {
	return s.Update(ctx, func(st store.Tx) error {
		for _, what := range pages {
			if err := st.(*tx).gone(what); err != nil {
				return err
			}
		}
		return nil
	})
}

// merge does a step of merging an index.
func (t *tx) merge(what leftover) error {
	index := "memory_text"
	if what == turnWords {
		index = "turn_text"
	}
	before := t.c.TotalChanges()
	if err := t.c.Prepare(`INSERT INTO ` + index + ` (` + index + `, rank) VALUES ('merge', ?)`).Int(-mergeStep).Run(); err != nil {
		return t.fail(err)
	}
	// The statement itself counts as a change.
	if t.c.TotalChanges()-before > 1 {
		return nil
	}
	return t.gone(what)
}

// rewriteFile writes the file anew, without what is free in it, and empties the log. Nobody writes meanwhile. It is done on
// a connection of its own: the writer's makes temporary copies in memory.
func (s *Store) rewriteFile(ctx context.Context) error {
	c, err := s.connect(lite.ReadWrite, s.writerPragmas()+`; PRAGMA temp_store = file`)
	if err != nil {
		return s.translate(err)
	}
	defer c.Close()
	s.writer.inTurn(func() {
		s.writer.settle() // what the disk lost must not be copied
		if err = cmp.Or(ctx.Err(), s.writer.mend()); err != nil {
			return
		}
		// It is a transaction of its own: broken off, it leaves everything as it was.
		c.Watch(ctx)
		defer c.Unwatch()
		if err = c.Exec(`VACUUM`); err == nil {
			_, _, err = c.Checkpoint(true)
		}
		s.writer.doubt(err)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.translate(err)
}

// Scrub implements [store.Store].
func (s *Store) Scrub(ctx context.Context) error {
	if s.writer == nil {
		return s.refuse()
	}
	for work := []target{{textSource: forgetting}}; len(work) > 0; {
		var err error
		if work, err = s.text.piece(ctx, work); err != nil {
			return err
		}
	}
	return nil
}
