package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
)

// FieldError says which field of a query was refused, why, and what to do.
type FieldError = invalid.Field

// Scope is whose conversations are searched.
type Scope string

// The scopes. The zero Scope is OfSession.
const (
	OfSession Scope = "session"
	OfUser    Scope = "user"   // all sessions of the session's user
	OfTenant  Scope = "tenant" // all sessions of the tenant
)

// Query is what to look for, seen from a session.
type Query struct {
	// Text is the question, in any words.
	Text  string
	Scope Scope
	// Home is the session that asks. It is always searched. Whoever asks in no session has a tenant there, and a user in the scope
	// of users.
	Home turn.SessionInfo
	// Now is the time that recent turns are recent at, and that memory must not have expired at.
	Now time.Time
	// Exclude are turns of Home that are not wanted, such as those that the prompt shows: inclusive
	// ranges of seqs, the last of which goes on for ever if its To is 0. A unit is left out if any of its
	// turns is in one, and an item of memory if all turns that it was made of are.
	Exclude []turn.Range
	// Shown are turns of Home that are not wanted either, as ranges like those of Exclude, but what stands beside them
	// is found by their words: the answer to a question that the prompt shows alone.
	Shown []turn.Range
	// Path returns the turns of a session that still hold, as ranges like those of Exclude; see
	// [turn.HistoryOptions]. It is asked about sessions that something was found in. Nil: all turns do.
	Path func(context.Context, turn.SessionInfo) ([]turn.Range, error)
	// Limit is how many hits there are at most. Defaults to 10, at most 200.
	Limit int
}

const (
	defaultLimit = 10
	maxLimit     = 200
)

// LogRows is the part of a log that is searched.
type LogRows interface {
	turn.TurnRows
	turn.TextRows
	Sessions(ctx context.Context, f turn.SessionFilter) ([]turn.SessionInfo, error)
}

// ItemRows is the part of memory that is searched.
type ItemRows interface {
	Items(ctx context.Context, f memory.Filter) ([]memory.Row, error)
}

// Search returns what answers a query, best first: whole units of turns, none of them open, and items of
// memory that say something else than those. Summaries are never found, nor is a turn that consists of the query, nor
// one that was forgotten or has no words.
// Errors are *[FieldError] for a query that cannot be asked. It only reads, in one transaction.
func Search(ctx context.Context, log LogRows, items ItemRows, q Query) ([]Hit, error) {
	asked, err := q.check()
	if err != nil {
		return nil, err
	}
	if q.Limit == 0 {
		q.Limit = defaultLimit
	}
	hits, remembered, err := find(ctx, log, items, q, asked)
	if err != nil {
		return nil, fmt.Errorf("recall from %s: %w", cmp.Or(q.Home.Session, "all sessions"), err)
	}
	hits = append(hits, slices.DeleteFunc(remembered, func(h Hit) bool { return repeats(h, hits) })...)
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(len(hits), q.Limit)], nil
}

func find(ctx context.Context, rows LogRows, items ItemRows, q Query, asked *question) (hits, remembered []Hit, err error) {
	l, err := newLog(ctx, rows, q, asked)
	if err != nil {
		return nil, nil, err
	}
	clues, err := look(ctx, l, asked)
	if err != nil {
		return nil, nil, err
	}
	if hits, err = l.search(ctx, clues); err != nil {
		return nil, nil, err
	}
	remembered, err = searchItems(ctx, items, l, clues)
	return hits, remembered, err
}

// Asks reports whether a text has a word that says what it is about. One that has none can be searched for, but what is
// found by "what was that" is worth little.
func Asks(text string) bool {
	return slices.ContainsFunc(words.Terms(text), func(term string) bool { return !stopped()[term] })
}

func (q *Query) check() (*question, error) {
	asked := ask(q.Text)
	switch {
	case len(asked.terms) == 0:
		return nil, invalid.New("query", fmt.Sprintf("%.40q has no word to look for", q.Text), "ask in words")
	case q.Limit < 0 || q.Limit > maxLimit:
		return nil, invalid.New("limit", fmt.Sprintf("%d is out of range", q.Limit), fmt.Sprintf("give 1 to %d", maxLimit))
	}
	switch q.Scope {
	case "", OfSession, OfTenant:
	case OfUser:
		if q.Home.User == "" {
			return nil, invalid.New("scope", fmt.Sprintf("session %s has no user", q.Home.Session), "say whose it is, or use session or tenant")
		}
	default:
		return nil, invalid.New("scope", fmt.Sprintf("%.40q is not a scope", q.Scope), "use session, user or tenant")
	}
	return asked, nil
}

// repeats reports whether an item only says again what turns say that were found.
func repeats(item Hit, turns []Hit) bool {
	return slices.ContainsFunc(turns, func(h Hit) bool {
		return h.Text == item.Text || slices.ContainsFunc(h.Turns, func(t turn.Turn) bool { return slices.Contains(item.links, t.ID) })
	})
}

// inside reports whether a seq is in one of the ranges.
func inside(ranges []turn.Range, seq int64) bool {
	return slices.ContainsFunc(ranges, func(r turn.Range) bool { return seq >= r.From && (r.To == 0 || seq <= r.To) })
}
