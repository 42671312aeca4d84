package mem

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// logRows is the transaction as the log sees it.
type logRows struct{ *tx }

// InsertSession implements [turn.SessionRows].
func (r logRows) InsertSession(ctx context.Context, s turn.SessionInfo) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	if _, taken := r.data.sessions[s.Key]; taken {
		return 0, turn.ErrExists
	}
	set(r.tx, &r.data.lastSegment, r.data.lastSegment+1)
	s.Segment = r.data.lastSegment
	s.Inherited = slices.Clone(s.Inherited)
	put(r.tx, r.data.sessions, s.Key, s)
	put(r.tx, r.data.tenants, s.Tenant, append(r.data.tenants[s.Tenant], s.Key))
	return s.Segment, nil
}

// Session implements [turn.SessionRows].
func (r logRows) Session(ctx context.Context, key turn.Key) (turn.SessionInfo, error) {
	if err := r.reading(ctx); err != nil {
		return turn.SessionInfo{}, err
	}
	return r.session(key)
}

// LockSession implements [turn.SessionRows]. The store's own lock keeps other writers out.
func (r logRows) LockSession(ctx context.Context, key turn.Key) (turn.SessionInfo, error) {
	if err := r.writing(ctx); err != nil {
		return turn.SessionInfo{}, err
	}
	return r.session(key)
}

func (r logRows) session(key turn.Key) (turn.SessionInfo, error) {
	s, ok := r.data.sessions[key]
	if !ok {
		return turn.SessionInfo{}, turn.ErrNotFound
	}
	s.Inherited = slices.Clone(s.Inherited)
	return s, nil
}

// UpdateSession implements [turn.SessionRows].
func (r logRows) UpdateSession(ctx context.Context, s turn.SessionInfo) error {
	return r.change(ctx, s.Key, func(kept *turn.SessionInfo) {
		kept.User, kept.Title, kept.Model, kept.Mode = s.User, s.Title, s.Model, s.Mode
		kept.Status, kept.Head, kept.LastActivity, kept.Files = s.Status, s.Head, s.LastActivity, s.Files
	})
}

// Advance implements [turn.SessionRows].
func (r logRows) Advance(ctx context.Context, key turn.Key, head int64, at time.Time) error {
	return r.change(ctx, key, func(kept *turn.SessionInfo) {
		kept.Head, kept.LastActivity, kept.Status = head, at, turn.Active
	})
}

func (r logRows) change(ctx context.Context, key turn.Key, edit func(*turn.SessionInfo)) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	s, ok := r.data.sessions[key]
	if !ok {
		return turn.ErrNotFound
	}
	edit(&s)
	put(r.tx, r.data.sessions, key, s)
	return nil
}

// Rename implements [turn.SessionRows].
func (r logRows) Rename(ctx context.Context, key turn.Key, id string) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	s, ok := r.data.sessions[key]
	if !ok {
		return turn.ErrNotFound
	}
	s.Session = id
	if _, taken := r.data.sessions[s.Key]; taken {
		return turn.ErrExists
	}
	remove(r.tx, r.data.sessions, key)
	put(r.tx, r.data.sessions, s.Key, s)
	keys := slices.Clone(r.data.tenants[key.Tenant])
	keys[slices.Index(keys, key)] = s.Key
	put(r.tx, r.data.tenants, key.Tenant, keys)
	return nil
}

// Sessions implements [turn.SessionRows].
func (r logRows) Sessions(ctx context.Context, f turn.SessionFilter) ([]turn.SessionInfo, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	keys := r.data.tenants[f.Tenant]
	end := len(keys)
	if f.Before > 0 {
		end, _ = slices.BinarySearchFunc(keys, f.Before, func(key turn.Key, segment int64) int {
			return cmp.Compare(r.data.sessions[key].Segment, segment)
		})
	}
	var found []turn.SessionInfo
	for i := end - 1; i >= 0 && len(found) < f.Limit; i-- {
		s := r.data.sessions[keys[i]]
		if s.Importing() == f.Importing && (f.User == "" || s.User == f.User) && (f.Status == "" || s.Status == f.Status) &&
			(f.IdleSince.IsZero() || !s.LastActivity.After(f.IdleSince)) {
			s.Inherited = slices.Clone(s.Inherited)
			found = append(found, s)
		}
	}
	return found, nil
}

// Tenants implements [turn.SessionRows].
func (r logRows) Tenants(ctx context.Context) ([]string, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(r.data.tenants)), nil
}

// InsertBookmark implements [turn.SessionRows].
func (r logRows) InsertBookmark(ctx context.Context, key turn.Key, b turn.Bookmark) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	marks := r.data.bookmarks[key]
	i, taken := findBookmark(marks, b.Name)
	if taken {
		return turn.ErrExists
	}
	put(r.tx, r.data.bookmarks, key, insertAt(marks, i, b))
	return nil
}

func findBookmark(marks []turn.Bookmark, name string) (int, bool) {
	return slices.BinarySearchFunc(marks, name, func(b turn.Bookmark, name string) int { return cmp.Compare(b.Name, name) })
}

// Bookmarks implements [turn.SessionRows].
func (r logRows) Bookmarks(ctx context.Context, key turn.Key) ([]turn.Bookmark, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return slices.Clone(r.data.bookmarks[key]), nil
}

// Lease implements [turn.SessionRows].
func (r logRows) Lease(ctx context.Context, key turn.Key) (turn.Lease, error) {
	if err := r.reading(ctx); err != nil {
		return turn.Lease{}, err
	}
	return r.data.leases[key], nil
}

// LockLease implements [turn.SessionRows]. The store's own lock keeps other writers out.
func (r logRows) LockLease(ctx context.Context, key turn.Key) (turn.Lease, error) {
	if err := r.writing(ctx); err != nil {
		return turn.Lease{}, err
	}
	if _, ok := r.data.sessions[key]; !ok {
		return turn.Lease{}, turn.ErrNotFound
	}
	return r.data.leases[key], nil
}

// SetLease implements [turn.SessionRows].
func (r logRows) SetLease(ctx context.Context, key turn.Key, l turn.Lease) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	if l == (turn.Lease{}) {
		remove(r.tx, r.data.leases, key)
	} else {
		put(r.tx, r.data.leases, key, l)
	}
	return nil
}
