package turnstone

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/redact"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// forgetting is one run of forgetting a session or turns of it.
type forgetting struct {
	engine *Engine
	target Target
	tenant string
	token  string     // of the leases
	leased []turn.Key // whose they are

	places   map[turn.Place]bool // the turns
	ids      map[string]bool     // their ids, of copies too
	whole    map[int64]bool      // segments of which nothing is to be left
	family   []turn.SessionInfo  // all that share turns with the session that was asked for, or have copies of them
	sessions []reached           // those of them that are reached, by their names, the one that was asked for first
	words    redact.Words        // what only the turns say
	said     repeatable          // what they say that others may repeat
	repeats  map[string]Repeat   // who does, by turn id
	since    time.Time           // when the first of the turns was said, those among them that were forgotten before

	turns  int
	counts []Removed
	// touched are what was reached that is no turn, by session, kind and id.
	touched map[[3]string]Touched
	at      time.Time

	files       []string // that are written again without it
	unreachable []string // that could not be
	warnings    []string // what is still to be done
}

// reached is a session that sees some of the turns, or of the same family a turn that was forgotten before: it may have kept what came
// of that one because one of the turns said it too.
type reached struct {
	handle  *Session
	info    turn.SessionInfo
	seqs    []int64      // of the turns as the session sees them, ascending
	since   int64        // the first turn that it sees that is forgotten, now or before; 0 where there is none
	whole   bool         // nothing of its own is to be left
	spoiled []turn.Range // turns whose summary was forgotten with them
	emptied int          // checkpoints that were emptied
	changed bool         // something of it was
}

// older reports whether what was written after a turn was there before anything that is forgotten was said.
func (r *reached) older(afterSeq int64) bool { return !r.whole && afterSeq < r.since }

// concerned reports whether forgetting has anything to do with the session.
func (r *reached) concerned() bool { return r.changed || r.whole || len(r.seqs) > 0 }

// sees reports whether one of the turns is in the range.
func (r *reached) sees(from, to int64) bool {
	i, _ := slices.BinarySearch(r.seqs, from)
	return i < len(r.seqs) && r.seqs[i] <= to
}

// spoils reports whether the turn is of an exchange whose summary was forgotten.
func (r *reached) spoils(seq int64) bool {
	return slices.ContainsFunc(r.spoiled, func(covers turn.Range) bool { return covers.From <= seq && seq <= covers.To })
}

// first is the first of the turns that the session sees.
func (r *reached) first() int64 {
	if len(r.seqs) == 0 {
		return math.MaxInt64
	}
	return r.seqs[0]
}

// read finds out what is to be forgotten and what only it says.
func (f *forgetting) read(ctx context.Context, tx store.Tx) error {
	if err := f.reach(ctx, tx); err != nil {
		return err
	}
	f.words, f.said, f.repeats = redact.Words{}, repeatable{literals: make(map[string]bool)}, make(map[string]Repeat)
	if len(f.places) == 0 {
		return nil
	}
	for places := range slices.Chunk(slices.Collect(maps.Keys(f.places)), 500) {
		gone, err := tx.Log().TurnsAt(ctx, f.tenant, places)
		if err != nil {
			return err
		}
		for i := range gone {
			for _, text := range textsOf(&gone[i].Turn) {
				f.words.Add(text)
				f.said.add(text)
			}
		}
	}
	if err := f.others(ctx, tx); err != nil {
		return err
	}
	return f.spareOlder(ctx, tx)
}

// others leaves out what turns say that stay, in the sessions that are reached, and notes those of the family that repeat something.
func (f *forgetting) others(ctx context.Context, tx store.Tx) error {
	reached := make([]turn.SessionInfo, len(f.sessions))
	for i := range f.sessions {
		reached[i] = f.sessions[i].info
	}
	seen := ends(reached)
	for segment, span := range ends(f.family) {
		one := turn.SessionInfo{Key: turn.Key{Tenant: f.tenant}, Segment: segment, ForkSeq: span.From - 1, Head: span.To}
		for t, err := range turnsOf(ctx, tx, one) {
			if err != nil {
				return err
			}
			if f.places[turn.Place{Segment: segment, Seq: t.Seq}] {
				continue
			}
			texts := textsOf(&t)
			for _, text := range texts {
				if t.Seq <= seen[segment].To {
					f.words.Spare(text)
				}
			}
			f.repeated(segment, &t, texts)
		}
	}
	return nil
}

// ends are the segments that sessions show, each as far as any of them does.
func ends(sessions []turn.SessionInfo) map[int64]turn.Span {
	all := make(map[int64]turn.Span)
	for i := range sessions {
		for _, span := range sessions[i].Spans(sessions[i].Head) {
			span.To = max(span.To, all[span.Segment].To)
			all[span.Segment] = span
		}
	}
	return all
}

// textsOf is all that a turn says. A summary says what turns say.
func textsOf(t *turn.Turn) []string {
	if t.Kind == turn.KindSummary {
		return nil
	}
	texts := []string{t.Content.Searchable(), t.IdempotencyKey, t.Meta.Model}
	if c, ok := t.Content.(turn.Text); ok {
		texts = append(texts, c.Thinking)
	}
	return texts
}

// reach finds the turns and the sessions that see them.
func (f *forgetting) reach(ctx context.Context, tx store.Tx) error {
	f.places, f.ids, f.whole, f.family, f.sessions = make(map[turn.Place]bool), make(map[string]bool), make(map[int64]bool), nil, nil
	f.since = time.Time{}
	key, err := turn.NewKey(f.tenant, f.target.Session)
	if err != nil {
		return err
	}
	info, err := tx.Log().Session(ctx, key)
	if err != nil {
		return fmt.Errorf("session %s: %w", key.Session, err)
	}
	if f.target.All {
		err = f.takeSession(ctx, tx, info)
	} else {
		err = f.takeTurns(ctx, tx, info)
	}
	if err != nil {
		return err
	}
	if err := f.findSessions(ctx, tx, info); err != nil {
		return err
	}
	return f.takeSummaries(ctx, tx)
}

// takeTurns takes the turns that the target names, with their units and copies.
func (f *forgetting) takeTurns(ctx context.Context, tx store.Tx, info turn.SessionInfo) error {
	named := slices.Clone(f.target.TurnIDs)
	for _, seq := range f.target.Seqs {
		var found []turn.Stored
		for _, span := range info.Spans(info.Head) {
			if span.From <= seq && seq <= span.To {
				var err error
				if found, err = tx.Log().TurnsAt(ctx, f.tenant, []turn.Place{{Segment: span.Segment, Seq: seq}}); err != nil {
					return err
				}
			}
		}
		if len(found) == 0 {
			return fmt.Errorf("turn %d of %s: %w", seq, info.Session, turn.ErrNotFound)
		}
		named = append(named, found[0].ID)
	}
	for _, id := range named {
		copies, err := tx.Log().TurnsByID(ctx, f.tenant, id)
		if err != nil {
			return err
		}
		here := slices.ContainsFunc(copies, func(t turn.Stored) bool {
			return slices.ContainsFunc(info.Spans(info.Head), func(s turn.Span) bool {
				return s.Segment == t.Segment && s.From <= t.Seq && t.Seq <= s.To
			})
		})
		if !here {
			return fmt.Errorf("turn %s of %s: %w", id, info.Session, turn.ErrNotFound)
		}
		for i := range copies {
			if err := f.take(ctx, tx, copies[i].Segment, &copies[i].Turn); err != nil {
				return err
			}
		}
	}
	return nil
}

// take takes a turn with its whole unit.
func (f *forgetting) take(ctx context.Context, tx store.Tx, segment int64, t *turn.Turn) error {
	f.put(segment, t)
	if t.Unit == 0 {
		return nil
	}
	members, err := tx.Log().Units(ctx, f.tenant, segment, t.Unit, t.Unit)
	for i := range members {
		f.put(segment, &members[i])
	}
	return err
}

// put notes a turn. One that was forgotten before leaves nothing to find: what was made since is not made of it.
func (f *forgetting) put(segment int64, t *turn.Turn) {
	f.ids[t.ID] = true
	if !t.Gone() {
		f.places[turn.Place{Segment: segment, Seq: t.Seq}] = true
		f.noteTime(t.CreatedAt)
	}
}

func (f *forgetting) noteTime(said time.Time) {
	if f.since.IsZero() || said.Before(f.since) {
		f.since = said
	}
}

// takeSession takes all turns that the session wrote itself, and copies of them. What it shares with the session it
// was forked from is that one's.
func (f *forgetting) takeSession(ctx context.Context, tx store.Tx, info turn.SessionInfo) error {
	f.whole[info.Segment] = true
	own := info
	own.Inherited = nil
	var copied map[int64]bool
	for t, err := range turnsOf(ctx, tx, own) {
		if err != nil {
			return err
		}
		if copied == nil {
			copied = make(map[int64]bool)
			// A bundle holds a session from its first turn on: who has a copy of any has one of this.
			copies, err := tx.Log().TurnsByID(ctx, f.tenant, t.ID)
			if err != nil {
				return err
			}
			for _, c := range copies {
				copied[c.Segment] = c.Segment != info.Segment
			}
		}
		f.put(info.Segment, &t)
	}
	for segment, is := range copied {
		if !is {
			continue
		}
		others, err := f.owners(ctx, tx, []int64{segment})
		if err != nil {
			return err
		}
		for _, other := range others {
			other.Inherited = nil
			for t, err := range turnsOf(ctx, tx, other) {
				if err != nil {
					return err
				}
				if f.ids[t.ID] {
					f.put(segment, &t)
				}
			}
		}
	}
	return nil
}

// owners returns the sessions of segments.
func (f *forgetting) owners(ctx context.Context, tx store.Tx, segments []int64) ([]turn.SessionInfo, error) {
	var keys []turn.Key
	_, err := tx.Forgetting().Rewrite(ctx, f.tenant, "sessions", store.Among{Segments: segments}, func(row []any) (store.Verdict, error) {
		keys = append(keys, turn.Key{Tenant: f.tenant, Session: row[1].(string)})
		return store.Keep, nil
	})
	if err != nil {
		return nil, err
	}
	infos := make([]turn.SessionInfo, len(keys))
	for i, key := range keys {
		if infos[i], err = tx.Log().Session(ctx, key); err != nil {
			return nil, fmt.Errorf("session %s: %w", key.Session, err)
		}
	}
	return infos, nil
}

// findSessions finds who is reached: the session that was asked for, all that see one of the turns, and those of its family that
// see one that was forgotten before.
func (f *forgetting) findSessions(ctx context.Context, tx store.Tx, home turn.SessionInfo) error {
	if err := f.findFamily(ctx, tx, home); err != nil {
		return err
	}
	gone, err := f.firstGone(ctx, tx)
	if err != nil {
		return err
	}
	for _, info := range f.family {
		r := reached{handle: &Session{engine: f.engine, key: info.Key}, info: info, whole: f.whole[info.Segment]}
		for _, span := range info.Spans(info.Head) {
			for seq := span.From; seq <= span.To; seq++ {
				if f.places[turn.Place{Segment: span.Segment, Seq: seq}] {
					r.seqs = append(r.seqs, seq)
				}
			}
			if first := gone[span.Segment]; r.since == 0 && first > 0 && first <= span.To {
				r.since = first
			}
		}
		if r.since > 0 || info.Segment == home.Segment {
			f.sessions = append(f.sessions, r)
		}
	}
	slices.SortFunc(f.sessions, func(a, b reached) int {
		return cmp.Or(cmp.Compare(order(a, home), order(b, home)), cmp.Compare(a.info.Session, b.info.Session))
	})
	return nil
}

// findFamily finds the sessions that share turns with the one that was asked for, or have copies of them. Forks and bundles hold a
// session from its first turn on: who has any of its turns has that one.
func (f *forgetting) findFamily(ctx context.Context, tx store.Tx, home turn.SessionInfo) error {
	segments := []int64{home.Segment}
	for _, span := range home.Spans(1) {
		first, err := tx.Log().TurnsAt(ctx, f.tenant, []turn.Place{{Segment: span.Segment, Seq: 1}})
		if err != nil || len(first) == 0 {
			return err
		}
		copies, err := tx.Log().TurnsByID(ctx, f.tenant, first[0].ID)
		if err != nil {
			return err
		}
		for i := range copies {
			segments = append(segments, copies[i].Segment)
		}
	}
	for p := range f.places {
		segments = append(segments, p.Segment)
	}
	slices.Sort(segments)
	segments = slices.Compact(segments)
	heir := columns("spans")("heir")
	all := slices.Clone(segments)
	_, err := tx.Forgetting().Rewrite(ctx, f.tenant, "spans", store.Among{Segments: segments}, func(row []any) (store.Verdict, error) {
		all = append(all, row[heir].(int64))
		return store.Keep, nil
	})
	if err != nil {
		return err
	}
	slices.Sort(all)
	f.family, err = f.owners(ctx, tx, slices.Compact(all))
	return err
}

// firstGone returns the first turn of each segment of the family that is forgotten, now or before. Where nothing is left to
// forget there is none: what was made since is not made of it.
func (f *forgetting) firstGone(ctx context.Context, tx store.Tx) (map[int64]int64, error) {
	if len(f.places) == 0 {
		return nil, nil
	}
	var segments []int64
	for i := range f.family {
		segments = append(segments, f.family[i].Segment)
		for _, span := range f.family[i].Inherited {
			segments = append(segments, span.Segment)
		}
	}
	slices.Sort(segments)
	at, first := columns("turns"), make(map[int64]int64)
	_, err := tx.Forgetting().Rewrite(ctx, f.tenant, "turns", store.Among{Segments: slices.Compact(segments)}, func(row []any) (store.Verdict, error) {
		p := turn.Place{Segment: row[at("segment")].(int64), Seq: row[at("seq")].(int64)}
		if before := row[at("content")] == tombstone; before || f.places[p] {
			if first[p.Segment] == 0 {
				first[p.Segment] = p.Seq
			}
			f.noteTime(time.UnixMicro(row[at("created_at")].(int64)).UTC())
		}
		return store.Keep, nil
	})
	return first, err
}

func order(r reached, home turn.SessionInfo) int {
	if r.info.Segment == home.Segment {
		return 0
	}
	return 1
}

// takeSummaries takes the summaries in the log that cover one of the turns.
func (f *forgetting) takeSummaries(ctx context.Context, tx store.Tx) error {
	for i := range f.sessions {
		r := &f.sessions[i]
		if len(r.seqs) == 0 {
			continue
		}
		for _, span := range r.info.Spans(r.info.Head) {
			for span.From = max(span.From, r.first()); !span.Empty(); {
				const page = 256
				found, err := tx.Log().Scan(ctx, f.tenant, span, turn.RowFilter{Kind: turn.KindSummary}, page)
				if err != nil {
					return err
				}
				for j := range found {
					if t := &found[j]; r.sees(t.Covers.From, t.Covers.To) {
						r.spoiled = append(r.spoiled, t.Covers)
						f.put(span.Segment, t)
					}
				}
				if len(found) < page {
					break
				}
				span.From = found[len(found)-1].Seq + 1
			}
		}
	}
	return nil
}

// spareOlder leaves out what goals, actions and slots said before anything was said that is forgotten, now or before: it does not
// come from that. What was written later may, so that it vouches for no word.
func (f *forgetting) spareOlder(ctx context.Context, tx store.Tx) error {
	for i := range f.sessions {
		r := &f.sessions[i]
		if r.whole {
			continue
		}
		for _, span := range r.info.Lineage(r.info.Head) {
			for table, spare := range map[string]func(doc string) error{"intentions": f.spareIntention, "revisions": f.spareState} {
				at, doc := columns(table), map[string]string{"intentions": "doc", "revisions": "state"}[table]
				_, err := tx.Forgetting().Rewrite(ctx, f.tenant, table, store.Among{Segments: []int64{span.Segment}}, func(row []any) (store.Verdict, error) {
					if seq := row[at("after_seq")].(int64); seq > span.To || !r.older(seq) {
						return store.Keep, nil
					}
					return store.Keep, spare(row[at(doc)].(string))
				})
				if err != nil {
					return fmt.Errorf("%s: %w", table, err)
				}
			}
		}
	}
	return nil
}

func (f *forgetting) spareIntention(doc string) error {
	_, _, err := redact.JSON(doc, goalTexts, func(text string) bool {
		f.words.Spare(text)
		return false
	})
	return err
}

func (f *forgetting) spareState(doc string) error {
	state, err := dialogue.DecodeState(doc)
	if err != nil {
		return err
	}
	for _, flow := range slices.Concat(state.Stack, state.SetAside) {
		f.words.Spare(string(flow.Result))
		for _, s := range flow.Slots {
			f.words.Spare(string(s.Value))
		}
	}
	return nil
}

// columns returns where the columns of a table stand in its rows.
func columns(table string) func(column string) int {
	return store.Schema[slices.IndexFunc(store.Schema, func(t store.Table) bool { return t.Name == table })].Position
}

// recalled takes late blocks that say words of the turns out of the prompts of all the tenant's sessions, with the proof
// of those prompts: what was said in one session may have been recalled in any. Rows are judged one by one as they are
// read, and a prompt that is older than the turns cannot have shown them.
func (f *forgetting) recalled(ctx context.Context, tx store.Tx) error {
	if len(f.places) == 0 {
		return nil
	}
	at, since := columns("prompts"), f.since.UnixMicro()
	var segments []int64
	n, err := tx.Forgetting().Rewrite(ctx, f.tenant, "prompts", store.Among{All: true}, func(row []any) (store.Verdict, error) {
		if row[at("created_at")].(int64) < since || !strings.Contains(row[at("doc")].(string), `"late":`) {
			return store.Keep, nil
		}
		verdict, err := redactColumns(row, f.words.Hit, map[int]redact.Fields{at("doc"): {Texts: []string{"late"}}})
		if verdict == store.Change {
			row[at("sha256")] = prompt.Forgotten
			segments = append(segments, row[at("segment")].(int64))
		}
		return verdict, err
	})
	if err != nil || n == 0 {
		return err
	}
	f.count("prompts", n)
	slices.Sort(segments)
	infos, err := f.owners(ctx, tx, slices.Compact(segments))
	if err != nil {
		return err
	}
	tx.AfterCommit(func() {
		for i := range infos {
			f.engine.shared.projections.forget(infos[i].Key)
		}
	})
	return nil
}
