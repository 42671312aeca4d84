package turnstone

import (
	"context"

	"github.com/turnstone-dev/turnstone/commit"
)

// Commit takes a finished exchange through the six phases of the turn commit: what it said is in the
// log, what is worth keeping in memory, goals and notes are changed, and daemons will be told. When it
// returns without an error all of it is on disk. See [commit.Exchange] for what an exchange is, and
// [commit.Pipeline.Commit] for errors.
func (s *Session) Commit(ctx context.Context, ex commit.Exchange) (commit.Result, error) {
	return s.engine.shared.pipeline.Commit(ctx, s.key, ex)
}

// Commit is [Session.Commit] by the holder of the lease: the lease is checked in the same
// transaction as the write.
func (l *Lease) Commit(ctx context.Context, ex commit.Exchange) (commit.Result, error) {
	ex.Lease = l.token
	return l.session.Commit(ctx, ex)
}
