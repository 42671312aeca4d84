package turn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Query selects turns of one session. Empty fields are not asked for; all others must hold.
type Query struct {
	ID   string
	Role Role
	Form Form
	Kind Kind
	// From and To bound the seq, inclusive.
	From, To int64
	// Since and Until bound the time of the turn: not before Since, before Until.
	Since, Until time.Time
	// Match is a literal that the turn's text must hold, case included.
	Match string
	// Regexp is an RE2 expression that the turn's text must match somewhere.
	Regexp string
	// Text are words that the turn's text must all hold, in any order, whatever their case and
	// English ending: "running tests" finds "the test runs".
	Text string
	// Among restricts the answer to these turn ids, nil for no restriction. It is how a flow's
	// turns are asked for: flows point at turns, turns know no flows.
	Among []string
	// Limit is how many turns a page holds at most. Defaults to 100, at most 10,000.
	Limit int
	// After is the cursor: the seq of the last turn of the page before.
	After int64
}

// Page is one page of an answer, ascending. Next is the cursor of the page after it, 0 on the last.
// Each turn is a row of its own, a tool call without its results if those do not match: its Unit
// says what it belongs to.
type Page struct {
	Turns []Turn
	Next  int64
}

// Search is a checked query; see [Query.Compile].
type Search struct {
	query   Query
	filter  RowFilter
	pattern pattern
}

// Compile checks the query. Errors are *[FieldError] and name the field.
func (q Query) Compile() (*Search, error) {
	if err := q.checkFields(); err != nil {
		return nil, err
	}
	if q.Limit == 0 {
		q.Limit = 100
	}
	if q.To == 0 {
		q.To = math.MaxInt64
	}
	if q.ID != "" {
		if q.Among == nil || slices.Contains(q.Among, q.ID) {
			q.Among = []string{q.ID}
		} else {
			q.Among = []string{}
		}
	}
	p, err := compilePattern(q.Match, q.Regexp, q.Text)
	if err != nil {
		return nil, err
	}
	return &Search{
		query: q, pattern: p,
		filter: RowFilter{Role: q.Role, Form: q.Form, Kind: q.Kind, Since: wholeMicros(q.Since), Until: wholeMicros(q.Until)},
	}, nil
}

// wholeMicros rounds up to what turns are stamped with, so that a bound between two microseconds means
// the same to every store.
func wholeMicros(t time.Time) time.Time {
	if whole := t.Truncate(time.Microsecond); whole.Before(t) {
		return whole.Add(time.Microsecond)
	}
	return t
}

func (q *Query) checkFields() error {
	if q.Role != "" {
		if _, ok := legal[q.Role]; !ok {
			return Check(q.Role, FormText)
		}
	}
	if q.Form != "" {
		if err := Check(User, q.Form); err != nil {
			return err
		}
	}
	switch q.Kind {
	case "", KindTurn, KindSummary:
	default:
		return fieldErrorf("kind", "use turn or summary", "%q is not a kind", q.Kind)
	}
	if q.Limit < 0 || q.Limit > 10_000 {
		return fieldErrorf("limit", "give 1 to 10000", "%d is out of range", q.Limit)
	}
	if q.After < 0 || q.From < 0 || q.To < 0 {
		return fieldErrorf("after", "give seqs of turns", "a seq is never negative")
	}
	return nil
}

// SearchRows is the part of a transaction that a search reads.
type SearchRows interface {
	TurnRows
	TextRows
}

// Run answers the query on a session, following its spans from the cursor on. It reads no further
// than the page needs. Turns appended later never change a page before them.
func (q *Search) Run(ctx context.Context, rows SearchRows, s SessionInfo) (Page, error) {
	if q.query.After == math.MaxInt64 {
		return Page{}, nil
	}
	r := &run{Search: q, rows: rows, session: s}
	var err error
	if q.query.Among != nil {
		err = r.among(ctx)
	} else {
		err = r.walk(ctx)
	}
	if err != nil && !errors.Is(err, errPageFull) {
		return Page{}, fmt.Errorf("query of %s: %w", s.Session, err)
	}
	page := Page{Turns: r.found}
	if len(r.found) > q.query.Limit {
		page.Turns = r.found[:q.query.Limit]
		page.Next = page.Turns[q.query.Limit-1].Seq
	}
	return page, nil
}

var errPageFull = errors.New("page full")

type run struct {
	*Search
	rows    SearchRows
	session SessionInfo
	found   []Turn
}

// offer keeps a candidate that matches. One more than the page holds is kept, to know whether
// there is a next page.
func (r *run) offer(t Turn) error {
	if !r.pattern.matchText(&t) {
		return nil
	}
	t.Session = r.session.Session
	r.found = append(r.found, t)
	if len(r.found) > r.query.Limit {
		return errPageFull
	}
	return nil
}

func (r *run) from() int64 { return max(r.query.From, r.query.After+1) }

func (r *run) walk(ctx context.Context) error {
	for _, s := range r.session.Spans(r.query.To) {
		s.From = max(s.From, r.from())
		if s.Empty() {
			continue
		}
		if err := r.span(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// span searches one segment: what the full-text index holds through the index, what came after
// its mark turn by turn. Both are read in one transaction, so that nothing falls between them.
func (r *run) span(ctx context.Context, s Span) error {
	if len(r.pattern.terms) > 0 {
		mark, err := r.rows.TextMark(ctx, r.session.Tenant, s.Segment)
		if err != nil {
			return err
		}
		indexed := s
		indexed.To = min(s.To, mark)
		hits := func(s Span, limit int) ([]Turn, error) {
			return r.rows.TextHits(ctx, r.session.Tenant, s, r.pattern.terms, r.filter, limit)
		}
		if err := r.pages(indexed, hits, r.offer); err != nil {
			return err
		}
		s.From = max(s.From, mark+1)
	}
	scan := func(s Span, limit int) ([]Turn, error) {
		return r.rows.Scan(ctx, r.session.Tenant, s, r.filter, limit)
	}
	return r.pages(s, scan, func(t Turn) error {
		if !r.pattern.matchTerms(&t) {
			return nil
		}
		return r.offer(t)
	})
}

const scanPage = 256

// pages reads a span in pages. The first is small, so that a query for little reads little.
func (r *run) pages(s Span, read func(Span, int) ([]Turn, error), each func(Turn) error) error {
	limit := min(scanPage, r.query.Limit+1)
	for !s.Empty() {
		page, err := read(s, limit)
		if err != nil {
			return err
		}
		for _, t := range page {
			if err := each(t); err != nil {
				return err
			}
		}
		if len(page) < limit {
			return nil
		}
		s.From = page[len(page)-1].Seq + 1
		limit = scanPage
	}
	return nil
}

// among looks up turns by id; ids of other sessions are as good as unknown.
func (r *run) among(ctx context.Context) error {
	var turns []Turn
	spans := r.session.Spans(r.query.To)
	for _, id := range r.query.Among {
		stored, err := r.rows.TurnsByID(ctx, r.session.Tenant, id)
		if err != nil {
			return err
		}
		for _, t := range stored {
			if t.Seq >= r.from() && inside(spans, t) && r.filter.Match(&t.Turn) && r.pattern.matchTerms(&t.Turn) {
				turns = append(turns, t.Turn)
			}
		}
	}
	slices.SortFunc(turns, func(a, b Turn) int { return int(a.Seq - b.Seq) })
	turns = slices.CompactFunc(turns, func(a, b Turn) bool { return a.Seq == b.Seq })
	for _, t := range turns {
		if err := r.offer(t); err != nil {
			return err
		}
	}
	return nil
}

// Match reports whether a turn passes the filter; Newest does not matter to it.
func (f RowFilter) Match(t *Turn) bool {
	return (f.Role == "" || t.Role == f.Role) &&
		(f.Form == "" || t.Form == f.Form) &&
		(f.Kind == "" || t.Kind == f.Kind) &&
		(f.Since.IsZero() || !t.CreatedAt.Before(f.Since)) &&
		(f.Until.IsZero() || t.CreatedAt.Before(f.Until)) &&
		(!f.Utterances || t.Utterance())
}
