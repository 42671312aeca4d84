package front

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

// place is where a call goes on, and with what.
type place struct {
	session *turnstone.Session
	// made is what the session is like where it is to be made.
	made *turn.SessionInfo
	// after is the last turn that the client knows, [turnstone.Head] where it does not matter.
	after int64
	// again says that the input stands there already, and got no reply, and unanswered that it goes on from what got none.
	again, unanswered bool
	// before are turns that a new session begins with: what others said before the client came here.
	before []turn.Draft
	input  []turn.Draft
	// system are the messages of the system that stand among the others.
	system []string
	// lost says that the client goes on from something that is not known here.
	lost bool
	// hash stands for all that the client sent.
	hash chain.Hash
}

// matching finds the place of one call.
type matching struct {
	front  *Front
	engine *turnstone.Engine
	call   *call
	header http.Header // of the call
	// recorded says that the call is only recorded.
	recorded bool
	// named is the session that the client names, nil where it names none.
	named *turnstone.Session
	// entered says that the call was looked at for what it is refused for.
	entered bool
	// moved says that what is remembered was tried and is out of date, and apart that the session cannot be gone on in.
	moved, apart bool
	// busy says that a call that got no reply so far is still waiting for it.
	busy bool
	// rested says that it was waited for once, in the session that is named.
	rested bool
	// nowhere says that the place that was found cannot be gone on from.
	nowhere bool
}

// repeated is a history, or the end of one whose beginning is known.
type repeated struct {
	messages []message
	hashes   []chain.Hash // after each of them
	system   []string
}

func newRepeated(h chain.Hash, system []string, messages []message) *repeated {
	r := &repeated{messages: messages, system: system, hashes: make([]chain.Hash, len(messages))}
	var o ordering
	for i := range messages {
		o.next(&messages[i])
		h = messages[i].next(h)
		r.hashes[i] = h
	}
	return r
}

// between reports whether a message is a result and so is the next: the call of that one was closed where the session ends with this.
func (r *repeated) between(at int) bool {
	return at >= 0 && at+1 < len(r.messages) && r.messages[at].role == llm.ToolResult && r.messages[at+1].role == llm.ToolResult
}

// hash stands for the whole history.
func (r *repeated) hash() chain.Hash { return r.hashes[len(r.hashes)-1] }

// spot is where a history and a session are the same: at a message of the one, and at a turn of the other.
type spot struct {
	link    chain.Link
	message int
	behind  bool // others have gone on from there
	again   bool // nothing is new, and nobody has replied to it
	// unanswered says that nobody has replied to what the session ends with. The client has said more instead.
	unanswered bool
	// like is how surely all that lies between the link and there is the same.
	like likeness
}

// find returns where the call goes on: behind the longest beginning of its history that ends with a reply of ours. Otherwise
// it is new, to the session that is named or to one that is made for it.
func (m *matching) find(ctx context.Context) (*place, error) {
	for _, p := range m.call.past {
		r, err := m.decode(ctx, &p)
		if err != nil {
			return nil, err
		}
		if len(r.messages) > 0 && r.messages[0].role == llm.ToolResult {
			continue // its call is read with the rest
		}
		s, err := m.spot(ctx, r, &p, "")
		if err != nil {
			return nil, err
		}
		if s != nil {
			return m.at(ctx, r, s)
		}
	}
	r, err := m.decode(ctx, nil)
	if err != nil {
		return nil, err
	}
	s, err := m.spot(ctx, r, nil, "")
	if err != nil {
		return nil, err
	}
	if s == nil {
		return m.unknown(ctx, r)
	}
	return m.at(ctx, r, s)
}

// info describes a session that the call makes.
func (m *matching) info(id string) turn.SessionInfo {
	return turn.SessionInfo{Key: turn.Key{Session: id}, User: m.call.user, Model: m.call.model}
}

// decode reads the history behind what an earlier call sent, or all of it.
func (m *matching) decode(ctx context.Context, p *past) (*repeated, error) {
	from, h, known := 0, m.call.origin, []string(nil)
	if p != nil {
		from, h, known = p.size, p.hash, p.systems
	}
	messages, system, err := m.call.decode(from)
	if err == nil {
		err = fewAtEnd(messages)
	}
	if err != nil {
		return nil, &badCall{err}
	}
	system = append(known[:len(known):len(known)], system...)
	if err := m.enter(ctx, system, saidLast(messages, m.call.question(messages, p))); err != nil {
		return nil, err
	}
	if goesOn := m.call.goesOn; goesOn != nil {
		if h = *goesOn; m.named != nil {
			h = ofSession(h, m.call.session)
		}
	}
	return newRepeated(h, system, messages), nil
}

// enter finds the session that is named, once, as soon as all is known that a call is refused for: what is made for it would stay.
func (m *matching) enter(ctx context.Context, system, said []string) (err error) {
	if m.entered {
		return nil
	}
	if !m.front.config.RecordOnly {
		if err := m.front.fitting.check(ctx, m.engine, m.call, system, said); err != nil {
			return err
		}
	}
	if m.call.session != "" {
		m.named, err = m.name(ctx, m.call.session)
	}
	m.entered = err == nil
	return err
}

// maxSpots is how many places are looked at before only replies are, and how many of those before a history is taken for a new one:
// what got no reply, call after call, is not to hide the reply before it.
const maxSpots = 8

// spot returns the last place where the history ends with a reply of ours; nil where there is none. A message behind the last
// reply is one only where a call came with it as its last and got no reply. Only, where it is given, is the session that the
// place has to be in.
func (m *matching) spot(ctx context.Context, r *repeated, p *past, only string) (*spot, error) {
	if h := m.call.goesOn; h != nil && m.named == nil {
		links, _, err := m.engine.Links(ctx, *h)
		if err != nil {
			return nil, err
		}
		if len(links) > 0 {
			return m.best(ctx, r, links, -1)
		}
	}
	var hashes []chain.Hash
	var at []int
	end := len(r.messages) - 1 // the last reply
	for ; end >= 0 && r.messages[end].role != llm.Assistant; end-- {
		hashes, at = append(hashes, r.hashes[end]), append(at, end)
	}
	ours := len(hashes) // where those of replies begin
	for i := len(r.messages) - 2; i >= 0; i-- {
		if r.messages[i].role != llm.Assistant || r.messages[i].empty() {
			continue
		}
		if p != nil && !m.moved && len(hashes) == ours && r.hashes[i] == p.reply {
			return &spot{link: chain.Link{Session: p.session, Seq: p.seq}, message: i}, nil
		}
		hashes, at = append(hashes, r.hashes[i]), append(at, i)
		// A reply that was cut off may have come to the client in part: it is known by what was asked.
		if i > 0 {
			hashes, at = append(hashes, r.hashes[i-1]), append(at, i-1)
		}
	}
	for spots := 0; len(hashes) > 0 && spots < 2*maxSpots; spots++ {
		if spots == maxSpots {
			if hashes, at = r.replies(hashes, at); len(hashes) == 0 {
				break
			}
		}
		links, of, err := m.engine.Links(ctx, hashes...)
		if err != nil || of < 0 {
			return nil, err
		}
		if only != "" {
			links = slices.DeleteFunc(links, func(l chain.Link) bool { return l.Session != only })
		}
		if at[of] > end {
			links = links[:min(len(links), 1)] // many conversations begin alike, and who tries again was the last to come
		}
		if s, err := m.best(ctx, r, links, at[of]); err != nil || s != nil {
			return s, err
		}
		hashes, at = hashes[of+1:], at[of+1:]
	}
	return nil, nil
}

// replies are those of the hashes, each after the message at the same place of at, that are after a reply.
func (r *repeated) replies(hashes []chain.Hash, at []int) (after []chain.Hash, of []int) {
	for i, message := range at {
		if r.messages[message].role == llm.Assistant {
			after, of = append(after, hashes[i]), append(of, message)
		}
	}
	return after, of
}

// best chooses among sessions that have the same history up to a message: the one that the client may have gone on from,
// which nobody has since, and otherwise the newest. Where a reply was cut off it is the one that has what the client repeats; one that
// has less is taken where no other has.
func (m *matching) best(ctx context.Context, r *repeated, links []chain.Link, at int) (*spot, error) {
	replied := at < 0 || r.messages[at].role == llm.Assistant
	var found *spot
	several := false // that are found no less surely
	for _, l := range links {
		s, err := m.walk(ctx, r, spot{link: l, message: at, like: alike}, replied)
		if err != nil || s != nil && s.like == alike {
			return s, err
		}
		if s != nil && (found == nil || s.like > found.like) {
			found, several = s, false
		} else if s != nil && s.like == found.like {
			several = true
		}
	}
	if found != nil && !(several && found.like == beyond) {
		return found, nil
	}
	if !replied || len(links) == 0 {
		return nil, nil
	}
	return &spot{link: links[0], message: at, behind: true}, nil
}

const (
	// maxWalk is how many turns are read behind a link.
	maxWalk = 64
	// firstWalk is how many are read at first: most sessions that are not the one differ at once.
	firstWalk = 4
)

// walk follows the history and the session from a spot to the session's end; nil where they differ before, and where the
// history has nothing new then, unless nobody has replied to it. Replied says that the spot is behind a reply of ours already:
// otherwise the client knows of none either.
func (m *matching) walk(ctx context.Context, r *repeated, s spot, replied bool) (*spot, error) {
	session, err := m.engine.Find(ctx, s.link.Session)
	if errors.Is(err, turn.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := s
	for _, most := range []int{firstWalk, maxWalk + 2} {
		// With the turn that the link stands for: its calls are what results behind it answer.
		turns, err := session.Since(ctx, found.link.Seq-1, most)
		if err != nil || len(turns) > maxWalk+1 {
			return nil, err
		}
		all, more := units(turns), len(turns) == most
		if more {
			all = all[:max(len(all)-1, 0)] // of the last one too
		}
		behind, ok := false, false
		if s, behind, ok = r.follow(found, replied, all); !ok {
			return nil, nil
		}
		if !more {
			replied = behind
			break
		}
	}
	if r.between(s.message) {
		return nil, nil
	}
	if last := len(r.messages) - 1; s.message >= last {
		s.again = r.messages[last].role != llm.Assistant && !m.busy
		replied = s.again
	} else if !replied {
		s.unanswered = !m.busy && !slices.ContainsFunc(r.messages[s.message+1:], func(said message) bool { return said.role == llm.Assistant })
		replied = s.unanswered
	}
	if !replied {
		return nil, nil
	}
	return &s, nil
}

// follow returns the spot behind messages of a session, whether a reply of ours is before it, and whether the history has them all.
func (r *repeated) follow(s spot, replied bool, all []unit) (_ spot, behind, ok bool) {
	for i := range all {
		u := &all[i]
		if u.last <= s.link.Seq {
			continue
		}
		like := other
		if s.message+1 < len(r.messages) {
			like = u.same(&r.messages[s.message+1])
		}
		if like == other {
			if replied && u.message.role == llm.Assistant && (s.message < 0 || r.messages[s.message].role == llm.Assistant) {
				continue // a responder's, which no client has seen
			}
			return s, replied, false
		}
		replied = replied || u.message.role == llm.Assistant
		s.link.Seq, s.like = u.last, min(s.like, like)
		s.message++
	}
	return s, replied, true
}

// at returns the place behind a spot: the session itself, or where it has gone on since a fork of it.
func (m *matching) at(ctx context.Context, r *repeated, s *spot) (*place, error) {
	session, err := m.engine.Find(ctx, s.link.Session)
	if errors.Is(err, turn.ErrNotFound) {
		return m.whole(ctx)
	}
	if err != nil {
		return nil, err
	}
	p := &place{session: session, system: r.system, hash: r.hash()}
	if s.again {
		err := p.fill(r.messages)
		p.before, p.after, p.again = nil, s.link.Seq, true
		return p, err
	}
	p.after, p.unanswered = s.link.Seq, s.unanswered
	var asked []llm.Call
	if s.message >= 0 {
		asked = r.messages[s.message].calls
	}
	// What others said meanwhile is too much for one exchange, and stands before it in a session that nobody else is in yet.
	if s.behind || m.apart || weight(r.messages[s.message+1:]) > maxInput {
		return m.fork(ctx, r, s, p, asked)
	}
	d := newDrafting(nil, nil)
	if len(asked) > 0 {
		turns, err := session.Since(ctx, s.link.Seq-1, 1)
		if err != nil {
			return nil, err
		}
		if len(turns) == 1 {
			d = newDrafting(asked, turns[0].Calls())
		}
	}
	err = d.add(r.messages[s.message+1:]...)
	p.input = d.all()
	return p, err
}

// fork makes another session of what was said up to the spot. A call and its results stay together: where the spot is a
// call, the fork begins before it, and the client's own account of it follows.
func (m *matching) fork(ctx context.Context, r *repeated, s *spot, p *place, asked []llm.Call) (*place, error) {
	at, rest := s.link.Seq, r.messages[s.message+1:]
	if len(asked) > 0 {
		at, rest = at-1, r.messages[s.message:]
	}
	p.after = at
	if err := p.fill(rest); err != nil {
		return nil, err
	}
	if err := m.available(ctx); err != nil {
		return nil, err
	}
	fork, err := p.session.Fork(ctx, at, m.info(""))
	var refused *invalid.Field
	if errors.As(err, &refused) {
		return m.whole(ctx)
	}
	p.session = fork
	return p, err
}

// available is an error where the model server does not have the model.
func (m *matching) available(ctx context.Context) error {
	if m.recorded {
		return nil
	}
	return m.front.upstream.available(ctx, m.header, m.call.model)
}

// whole takes all that the client sent for new.
func (m *matching) whole(ctx context.Context) (*place, error) {
	m.nowhere = true
	r, err := m.decode(ctx, nil)
	if err != nil {
		return nil, err
	}
	return m.unknown(ctx, r)
}

// unknown is the place of a history that no chain leads to.
func (m *matching) unknown(ctx context.Context, r *repeated) (*place, error) {
	if m.named != nil {
		return m.inSession(ctx, r)
	}
	return m.fresh(ctx, r)
}

// fresh is the place of a history in a session that is made for it.
func (m *matching) fresh(ctx context.Context, r *repeated) (*place, error) {
	p := &place{system: r.system, hash: r.hash(), lost: m.call.later}
	err := cmp.Or(p.fill(r.messages), m.available(ctx))
	if err != nil {
		return nil, err
	}
	info := m.info("")
	if len(p.before) == 0 {
		p.session, p.made = m.engine.Unmade(), &info
		return p, nil
	}
	p.session, err = m.engine.Create(ctx, info)
	return p, err
}

// fill takes what stands behind the last reply as the input, and all before it as said.
func (p *place) fill(messages []message) error {
	last := len(messages) - 1
	for last >= 0 && messages[last].role != llm.Assistant {
		last--
	}
	d := &drafting{}
	if err := d.add(messages[:last+1]...); err != nil {
		return err
	}
	p.before, d.drafts = d.drafts, nil
	if last+1 < len(messages) {
		d.ours = true // what is open is closed when the exchange begins
		if err := d.add(messages[last+1:]...); err != nil {
			return err
		}
		p.input = d.all()
	} else { // the client wants its last message to be continued
		n := max(len(p.before)-1, 0)
		d.drafts, p.before = p.before[n:], p.before[:n:n]
		p.input = d.all()
	}
	if len(p.before) > 0 {
		p.after = turnstone.Head
	}
	return nil
}
