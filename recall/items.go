package recall

import (
	"cmp"
	"context"
	"slices"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	// maxItems is how many items are looked at for each word and for all of them together, the newest.
	maxItems        = 64
	importantWeight = 0.2
)

// searchItems ranks what was remembered in the same scope. Words weigh what they weigh in the log, so that
// the scores can be compared.
func searchItems(ctx context.Context, rows ItemRows, l *log, clues []clue) ([]Hit, error) {
	f := memory.Filter{Tenant: l.query.Home.Tenant, Limit: maxItems, Now: l.query.Now}
	switch l.query.Scope {
	case OfUser:
		f.User = l.query.Home.User
	case OfTenant:
	default:
		f.Segment = l.query.Home.Segment
	}
	items := make(map[string]memory.Row)
	docs := make(map[string]*document)
	for _, f.Terms = range l.asked.sets() {
		page, err := rows.Items(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, item := range page {
			if _, there := items[item.ID]; !there && item.Text != "" {
				d := newDocument(item.Text)
				d.date = dateOf(item.Created)
				d.prior = recent(l.query.Now, item.Created) * (1 + importantWeight*float64(item.Importance)/1e6)
				items[item.ID], docs[item.ID] = item, d
			}
		}
	}
	judge := newJudge(l.asked, clues, docs)
	var hits []Hit
	for id, item := range items {
		episode, owner, err := memory.FromRow(item)
		if err != nil {
			return nil, err
		}
		// An item stands alone: its own words are what is talked about around it.
		r := judge.of(docs[id], judge.around(docs[id]))
		hits = append(hits, Hit{
			Session: owner.Session, Item: id, Time: item.Created, Text: item.Text, Score: r.score, Why: r.why,
			Citation: "[memory " + id + "]", links: episode.Links.Turns,
		})
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Item, a.Item)) })
	return l.wantedItems(ctx, hits)
}

// wantedItems are the best items, without those that were made of turns alone that are not to be found: the
// result of a tool, which is remembered word for word, is no more wanted than its turn.
func (l *log) wantedItems(ctx context.Context, hits []Hit) ([]Hit, error) {
	var wanted []Hit
	for _, h := range hits {
		if len(wanted) == l.query.Limit {
			break
		}
		some := len(h.links) == 0
		for _, id := range h.links {
			found, err := l.findable(ctx, id)
			if err != nil {
				return nil, err
			}
			if some = found; some {
				break
			}
		}
		if some {
			wanted = append(wanted, h)
		}
	}
	return wanted, nil
}

// findable reports whether a turn may be found, as far as is known: it may be one of a session that is not searched.
func (l *log) findable(ctx context.Context, id string) (bool, error) {
	if len(l.query.Exclude)+len(l.query.Shown) == 0 && l.query.Path == nil {
		return true, nil
	}
	turns, err := l.rows.TurnsByID(ctx, l.query.Home.Tenant, id)
	if err != nil || len(turns) == 0 {
		return true, err
	}
	for _, t := range turns {
		at := turn.Place{Segment: t.Segment, Seq: t.Seq}
		if _, searched := l.order[at.Segment]; !searched {
			return true, nil
		}
		if _, on, err := l.owner(ctx, at); err != nil || on && !l.excluded(at) && !l.shown(at) {
			return true, err
		}
	}
	return false, nil
}

// around is what a turn with these words, and none around it, would get for them in the log.
func (j *judge) around(d *document) (sum float64) {
	for _, c := range j.clues {
		switch share := c.weight * (nearWeight + aroundWeight) / 2; {
		case slices.Contains(d.terms, c.term):
			sum += share
		case slices.ContainsFunc(c.others, func(other string) bool { return slices.Contains(d.terms, other) }):
			sum += familyShare * share
		}
	}
	return sum
}
