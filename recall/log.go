package recall

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/turn"
)

// log is the turns of some sessions as a corpus.
type log struct {
	rows  LogRows
	query Query
	asked *question
	spans []turn.Span // the newest sessions first, one of each segment
	order map[int64]int
	// owners are the sessions that turns are cited by, by segment; see owner.
	owners map[int64]turn.SessionInfo
	home   map[int64]turn.Span // where the turns of the asking session are
	paths  map[string][]turn.Range
	turns  float64
	// fresh is where the terms of the query stand in turns that are not indexed yet.
	fresh map[string][]turn.Place
}

const (
	// maxSessions is how many sessions are searched, the newest.
	maxSessions = 10_000
	sessionPage = 1000
	freshPage   = 256
)

func newLog(ctx context.Context, rows LogRows, q Query, asked *question) (*log, error) {
	l := &log{
		rows: rows, query: q, asked: asked,
		order: make(map[int64]int), owners: make(map[int64]turn.SessionInfo),
		home: make(map[int64]turn.Span), paths: make(map[string][]turn.Range),
	}
	sessions, err := l.sessions(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range q.Home.Spans(math.MaxInt64) {
		l.home[s.Segment] = s
	}
	l.lay(sessions)
	return l, l.readFresh(ctx)
}

// sessions lists what is searched, the newest first. The asking session is there in any case.
func (l *log) sessions(ctx context.Context) ([]turn.SessionInfo, error) {
	home := l.query.Home
	if l.query.Scope == "" || l.query.Scope == OfSession {
		return []turn.SessionInfo{home}, nil
	}
	f := turn.SessionFilter{Tenant: home.Tenant, Limit: sessionPage}
	if l.query.Scope == OfUser {
		f.User = home.User
	}
	var sessions []turn.SessionInfo
	for len(sessions) < maxSessions {
		page, err := l.rows.Sessions(ctx, f)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, page...)
		if len(page) < sessionPage {
			break
		}
		f.Before = page[len(page)-1].Segment
	}
	if home.Session != "" && !slices.ContainsFunc(sessions, func(s turn.SessionInfo) bool { return s.Key == home.Key }) {
		sessions = append(sessions, home)
	}
	return sessions, nil
}

// lay puts the spans of the sessions in order. What a fork shares with its parent is searched once, as the
// parent's where that is there too.
func (l *log) lay(sessions []turn.SessionInfo) {
	for _, s := range sessions {
		for _, span := range s.Spans(math.MaxInt64) {
			if i, there := l.order[span.Segment]; there {
				l.spans[i].From, l.spans[i].To = min(l.spans[i].From, span.From), max(l.spans[i].To, span.To)
			} else {
				l.order[span.Segment] = len(l.spans)
				l.spans = append(l.spans, span)
			}
			if _, owned := l.owners[span.Segment]; !owned || span.Segment == s.Segment {
				l.owners[span.Segment] = s
			}
		}
	}
	for _, span := range l.spans {
		l.turns += float64(span.To - span.From + 1)
	}
}

// readFresh reads what the index does not hold yet.
func (l *log) readFresh(ctx context.Context) error {
	l.fresh = make(map[string][]turn.Place)
	wanted := make(map[string]bool)
	for _, w := range l.asked.terms {
		wanted[w.term] = true
		for _, other := range w.others {
			wanted[other] = true
		}
	}
	tails, err := l.rows.TextTails(ctx, l.query.Home.Tenant, l.spans)
	if err != nil {
		return err
	}
	for _, tail := range tails {
		for !tail.Empty() {
			page, err := l.rows.Scan(ctx, l.query.Home.Tenant, tail, turn.RowFilter{}, freshPage)
			if err != nil {
				return err
			}
			if len(page) == 0 {
				break
			}
			for _, t := range page {
				for _, term := range words.Set(t.Content.Searchable()) {
					if wanted[term] {
						l.fresh[term] = append(l.fresh[term], turn.Place{Segment: tail.Segment, Seq: t.Seq})
					}
				}
			}
			tail.From = page[len(page)-1].Seq + 1
		}
	}
	return nil
}

func (l *log) size() float64 { return l.turns }

// places cuts off after the index and what is not indexed were put in one order, so that it does not matter
// how far the index is.
func (l *log) places(ctx context.Context, term string) ([]turn.Place, float64, error) {
	at, err := l.rows.TextPlaces(ctx, l.query.Home.Tenant, l.spans, term, maxPlaces)
	if err != nil {
		return nil, 0, err
	}
	if at, err = l.held(ctx, append(at, l.fresh[term]...)); err != nil || len(at) < maxPlaces {
		return at, float64(len(at)), err
	}
	slices.SortFunc(at, func(a, b turn.Place) int {
		return cmp.Or(cmp.Compare(l.order[a.Segment], l.order[b.Segment]), cmp.Compare(b.Seq, a.Seq))
	})
	at = at[:maxPlaces]
	last := at[maxPlaces-1]
	span := l.order[last.Segment]
	looked := float64(l.spans[span].To - last.Seq + 1)
	for _, s := range l.spans[:span] {
		looked += float64(s.To - s.From + 1)
	}
	return at, maxPlaces * l.turns / looked, nil
}

// held leaves out what the asking session went back behind: what stands beside it is no answer either. Of other sessions that
// is asked of what is found alone, since there may be thousands.
func (l *log) held(ctx context.Context, at []turn.Place) (held []turn.Place, err error) {
	for _, p := range at {
		on := true
		if l.ours(p) {
			if _, on, err = l.owner(ctx, p); err != nil {
				return nil, err
			}
		}
		if on {
			held = append(held, p)
		}
	}
	return held, nil
}

func (l *log) holds(at turn.Place) bool {
	i, there := l.order[at.Segment]
	return there && at.Seq >= l.spans[i].From && at.Seq <= l.spans[i].To && !l.excluded(at)
}

func (l *log) excluded(at turn.Place) bool {
	return l.ours(at) && inside(l.query.Exclude, at.Seq)
}

func (l *log) shown(at turn.Place) bool {
	return l.ours(at) && inside(l.query.Shown, at.Seq)
}

// wants reports whether a turn may be a hit. More are looked at.
func (l *log) wants(at turn.Place) bool { return l.holds(at) && !l.shown(at) }

// ours reports whether a turn is one of the asking session.
func (l *log) ours(at turn.Place) bool {
	span, ours := l.home[at.Segment]
	return ours && at.Seq >= span.From && at.Seq <= span.To
}

const (
	// readPage is how many turns are read at once, and longText how many bytes one may have to be held until it is known
	// which are the best: turns may be large, and hundreds are judged.
	readPage = 64
	longText = 4 << 10
)

func (l *log) read(ctx context.Context, at []turn.Place) (map[turn.Place]*document, error) {
	found := make(map[turn.Place]*document, len(at))
	matter := l.asked.matter()
	for page := range slices.Chunk(at, readPage) {
		if err := l.readPage(ctx, page, matter, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (l *log) readPage(ctx context.Context, at []turn.Place, matter map[string]string, found map[turn.Place]*document) error {
	turns, err := l.rows.TurnsAt(ctx, l.query.Home.Tenant, at)
	if err != nil {
		return err
	}
	for _, t := range turns {
		at := turn.Place{Segment: t.Segment, Seq: t.Seq}
		session, on, err := l.owner(ctx, at)
		if err != nil {
			return err
		}
		if !on || t.Kind == turn.KindSummary {
			continue
		}
		text := t.Content.Searchable()
		if strings.TrimSpace(text) == l.asked.text {
			continue
		}
		d := newDocument(text)
		d.narrow(matter)
		if len(text) > longText {
			t.Content = nil // read again where it is shown
		}
		d.role, d.date, d.prior, d.stored = t.Role, dateOf(t.CreatedAt), recent(l.query.Now, t.CreatedAt), t
		d.session = session
		found[at] = d
	}
	return nil
}

// owner returns the session that a turn is cited by; ok is false for one that holds no longer. What the asking
// session shares with another is its own where only the other went back behind it.
func (l *log) owner(ctx context.Context, at turn.Place) (session string, ok bool, err error) {
	owner, home := l.owners[at.Segment], l.query.Home
	if ok, err = l.onPath(ctx, owner, at.Seq); ok || err != nil {
		return owner.Session, ok, err
	}
	if !l.ours(at) {
		return "", false, nil
	}
	ok, err = l.onPath(ctx, home, at.Seq)
	return home.Session, ok, err
}

func (l *log) onPath(ctx context.Context, s turn.SessionInfo, seq int64) (bool, error) {
	if l.query.Path == nil {
		return true, nil
	}
	path, known := l.paths[s.Session]
	if !known {
		var err error
		if path, err = l.query.Path(ctx, s); err != nil {
			return false, err
		}
		l.paths[s.Session] = path
	}
	return len(path) == 0 || inside(path, seq), nil
}

const (
	recentWeight = 0.05
	recentHalf   = 30 // days
)

// recent is what a score is multiplied with for being of that age in whole days: little, since what is asked
// for is what was forgotten.
func recent(now, at time.Time) float64 {
	days := max(0, now.Sub(at)) / (24 * time.Hour)
	return 1 + recentWeight*math.Exp2(-float64(days)/recentHalf)
}
