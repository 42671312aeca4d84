package prompt

import (
	"maps"
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/turn"
)

// Projection is the prompt of a session in one epoch as far as its turns were pushed. Adding a turn costs
// what that turn costs. It is used by one goroutine at a time; prompts compiled from it stay as they are.
type Projection struct {
	epoch    Epoch
	settings Sealed
	counter  *budget.Counter

	tallies map[budget.Part]budget.Tally // of everything but the recent turns
	frozen
	begin    int64 // where recent begins: later than the epoch says if not all could be read
	recent   []block
	spent    budget.Tally          // what the recent turns take
	open     map[int64][]turn.Turn // units that wait for results, by their call
	messages []Message             // what the epoch froze, then the recent turns
	first    int                   // how many of the messages the epoch froze
	end      int64                 // the last turn pushed
	digest   digest
	hashed   int   // how many of the messages are in the digest
	renderer int64 // which makes the messages
}

// block is what stands or falls together: a message, or a call with its results.
type block struct {
	turn.Range // from its first turn to its last, which is where it stands
	messages   []Message
	tally      budget.Tally
	said       bool   // it is the user's message
	message    string // its message id
}

// newProjection returns the projection of an epoch without its recent turns.
func newProjection(e Epoch, s Sealed, f frozen, c *budget.Counter, renderer int64) *Projection {
	p := &Projection{renderer: renderer, epoch: e, settings: s, counter: c, frozen: f, open: make(map[int64][]turn.Turn), end: e.From - 1, begin: e.From}
	system, tallies, ok := systemMessage(&s.Settings, e.Goal, c)
	p.tallies = tallies
	p.digest = newDigest(s.Tools)
	if ok {
		p.append(system)
	}
	p.freeze()
	p.first = len(p.messages)
	return p
}

func (p *Projection) append(messages ...Message) {
	for _, m := range messages {
		p.messages = append(p.messages, p.rendered(m))
	}
	p.hash()
}

// hash brings the digest up to the message before the last, which may still get further parts.
func (p *Projection) hash() {
	if last := len(p.messages) - 1; last > p.hashed {
		p.digest.add(p.messages[p.hashed:last])
		p.hashed = last
	}
}

// push adds the next turn of the log. It reports false for a result whose call the projection has not seen:
// its whole unit must then be read, and pushed once it is complete.
func (p *Projection) push(t turn.Turn) bool {
	p.end = t.Seq
	if !p.onPath(t.Seq) || t.Unit != 0 && !p.onPath(t.Unit) {
		return true
	}
	if t.Unit == 0 {
		p.pushMessage(&t)
		return true
	}
	if t.Gone() && t.Unit != t.Seq {
		return true // the tombstone of its call stands for the whole unit
	}
	members, ok := p.open[t.Unit]
	if !ok && t.Unit != t.Seq {
		return false
	}
	members = append(members, t)
	p.open[t.Unit] = members
	if turn.Complete(members) {
		delete(p.open, t.Unit)
		p.pushUnit(members)
	}
	return true
}

// pushUnit adds a whole unit. It stands where its last result was written: that keeps the list append-only,
// whatever was said while the tools ran.
func (p *Projection) pushUnit(members []turn.Turn) {
	b := p.unitBlock(members)
	p.recent = append(p.recent, b)
	p.spent = p.spent.Plus(b.tally)
	p.append(b.messages...)
}

func (p *Projection) unitBlock(members []turn.Turn) block {
	b := block{Range: turn.Range{From: members[0].Seq, To: members[len(members)-1].Seq}, messages: unitMessages(members)}
	for i := range b.messages {
		b.tally = b.tally.Plus(p.tally(&b.messages[i]))
	}
	return b
}

func (p *Projection) pushMessage(t *turn.Turn) {
	m, ok := messageOf(t)
	if !ok {
		return
	}
	b := block{
		Range: turn.Range{From: t.Seq, To: t.Seq}, messages: []Message{m}, tally: p.tally(&m),
		said: t.Role == turn.User, message: t.MessageID,
	}
	if last := len(p.recent) - 1; last >= 0 && p.recent[last].takes(&b) {
		p.recent[last] = p.recent[last].joined(&b)
		b.tally.Messages = 0
		p.spent = p.spent.Plus(b.tally)
		// Prompts compiled before share the list: the last message is replaced in a copy.
		p.messages = append(slices.Clone(p.messages[:len(p.messages)-1]), p.rendered(p.recent[last].messages[0]))
		return
	}
	p.recent = append(p.recent, b)
	p.spent = p.spent.Plus(b.tally)
	p.append(m)
}

// takes reports whether the next block is a further part of the same message.
func (b *block) takes(next *block) bool {
	return b.message != "" && b.message == next.message && b.messages[0].Role == next.messages[0].Role && len(b.messages) == 1
}

// joined returns the block with a further part of its message.
func (b *block) joined(next *block) block {
	whole := *b
	m := b.messages[0]
	m.Parts = slices.Concat(m.Parts, next.messages[0].Parts)
	m.Seqs = slices.Concat(m.Seqs, next.messages[0].Seqs)
	more := next.tally
	more.Messages = 0
	whole.To, whole.messages, whole.tally = next.To, []Message{m}, b.tally.Plus(more)
	return whole
}

// tally counts a message as the newest renderer makes it.
func (p *Projection) tally(m *Message) budget.Tally {
	shown := m.unforged()
	return tally(&shown, p.counter)
}

// Recount returns what the prompt is made of as another counter counts it.
func (p *Prompt) Recount(c *budget.Counter) budget.Tally {
	t := toolTally(p.Tools, c)
	for i := range p.Messages {
		t = t.Plus(tally(&p.Messages[i], c))
	}
	return t
}

// tally counts a message. A picture costs what the model's profile says of one, and its description, which is
// sent in its place where the picture cannot be.
func tally(m *Message, c *budget.Counter) budget.Tally {
	t := budget.Tally{Messages: 1, Calls: len(m.Calls)}
	for _, part := range m.Parts {
		if part.Image == nil {
			t = t.Plus(c.Text(part.Text))
			continue
		}
		t = t.Plus(c.Text(part.Image.Alt)).Plus(pictureFrame)
		if c.Profile().Vision {
			t.Images++
		}
	}
	for _, call := range m.Calls {
		t = t.Plus(c.Text(call.Name)).Plus(c.Text(call.Arguments))
	}
	if m.Role == Tool {
		t = t.Plus(c.Text(m.Name))
	}
	return t
}

// pictureFrame is what the words around a picture's description take at most.
var pictureFrame = budget.Tally{Exact: 16}

func (p *Projection) onPath(seq int64) bool { return on(p.epoch.Path, seq) }

// on reports whether a turn is on a path.
func on(path []turn.Range, seq int64) bool {
	return slices.ContainsFunc(path, func(r turn.Range) bool { return seq >= r.From && seq <= last(r) })
}

// parts is what every part of the prompt takes, with a late block.
func (p *Projection) parts(late budget.Tally) map[budget.Part]budget.Tally {
	parts := maps.Clone(p.tallies)
	parts[budget.Recent] = parts[budget.Recent].Plus(p.spent)
	parts[budget.Late] = late
	return parts
}

// messageSize is about what a message takes in memory besides its text.
const messageSize = 400

// Recent returns the first of the turns that stand in the prompt as they were said, and how many tokens all of them
// take: what [Request.Blocked] is asked with.
func (p *Projection) Recent() (from, tokens int64) {
	return p.epoch.From, int64(p.counter.Tokens(p.spent).Upper())
}

// Size returns about how many bytes the projection holds on to.
func (p *Projection) Size() (n int64) {
	for i := range p.messages {
		m := &p.messages[i]
		n += messageSize
		for _, part := range m.Parts {
			n += int64(len(part.Text))
		}
		for _, c := range m.Calls {
			n += int64(len(c.Arguments))
		}
	}
	return n
}
