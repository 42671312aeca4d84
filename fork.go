package turnstone

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Head is the position after a session's last turn, whatever its number.
const Head int64 = -1

// Fork makes a new session that shares this one's turns up to and including seq at, or all of them
// with [Head], without copying them. Child may bring an id (its Session), a title and so on; what it leaves empty
// is taken from the parent, and an empty id is given a ULID. Dialogue state, goals and actions, the
// prompt's epoch, checkpoints, pins and snapshots are inherited as they were at that point.
func (s *Session) Fork(ctx context.Context, at int64, child turn.SessionInfo) (*Session, error) {
	if child.Session == "" {
		child.Session = s.engine.newID()
	}
	fork, err := s.engine.handle(child.Session)
	if err != nil {
		return nil, err
	}
	child.Key = fork.key
	if err := checkDescription(child); err != nil {
		return nil, err
	}
	err = s.update(ctx, func(tx store.Tx, parent turn.SessionInfo) error {
		point := at
		if point == Head {
			point = parent.Head
		}
		made, err := turn.Fork(ctx, tx.Log(), s.key, point, child, tx.Now())
		if err != nil {
			return err
		}
		if _, err = dialogue.Fork(ctx, tx.Dialogue(), s.key.Tenant, parent.Lineage(point), made.Segment, point, tx.Now()); err != nil {
			return err
		}
		if err := cortex.Fork(ctx, tx.Cortex(), s.key.Tenant, parent.Lineage(point), made.Segment, point); err != nil {
			return err
		}
		if err := prompt.Fork(ctx, tx.Prompt(), s.key.Tenant, parent.Lineage(point), made.Segment, point); err != nil {
			return err
		}
		if err := compress.Fork(ctx, tx.Compress(), parent, made.Segment, point, tx.Now()); err != nil {
			return err
		}
		return snapshot.Fork(ctx, tx.Snapshot(), s.key.Tenant, parent.Lineage(point), made.Segment, point, s.engine.newID)
	})
	if err != nil {
		return nil, fmt.Errorf("fork %s: %w", s.key.Session, err)
	}
	return fork, nil
}

// Bookmark names a position of the session, [Head] for the one it is at. A bookmark never moves;
// turn.ErrExists if the name is taken.
func (s *Session) Bookmark(ctx context.Context, name string, at int64) (b turn.Bookmark, err error) {
	if err := ids.CheckName("bookmark", name); err != nil {
		return b, err
	}
	err = s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		b = turn.Bookmark{Name: name, Seq: at, At: tx.Now()}
		if at == Head {
			b.Seq = info.Head
		}
		if b.Seq < 0 || b.Seq > info.Head {
			return fmt.Errorf("turn %d of %s: %w", at, s.key.Session, turn.ErrNotFound)
		}
		return tx.Log().InsertBookmark(ctx, s.key, b)
	})
	if err != nil {
		return turn.Bookmark{}, fmt.Errorf("bookmark %s: %w", name, err)
	}
	return b, nil
}

// Bookmarks lists the session's bookmarks by name.
func (s *Session) Bookmarks(ctx context.Context) (list []turn.Bookmark, err error) {
	err = s.view(ctx, func(tx store.Tx, _ turn.SessionInfo) (err error) {
		list, err = tx.Log().Bookmarks(ctx, s.key)
		return err
	})
	return list, err
}
