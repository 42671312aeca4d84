package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/turn"
)

// sessionPage is how many sessions are read at once.
const sessionPage = 1000

// nextSessions returns the next of a list, up to that many.
type nextSessions func(ctx context.Context, most int) ([]turn.SessionInfo, error)

// byCreation lists the sessions that were made before another, or all, the newest first.
func byCreation(eng *turnstone.Engine, f turn.SessionFilter, after turn.SessionInfo) nextSessions {
	f.Before = after.Segment
	return func(ctx context.Context, most int) ([]turn.SessionInfo, error) {
		f.Limit = most
		list, err := eng.Sessions(ctx, f)
		if len(list) > 0 {
			f.Before = list[len(list)-1].Segment
		}
		return list, err
	}
}

// byUse lists the sessions that were used before another, or all, the one that was used last first: the first limit and one
// more, or all if limit is 0. The store has them by creation, so that all are read; no more are kept than a [lastUsed] keeps.
func byUse(eng *turnstone.Engine, f turn.SessionFilter, after turn.SessionInfo, limit int) nextSessions {
	var sorted []turn.SessionInfo
	read := false
	return func(ctx context.Context, most int) ([]turn.SessionInfo, error) {
		if !read {
			best := lastUsed{after: after, limit: limit}
			page := byCreation(eng, f, turn.SessionInfo{})
			for !read {
				list, err := page(ctx, sessionPage)
				if err != nil {
					return nil, err
				}
				best.add(list)
				read = len(list) < sessionPage
			}
			sorted = best.sorted()
		}
		list := sorted[:min(most, len(sorted))]
		sorted = sorted[len(list):]
		return list, nil
	}
}

// lastUsed keeps those of many sessions that were used last: limit of them and one more, which tells that there are more, or
// all if limit is 0. With a limit it never holds more than twice that and a page.
type lastUsed struct {
	after turn.SessionInfo // only those used before it, unless it is zero
	limit int
	kept  []turn.SessionInfo
}

// add considers sessions.
func (l *lastUsed) add(list []turn.SessionInfo) {
	for _, s := range list {
		if l.after.Session == "" || usedLater(s, l.after) > 0 {
			l.kept = append(l.kept, s)
		}
	}
	// Sorted only when as many have come as are to stay: a large limit is then not sorted again for each page.
	if l.limit > 0 && len(l.kept)/2 > l.limit {
		l.sorted()
	}
}

// sorted returns what is kept, the one used last first. It stays l's.
func (l *lastUsed) sorted() []turn.SessionInfo {
	slices.SortFunc(l.kept, usedLater)
	if l.limit > 0 && len(l.kept)-1 > l.limit {
		l.kept = slices.Delete(l.kept, l.limit+1, len(l.kept))
	}
	return l.kept
}

// usedLater orders sessions by their last use, and by their creation where that is the same.
func usedLater(a, b turn.SessionInfo) int {
	return cmp.Or(b.LastActivity.Compare(a.LastActivity), cmp.Compare(b.Segment, a.Segment))
}
