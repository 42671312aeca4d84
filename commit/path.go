package commit

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// leftBehind is what is said of a turn that a restore left behind.
const leftBehind = "is not in the history any more: the session went back to a snapshot before it"

// pathInForce is the path that the session's last restore laid.
func pathInForce(ctx context.Context, tx store.Tx, info turn.SessionInfo) (turn.Path, error) {
	epoch, err := prompt.InForce(ctx, tx.Prompt(), info, info.Head)
	return turn.Path(epoch.Path), err
}

// followPath leaves out what a restore left behind; it refuses an exchange whose opening turn is part of that.
func (r *run) followPath(ctx context.Context, tx store.Tx, info turn.SessionInfo) error {
	path, err := pathInForce(ctx, tx, info)
	if err != nil {
		return err
	}
	if path.Off(r.openedAt) {
		return invalid.New("turn_id", fmt.Sprintf("%s is turn %d, which %s", r.exchange.Opened, r.openedAt, leftBehind),
			"commit a turn that was said since, or say it again")
	}
	s := &r.situation
	s.Turns = slices.DeleteFunc(s.Turns, func(t Said) bool { return path.Off(t.Seq) })
	return nil
}

// stillOn refuses an exchange of which a restore left a turn behind after it was read.
func (r *run) stillOn(ctx context.Context, tx store.Tx, info turn.SessionInfo) error {
	if !slices.ContainsFunc(r.situation.Turns, func(t Said) bool { return t.Seq > 0 }) {
		return nil
	}
	path, err := pathInForce(ctx, tx, info)
	if err != nil {
		return err
	}
	for _, t := range r.situation.Turns {
		if t.Seq > 0 && path.Off(t.Seq) {
			return fmt.Errorf("turn %d of %s %s: %w", t.Seq, info.Session, leftBehind, turn.ErrConflict)
		}
	}
	return nil
}
