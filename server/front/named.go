package front

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

// name returns the session of that name, which is made where there is none.
func (m *matching) name(ctx context.Context, name string) (*turnstone.Session, error) {
	s, err := m.engine.Find(ctx, name)
	if errors.Is(err, turn.ErrNotFound) {
		if err := m.available(ctx); err != nil {
			return nil, err
		}
		s, err = m.engine.Create(ctx, m.info(name))
	}
	if errors.Is(err, turn.ErrExists) {
		return m.engine.Find(ctx, name)
	}
	return s, err
}

// inSession goes on in the session that is named, where no chain leads to it: it was filled by others, or before it was called so.
// A history without a reply is what is new alone. One with replies of which the session has none is another conversation: it
// gets a session of its own, by which the chain finds it when the client calls it by the same name again.
func (m *matching) inSession(ctx context.Context, r *repeated) (*place, error) {
	p := &place{session: m.named, system: r.system, hash: r.hash()}
	info, err := m.named.Info(ctx)
	if err != nil {
		return nil, err
	}
	if info.Head > 0 && !m.nowhere {
		s, err := m.spotBefore(ctx, r, info)
		if err != nil {
			return nil, err
		}
		if s == nil {
			s, err = m.spotWithin(ctx, r, info)
		}
		if err != nil {
			return nil, err
		}
		if s != nil {
			return m.at(ctx, r, s)
		}
		if slices.ContainsFunc(r.messages, func(said message) bool { return said.replies() }) {
			return m.fresh(ctx, r)
		}
	}
	if err := p.fill(r.messages); err != nil {
		return nil, err
	}
	if info.Head > 0 {
		p.before = nil
	}
	p.after = turnstone.Head
	return p, nil
}

// spotBefore is the place in the session that is named where the history ends with a reply of a time when it was called
// otherwise: by nobody, by its user, or as a session that it was forked from.
func (m *matching) spotBefore(ctx context.Context, r *repeated, info turn.SessionInfo) (*spot, error) {
	origins := []chain.Hash{{}}
	if info.User != "" {
		origins = append(origins, chain.Apart(chain.Hash{}, "user", info.User))
	}
	for parent := info.Parent; parent != "" && len(origins) < maxOrigins; {
		origins = append(origins, ofSession(chain.Hash{}, parent))
		session, err := m.engine.Find(ctx, parent)
		if errors.Is(err, turn.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		above, err := session.Info(ctx)
		if err != nil {
			return nil, err
		}
		parent = above.Parent
	}
	for _, origin := range origins {
		s, err := m.spot(ctx, newRepeated(origin, r.system, r.messages), nil, info.Session)
		if err != nil || s != nil {
			return s, err
		}
	}
	return nil, nil
}

// maxOrigins is how many chains are looked at for a session.
const maxOrigins = 16

// maxWithin is how many turns of a session are read to find out where a history stands in it.
const maxWithin = 256

// spotWithin is the place in the session that is named where the history ends with one of its replies, by the words themselves:
// no chain leads to what others appended, nor does one begin in the middle, as the histories of clients do that send only the
// end of them. It is also where all that the session has is what the history begins with.
func (m *matching) spotWithin(ctx context.Context, r *repeated, info turn.SessionInfo) (*spot, error) {
	turns, err := m.named.Since(ctx, max(info.Head-maxWithin, 0), maxWithin)
	if err != nil {
		return nil, err
	}
	found := spot{link: chain.Link{Session: info.Session}, message: -1, like: alike}
	all := units(turns)
	for i := len(r.messages) - 2; i >= 0 && found.message < 0; i-- {
		if at := lastReply(all, r.messages[:i+1]); at >= 0 {
			found.link.Seq, found.message = all[at].last, i
		}
	}
	if found.message < 0 {
		found.link.Seq, found.message = rewritten(all, r.messages)
	}
	s, err := m.walk(ctx, r, found, true)
	if err != nil || s != nil && s.message >= 0 {
		return s, err
	}
	if found.message < 0 {
		return nil, nil
	}
	found.behind = true
	return &found, nil
}

// rewritten is where the last reply of a history stands in a log, and in the history, where its client does not send replies back as
// they were: with other marks and blanks, or a piece of them. What was asked has to be the same. It is 0 and -1 where it is none.
func rewritten(all []unit, history []message) (seq int64, message int) {
	last := len(history) - 2 // behind it is what is new
	for last >= 0 && !history[last].replies() {
		last--
	}
	if last < 1 || len(history[last].calls) > 0 {
		return 0, -1
	}
	seen, asked := wordsOf(history[last].text()), history[last-1].next(chain.Hash{})
	if seen == "" {
		return 0, -1
	}
	for i := len(all) - 1; i > 0; i-- {
		u := &all[i]
		if !u.message.replies() || len(u.message.calls) > 0 || !follows(all[:i], &history[last-1], asked) {
			continue
		}
		if strings.Contains(wordsOf(u.message.text()), seen) {
			return u.last, last
		}
	}
	return 0, -1
}

// wordsOf are the words of a text in lower case, each between blanks, without its marks.
func wordsOf(text string) string {
	var words strings.Builder
	inside := false
	for _, c := range text {
		if !unicode.IsLetter(c) && !unicode.IsNumber(c) {
			inside = false
			continue
		}
		if !inside {
			words.WriteByte(' ')
		}
		inside = true
		words.WriteRune(unicode.ToLower(c))
	}
	if words.Len() > 0 {
		words.WriteByte(' ')
	}
	return words.String()
}

// lastReply is the last of the messages of a log that is the reply at the end of a history, -1 where that is none of them. What
// was said before it has to be the same too: many replies are a word or two.
func lastReply(all []unit, history []message) int {
	last := len(history) - 1
	if !history[last].replies() {
		return -1
	}
	reply := history[last].next(chain.Hash{})
	var before chain.Hash
	if last > 0 {
		before = history[last-1].next(chain.Hash{})
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].is(&history[last], reply) != other && (last == 0 || follows(all[:i], &history[last-1], before)) {
			return i
		}
	}
	return -1
}

// follows reports whether messages of a log end with an exchange in which that was said, whose sum is given. Of the beginning of
// what was read nobody knows what was before.
func follows(all []unit, said *message, sum chain.Hash) bool {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].is(said, sum) != other {
			return true
		}
		if all[i].message.role == llm.User {
			return false
		}
	}
	return true
}
