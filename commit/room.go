package commit

import (
	"cmp"
	"context"
	"slices"

	"github.com/turnstone-dev/turnstone/memory"
)

// room is what is known of the items that may be archived for space. Looking for the least important ones means to go
// through all of a session's, so that a look finds more than are archived at once, and what is added after it is noted
// here: most commits that make room need not look. Standings share it, so that what is in it never changes.
type room struct {
	least []ranked  // the least important of those that were there, in the order they go
	all   bool      // there were no others
	added *addition // since, the last first
}

// addition is what one commit added, after those before it. It is a list of its own, since a commit that fails leaves the
// standing as it was for the next one: appending to a shared slice, both would write to the same place.
type addition struct {
	items  []ranked
	before *addition
}

// ranked is an item and what it is archived by.
type ranked struct {
	importance int64
	id         string
}

func (r ranked) compare(other ranked) int {
	return cmp.Or(cmp.Compare(r.importance, other.importance), cmp.Compare(r.id, other.id))
}

const (
	// maxSlack bounds the slack of large quotas.
	maxSlack = 256
	// spare is how many more than are archived a look finds.
	spare = 768
)

// slack is how many items more than needed are archived, so that not every commit has to. It is a small part of the quota: what
// is archived with it must not be what matters most, and there is none where the quota is small.
func (p *Pipeline) slack() int {
	quota := cmp.Or(p.config.Selection.Quota.Session, memory.DefaultQuota.Session)
	return int(min(maxSlack, quota/16))
}

// with is the room after the rows were added. Nothing is noted before the first look.
func (r room) with(rows []memory.Row, policies memory.Policies) room {
	if !r.all && len(r.least) == 0 {
		return r
	}
	items := make([]ranked, 0, len(rows))
	for i := range rows {
		if !policies.For(rows[i].Type).QuotaExempt {
			items = append(items, ranked{rows[i].Importance, rows[i].ID})
		}
	}
	if len(items) > 0 {
		r.added = &addition{items, r.added}
	}
	return r
}

// take returns the n items that go first, all that there are if these are fewer, and what is left of the room. It reports
// false where only a look can tell.
func (r room) take(n int) (ids []string, rest room, ok bool) {
	known := slices.Clone(r.least)
	for added := r.added; added != nil; added = added.before {
		for _, a := range added.items {
			// Behind the last of them there may be others.
			if r.all || len(r.least) > 0 && a.compare(r.least[len(r.least)-1]) < 0 {
				known = append(known, a)
			}
		}
	}
	slices.SortFunc(known, ranked.compare)
	known = slices.Compact(known)
	if !r.all && len(known) < n {
		return nil, room{}, false
	}
	n = min(n, len(known))
	ids = make([]string, n)
	for i := range ids {
		ids[i] = known[i].id
	}
	return ids, room{least: slices.Clone(known[n:]), all: r.all}, true
}

// look finds the room that there is for the first so many items.
func look(ctx context.Context, at *place, policies memory.Policies, most int) (room, error) {
	r := room{all: true}
	for _, filter := range policies.ArchiveForSpace(at.info.Tenant, at.info.Segment, at.now, most) {
		rows, err := at.tx.Memory().Items(ctx, filter)
		if err != nil {
			return room{}, err
		}
		r.all = r.all && len(rows) < most
		for i := range rows {
			r.least = append(r.least, ranked{rows[i].Importance, rows[i].ID})
		}
	}
	slices.SortFunc(r.least, ranked.compare)
	if !r.all {
		r.least = r.least[:most]
	}
	return r, nil
}

// makeRoom archives the least important of what may be archived. Where that was all of it and the session
// is still too full, trying again pays only once more has come.
func (m *memoryPart) makeRoom(ctx context.Context, p *Pipeline, at *place) error {
	slack := p.slack()
	if m.archive == 0 || at.next.crowded > 0 && at.next.live < at.next.crowded+int64(slack) {
		return nil
	}
	n := m.archive + slack
	ids, rest, ok := at.next.room.take(n)
	if !ok {
		most := n
		if _, alone := p.store.Generation(); alone { // otherwise what is found is known for this commit only
			most += spare
		}
		found, err := look(ctx, at, p.config.Selection.Policies, most)
		if err != nil {
			return err
		}
		ids, rest, _ = found.take(n)
	}
	if err := at.tx.Memory().ArchiveItems(ctx, at.info.Tenant, ids, at.now); err != nil {
		return err
	}
	at.next.room = rest
	at.next.live -= int64(len(ids))
	at.next.crowded = 0
	if len(ids) < m.archive {
		at.next.crowded = at.next.live
	}
	return nil
}
