package sqlite

import (
	"context"

	"github.com/turnstone-dev/turnstone/store"
)

// Exec runs SQL on the writer's connection.
func (s *Store) Exec(ctx context.Context, sql string) error {
	return s.Update(ctx, func(st store.Tx) error { return s.translate(st.(*tx).c.Exec(sql)) })
}

// ShortenLog makes checkpoints come after so many pages.
func (s *Store) ShortenLog(copyAfter, tooLong int) {
	s.writer.log.copyAfter, s.writer.log.tooLong = copyAfter, tooLong
}

// Waiting is how many updates wait for the writer.
func (s *Store) Waiting() int { return len(s.writer.queue) }
