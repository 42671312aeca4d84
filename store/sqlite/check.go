package sqlite

import (
	"context"
	"errors"
	"strings"

	"github.com/turnstone-dev/turnstone/store"
)

// Check implements [store.Store] by SQLite's own check, which looks at the full-text index as well.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	var wrong []string
	err := s.view(ctx, func(t *tx) error {
		q := t.c.Prepare(`PRAGMA integrity_check`)
		for {
			more, err := q.Step()
			if err != nil || !more {
				return t.fail(err)
			}
			for line := range strings.SplitSeq(q.ReadText(), "\n") {
				if line != "ok" && !strings.HasPrefix(line, "***") {
					wrong = append(wrong, line)
				}
			}
		}
	})
	// A file that is too damaged to be checked to the end is still one that was checked.
	if errors.Is(err, store.ErrCorrupt) {
		return append(wrong, err.Error()), nil
	}
	return wrong, err
}
