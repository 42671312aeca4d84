package prompt

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/turn"
)

// page is how many turns are read at once, and how far behind a projection is brought up turn by turn.
const page = 512

// anywhere is the path of everything there is.
var anywhere = []turn.Range{{From: 1}}

// log reads the turns of one session.
type log struct {
	ctx     context.Context
	rows    turn.TurnRows
	session *turn.SessionInfo
}

// scan returns up to limit turns of the path from seq from to seq to, ascending or, newest, the last of them
// descending.
func (l *log) scan(path []turn.Range, from, to int64, newest bool, limit int) ([]turn.Turn, error) {
	spans := l.spansOn(path, from, to)
	if newest {
		slices.Reverse(spans)
	}
	var turns []turn.Turn
	for _, s := range spans {
		if len(turns) >= limit {
			break
		}
		found, err := l.rows.Scan(l.ctx, l.session.Tenant, s, turn.RowFilter{Newest: newest}, limit-len(turns))
		if err != nil {
			return nil, fmt.Errorf("turns of %s: %w", l.session.Session, err)
		}
		turns = append(turns, found...)
	}
	return turns, nil
}

// spansOn are the pieces of the log from seq from to seq to that are on the path, ascending.
func (l *log) spansOn(path []turn.Range, from, to int64) []span.Span {
	var spans []span.Span
	for _, s := range l.session.Spans(to) {
		for _, on := range path {
			piece := s
			piece.From, piece.To = max(s.From, from, on.From), min(s.To, last(on))
			if !piece.Empty() {
				spans = append(spans, piece)
			}
		}
	}
	return spans
}

// unit returns the members of a unit up to seq to that are on the path.
func (l *log) unit(path []turn.Range, seq, to int64) ([]turn.Turn, error) {
	for _, s := range l.session.Spans(math.MaxInt64) {
		if seq < s.From || seq > s.To {
			continue
		}
		members, err := l.rows.Units(l.ctx, l.session.Tenant, s.Segment, seq, seq)
		if err != nil {
			return nil, fmt.Errorf("unit %d of %s: %w", seq, l.session.Session, err)
		}
		members = slices.DeleteFunc(members, func(t turn.Turn) bool { return t.Seq > to || !on(path, t.Seq) })
		if len(members) > 0 && members[0].Seq == seq {
			return members, nil
		}
	}
	return nil, fmt.Errorf("turn %d of %s: %w", seq, l.session.Session, turn.ErrNotFound)
}

// extend brings a projection up to seq to. Room is how many tokens it needs to know of at most, whatever else
// the prompt holds: what lies further back is not read where that is a long way.
func (l *log) extend(p *Projection, to int64, room int) error {
	if to-p.end <= page {
		turns, err := l.scan(p.epoch.Path, p.end+1, to, false, page)
		if err != nil {
			return err
		}
		return l.push(p, turns, to)
	}
	var turns []turn.Turn // newest first
	seen := least{p: p, units: make(map[int64][]turn.Turn)}
	all := false
	for until := to; ; {
		found, err := l.scan(p.epoch.Path, p.end+1, until, true, page)
		if err != nil {
			return err
		}
		if all = len(found) < page; len(found) == 0 {
			break
		}
		turns = append(turns, found...)
		until = found[len(found)-1].Seq - 1
		before := seen.spent
		for i := range found {
			seen.add(found[i])
		}
		// One page with something in it more than there is room for, so that no message begins before what
		// was read and a cut has something to stand behind.
		if all || p.counter.Tokens(before).Upper() > room && seen.spent != before {
			break
		}
	}
	slices.Reverse(turns)
	if !all && len(turns) > 0 {
		p.restart(turns[0].Seq)
	}
	return l.push(p, turns, to)
}

// least adds up what turns that are read from the newest back take in a projection at least. More than that
// would make a projection that did not read everything take itself for full when one that did is not.
type least struct {
	p       *Projection
	spent   budget.Tally
	units   map[int64][]turn.Turn // newest first, until their call is read
	message string                // the id of the message read last
}

func (l *least) add(t turn.Turn) {
	if !l.p.onPath(t.Seq) {
		return
	}
	if t.Unit != 0 {
		l.units[t.Unit] = append(l.units[t.Unit], t)
		if t.Seq != t.Unit {
			return
		}
		members := l.units[t.Unit]
		delete(l.units, t.Unit)
		slices.Reverse(members)
		if turn.Complete(members) {
			l.spent = l.spent.Plus(l.p.unitBlock(members).tally)
		}
		return
	}
	m, ok := messageOf(&t)
	if !ok {
		return
	}
	tally := l.p.tally(&m)
	if t.MessageID != "" && t.MessageID == l.message {
		tally.Messages = 0
	}
	l.message = t.MessageID
	l.spent = l.spent.Plus(tally)
}

// restart forgets the recent turns: those that come next begin at seq begin.
func (p *Projection) restart(begin int64) {
	p.begin, p.end = begin, begin-1
	p.recent, p.spent = nil, budget.Tally{}
	p.open = make(map[int64][]turn.Turn)
	p.messages = p.messages[:p.first:p.first]
	p.digest, p.hashed = newDigest(p.settings.Tools), 0
	p.hash()
}

// push pushes turns, with what was written before them of the units they belong to.
func (l *log) push(p *Projection, turns []turn.Turn, to int64) error {
	for i := range turns {
		if p.push(turns[i]) {
			continue
		}
		members, err := l.unit(p.epoch.Path, turns[i].Unit, turns[i].Seq)
		if err != nil {
			return err
		}
		p.adopt(members)
	}
	p.end = max(p.end, to)
	return nil
}

// adopt takes over a unit that began before the turns that the projection has seen.
func (p *Projection) adopt(members []turn.Turn) {
	unit := members[0].Seq
	if turn.Complete(members) {
		p.pushUnit(members)
		return
	}
	p.open[unit] = members
}

// kept reads what an epoch keeps.
func (l *log) kept(e *Epoch, p *Projection) ([]block, error) {
	blocks := make([]block, len(e.Kept))
	for i, k := range e.Kept {
		b, err := l.block(k.From, k.To, p)
		if err != nil {
			return nil, err
		}
		blocks[i] = b
	}
	return blocks, nil
}

// block reads the unit or the message that begins at seq from and ends at seq to.
func (l *log) block(from, to int64, p *Projection) (block, error) {
	turns, err := l.scan(p.epoch.Path, from, to, false, math.MaxInt32)
	if err != nil {
		return block{}, err
	}
	if len(turns) == 0 || turns[0].Seq != from {
		return block{}, fmt.Errorf("turn %d of %s: %w", from, l.session.Session, turn.ErrNotFound)
	}
	first := turns[0]
	if first.Unit != 0 {
		members, err := l.unit(p.epoch.Path, first.Unit, to)
		if err != nil {
			return block{}, err
		}
		return p.unitBlock(members), nil
	}
	reader := &Projection{counter: p.counter, epoch: Epoch{Path: []turn.Range{{From: from}}}, open: make(map[int64][]turn.Turn), digest: newDigest(nil)}
	for i := range turns {
		if turns[i].Seq == from || turns[i].MessageID == first.MessageID {
			reader.push(turns[i])
		}
	}
	if len(reader.recent) != 1 {
		return block{}, fmt.Errorf("turns %d to %d of %s are not one message: %w", from, to, l.session.Session, ErrChanged)
	}
	return reader.recent[0], nil
}
