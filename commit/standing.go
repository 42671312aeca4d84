package commit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// standing is what is known of a session before an exchange is committed to it. A commit makes the next
// one of it; only what the next one shares or would make again, recent, goals and user, changes in place, and
// only by who commits to the session.
type standing struct {
	info       turn.SessionInfo // Head and times may be older than the rest: others append without a commit
	intentions *cortex.State
	goals      pursuit // of the intentions that were asked for last
	page       *scratch.Page
	digest     memory.Digest
	recent     *memory.Recent
	facts      []string      // what the user told, as much as is looked at of it, newest first
	user       *memory.Facts // the facts that were asked for last
	live       int64         // items that count against the quota
	crowded    int64         // how many of them were left when the last that could be archived were; 0: there are more
	room       room          // that archiving some of them would make
	// waiting are the targets of which something of an earlier exchange is put off: what follows waits
	// behind it.
	waiting    map[Target]bool
	generation uint64
	number     uint64 // see standings.made
	// read is what standings.last was before its items and facts were read: it is not kept if items were forgotten since.
	read uint64
}

// maxFacts bounds how many of the user's items are looked at when relevance is judged.
const maxFacts = 16

// standings keeps the standing of sessions that were committed to lately, so that a commit reads
// nothing. What another process may have changed in the meantime is not used.
type standings struct {
	store store.Store
	limit int

	mu    sync.Mutex // guards what is below
	known map[turn.Key]*standing
	order []turn.Key // oldest first, for throwing away
	// last is the number of the standing that was made last, dropped what it was when one was dropped that is not known any more,
	// forgot what it was when all were.
	last, dropped, forgot uint64
}

func newStandings(st store.Store, limit int) *standings {
	return &standings{store: st, limit: limit, known: make(map[turn.Key]*standing)}
}

// valid returns what is known of the session if it still holds. Inside an update the answer is exact:
// nobody else can write, and who wrote before in the same transaction has dropped what is no longer so.
// Outside of one it may be a little old.
func (s *standings) valid(key turn.Key) (*standing, bool) {
	generation, ok := s.store.Generation()
	if !ok {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.known[key]
	if st == nil || st.generation != generation {
		return nil, false
	}
	return st, true
}

// made notes that an update makes the standing now.
func (s *standings) made(st standing) *standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	st.number = s.last
	return &st
}

// put keeps the standing. Called after the update that made it true is durable. By then another update may have dropped it:
// a store may run one before it says that the one before is durable.
func (s *standings) put(key turn.Key, st *standing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.known[key]
	if st.read < s.forgot || old == nil && st.number <= s.dropped || old != nil && st.number < old.number {
		return
	}
	if old == nil {
		s.order = append(s.order, key)
		for len(s.order) > s.limit {
			// It may be one that was dropped, and then nothing else knows when.
			s.dropped = max(s.dropped, s.known[s.order[0]].number)
			delete(s.known, s.order[0])
			s.order = s.order[1:]
		}
	}
	s.known[key] = st
}

// drop forgets what is known of a session: somebody changed it without a commit.
func (s *standings) drop(key turn.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	if s.known[key] == nil {
		s.dropped = s.last
		return
	}
	s.known[key] = &standing{generation: ^uint64(0), number: s.last}
}

// dropAll is drop for every session, and for what was read of items so far: exchanges that are being committed are judged by it,
// and nothing that they make of it is kept.
func (s *standings) dropAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.forgot = s.last
	clear(s.known)
	s.order = s.order[:0]
}

// now is what a standing is read as: see standing.read.
func (s *standings) now() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// load reads the standing of a session. It is true for the transaction it was read in, before which read was asked for.
func (s *standings) load(ctx context.Context, tx store.Tx, info turn.SessionInfo, read uint64) (*standing, error) {
	generation, _ := s.store.Generation()
	st := &standing{info: info, generation: generation, recent: new(memory.Recent), read: read}
	if err := st.loadChanging(ctx, tx, info); err != nil {
		return nil, err
	}
	if info.Head > 0 {
		if err := st.loadItems(ctx, tx, info); err != nil {
			return nil, err
		}
	}
	if info.Head == 0 && info.User == "" {
		return st, nil
	}
	return st, st.loadFacts(ctx, tx, info)
}

// Made says that the transaction makes a session: its first commit has nothing to read then. What a user told may be in
// other sessions.
func (p *Pipeline) Made(tx store.Tx, info turn.SessionInfo) {
	generation, ok := p.store.Generation()
	if !ok || info.User != "" {
		return
	}
	st := p.standings.made(standing{
		info: info, intentions: cortex.Live(), page: new(scratch.Page), recent: new(memory.Recent), generation: generation,
		read: p.standings.now(),
	})
	tx.AfterCommit(func() { p.standings.put(info.Key, st) })
}

// loadItems reads what the session's last items were like and counts them.
func (st *standing) loadItems(ctx context.Context, tx store.Tx, info turn.SessionInfo) error {
	last, err := tx.Memory().Items(ctx, memory.Filter{
		Tenant: info.Tenant, Segment: info.Segment, Archived: true, Limit: memory.RecentSize, Now: tx.Now(),
	})
	if err != nil {
		return fmt.Errorf("recent items: %w", err)
	}
	for i := range last {
		st.recent.AddRow(&last[len(last)-1-i])
	}
	if st.live, err = tx.Memory().LiveItems(ctx, info.Tenant, info.Segment, tx.Now()); err != nil {
		return fmt.Errorf("count of items: %w", err)
	}
	return nil
}

// loadFacts reads what the user told last, in this session or, where the user is known, in any.
func (st *standing) loadFacts(ctx context.Context, tx store.Tx, info turn.SessionInfo) error {
	told := memory.Filter{Tenant: info.Tenant, Segment: info.Segment, Type: memory.UserData, Limit: maxFacts, Now: tx.Now()}
	if info.User != "" {
		told.Segment, told.User = 0, info.User
	}
	facts, err := tx.Memory().Items(ctx, told)
	if err != nil {
		return fmt.Errorf("items of the user: %w", err)
	}
	for _, f := range facts {
		st.facts = append(st.facts, clip(f.Text, maxLine))
	}
	return nil
}

// loadChanging reads what must not be built on once it is old.
func (st *standing) loadChanging(ctx context.Context, tx store.Tx, info turn.SessionInfo) (err error) {
	st.info = info
	if st.intentions, err = cortex.Load(ctx, tx.Cortex(), info.Tenant, info.Lineage(info.Head), true); err != nil {
		return fmt.Errorf("goals and actions: %w", err)
	}
	if st.page, err = scratch.Load(ctx, tx.Scratch(), info.Tenant, info.Segment, tx.Now()); err != nil {
		return fmt.Errorf("scratch page: %w", err)
	}
	if st.digest, err = LoadDigest(ctx, tx, info); err != nil {
		return err
	}
	targets, err := tx.Outbox().WaitingTargets(ctx, info.Tenant, info.Session)
	if err != nil {
		return fmt.Errorf("what is put off: %w", err)
	}
	st.waiting = nil
	for _, t := range targets {
		st.wait(Target(t))
	}
	return nil
}

// wait notes that something of a target is put off. The map is never changed, since standings share it.
func (st *standing) wait(t Target) {
	waiting := maps.Clone(st.waiting)
	if waiting == nil {
		waiting = make(map[Target]bool)
	}
	waiting[t] = true
	st.waiting = waiting
}

// openDeferrals returns what is put off of a session and not given up, oldest first.
func openDeferrals(ctx context.Context, tx store.Tx, key turn.Key) ([]event.Deferral, error) {
	open, err := tx.Outbox().WaitingDeferrals(ctx, key.Tenant, key.Session)
	if err != nil {
		return nil, fmt.Errorf("what is put off: %w", err)
	}
	return open, nil
}

// waitingHistories are those of them that are turns.
func waitingHistories(ctx context.Context, tx store.Tx, key turn.Key) ([]event.Deferral, error) {
	open, err := openDeferrals(ctx, tx, key)
	return slices.DeleteFunc(open, func(d event.Deferral) bool { return Target(d.Target) != History }), err
}

// current is the session's standing inside an update that holds its lock.
func (p *Pipeline) current(ctx context.Context, tx store.Tx, info turn.SessionInfo, base *standing) (*standing, error) {
	if st, ok := p.standings.valid(info.Key); ok && st == base {
		return base, nil
	}
	generation, _ := p.store.Generation()
	// What novelty is judged by and the count for the quota may be a little old. What was forgotten goes with this update.
	st := &standing{
		recent: base.recent, facts: base.facts, user: base.user, live: base.live, crowded: base.crowded,
		generation: generation, read: base.read,
	}
	return st, st.loadChanging(ctx, tx, info)
}
