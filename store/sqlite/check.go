package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/store"
)

// Check implements [store.Store] by SQLite's own check, which looks at the full-text index as well, and by one of the
// indexes that SQLite does not know to be some.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	wrong, err := s.check(ctx)
	// A file that is too damaged to be checked to the end is still one that was checked.
	if errors.Is(err, store.ErrCorrupt) {
		return append(wrong, err.Error()), nil
	}
	return wrong, err
}

// check runs on a connection of its own. HAZARD: one that has searched before remembers how the full-text index is made up,
// and checks that, although others may have merged it since: what is gone looks damaged then. One of the readers is
// held meanwhile, so that closing the store waits for it.
func (s *Store) check(ctx context.Context) (wrong []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	held, err := s.readers.take(ctx)
	if err != nil {
		return nil, s.translate(err)
	}
	defer s.readers.give(held)
	c, err := s.connectReader()
	if err != nil {
		return nil, s.translate(err)
	}
	defer func() { err = errors.Join(err, s.translate(c.Close())) }()
	t := &tx{s: s, c: c, ctx: ctx}
	c.Watch(ctx)
	defer c.Unwatch()
	q := c.Prepare(`PRAGMA integrity_check`)
	for {
		more, err := q.Step()
		if err != nil {
			return wrong, t.fail(err)
		}
		if !more {
			break
		}
		for line := range strings.SplitSeq(q.ReadText(), "\n") {
			if line != "ok" && !strings.HasPrefix(line, "***") {
				wrong = append(wrong, line)
			}
		}
	}
	for _, p := range placed {
		n, err := t.misplaced(p)
		if err != nil {
			return wrong, err
		}
		if n > 0 {
			wrong = append(wrong, fmt.Sprintf("%d of the rows of %s and their entries in %s and %s do not match", n, p.table, p.whole, p.fresh))
		}
	}
	return wrong, nil
}
