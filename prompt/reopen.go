package prompt

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// change is what an epoch shows of the turns before its recent ones, and where those begin.
type change struct {
	from int64
	said []Kept
	pins []turn.Range
	// blocks are what the projection may not have of what is kept.
	blocks      []block
	checkpoints []compress.Checkpoint
	paged       []Handle
	handles     []string
	quoted      quotation
	passes      int64 // how many passes the change is
	mended      int64 // how many checkpoints had to be made again, which is no change of what is shown
}

// same is the change that changes nothing but the pins.
func (c *compiler) same(p *Projection, pins []int64) (change, error) {
	pinned, err := c.pinned(p, pins, p.epoch.From)
	said, err2 := c.withLast(p, p.epoch.From, p.keptSaid())
	quoted, err3 := c.requoted(p)
	return change{
		from: p.epoch.From, said: said, pins: pinned, checkpoints: p.checkpoints, paged: p.epoch.Paged, handles: p.handles, quoted: quoted,
	}, errors.Join(err, err2, err3)
}

// reopen returns the projection of an epoch that shows the turns of p as the change says.
func (c *compiler) reopen(p *Projection, reason Reason, ch change) (*Projection, error) {
	e := p.epoch
	if c.opened == nil {
		e.Number++
		e.Restored, e.Began = 0, 0
	}
	e.AfterSeq, e.Renderer, e.Reason, e.From, e.Goal = c.request.Session.Head, Renderer, reason, ch.from, c.request.Goal
	settings := p.settings
	if s := c.request.Settings; s != nil {
		settings = *s
	}
	e.Settings, e.Model, e.Context = settings.SHA256, c.request.Model, int64(c.request.Window.Context)
	e.Passes += ch.passes + ch.mended
	if ch.passes > 0 {
		e.Hold, e.Before = false, c.stored
		e.Began = cmp.Or(e.Began, p.epoch.From)
	}
	e.Checkpoints = nil
	for i := range ch.checkpoints {
		e.Checkpoints = append(e.Checkpoints, RefOf(&ch.checkpoints[i]))
	}
	e.Kept = withPins(ch.said, ch.pins, ch.from)
	if ch.passes == 0 {
		e.Kept = withUndone(e.Kept, p.epoch.Kept)
	}
	e.Paged, ch.handles = unshown(ch.paged, ch.handles, e.Kept)
	e.Quotes, e.Unquoted = ch.quoted.quotes, ch.quoted.unquoted
	f := frozen{checkpoints: ch.checkpoints, handles: ch.handles, quotes: ch.quoted.texts, kept: make([]block, len(e.Kept))}
	var err error
	for i, k := range e.Kept {
		if f.kept[i], err = c.reuse(p, k, ch.blocks...); err != nil {
			return nil, err
		}
	}
	next := newProjection(e, settings, f, c.request.Counter, c.renderer)
	next.begin, next.end = max(ch.from, p.begin), p.end
	for i := range p.recent {
		if b := p.recent[i]; b.To >= ch.from {
			next.recent = append(next.recent, b)
			next.spent = next.spent.Plus(b.tally)
			next.append(b.messages...)
		}
	}
	for unit, members := range p.open {
		next.open[unit] = members
	}
	c.opened = &e
	return next, nil
}

// widened returns the projection of p's epoch as if turns had not left it, as far back as the window reaches:
// checkpoints that were made of them go, the newest first.
func (c *compiler) widened(p *Projection) (*Projection, error) {
	r := &c.request
	e, f := p.epoch, p.frozen
	n := len(f.checkpoints)
	limit := int(mostShare * r.Compression.Threshold * float64(p.room(r.Window)))
	until := e.From
	for spent := p.counter.Tokens(p.spent).Upper(); n > 0; n-- {
		c := &f.checkpoints[n-1]
		if spent += int(c.OriginalTokens) + p.beside(c.Range.From, until); spent > limit {
			break
		}
		until = c.Range.From
	}
	switch {
	case n > 0 && n == len(f.checkpoints):
		return p, nil
	case n == 0:
		e.From = e.begin()
	default:
		e.From = f.checkpoints[n].Range.From
	}
	e.Checkpoints, f.checkpoints = e.Checkpoints[:n], f.checkpoints[:n]
	e.Kept, f.kept = before(e.Kept, f.kept, e.From)
	e.Paged, f.handles = beforeFrom(e.Paged, f.handles, e.From)
	was := p.quoted()
	quoted := was.before(e.From)
	e.Quotes, f.quotes, e.Unquoted = quoted.quotes, quoted.texts, quoted.unquoted
	whole := newProjection(e, p.settings, f, r.Counter, p.renderer)
	return whole, c.extend(whole, r.Session.Head, r.Window.Usable-r.Window.Reserve)
}

// beside is what the messages take that are kept or named of the turns from seq from on and before seq until.
func (p *Projection) beside(from, until int64) int {
	var shown budget.Tally
	for i := range p.kept {
		if b := &p.kept[i]; b.To >= from && b.To < until {
			shown = shown.Plus(b.tally)
		}
	}
	tokens := p.counter.Tokens(shown).Upper()
	for _, h := range p.epoch.Paged {
		if h.To >= from && h.To < until {
			tokens += int(h.Tokens)
		}
	}
	return tokens
}

// before returns what is kept of the turns before seq from.
func before(kept []Kept, blocks []block, from int64) ([]Kept, []block) {
	n := 0
	for n < len(kept) && kept[n].To < from {
		n++
	}
	return kept[:n:n], blocks[:n:n]
}

// beforeFrom returns the handles of messages before seq from.
func beforeFrom(paged []Handle, lines []string, from int64) ([]Handle, []string) {
	var left []Handle
	var texts []string
	for i, h := range paged {
		switch before, ok := h.before(from); {
		case !ok:
		case before == h:
			left, texts = append(left, h), append(texts, lines[i])
		default:
			left, texts = append(left, before), append(texts, before.line(""))
		}
	}
	return left, texts
}

// unshown returns the handles of messages that are not kept.
func unshown(paged []Handle, lines []string, kept []Kept) (left []Handle, texts []string) {
	for i, h := range paged {
		if h.Messages != 1 || !slices.ContainsFunc(kept, func(k Kept) bool { return k.Range == h.Range }) {
			left, texts = append(left, h), append(texts, lines[i])
		}
	}
	return left, texts
}

// withUndone adds what an undo brought back. It stays when it is no longer pinned.
func withUndone(kept, earlier []Kept) []Kept {
	for _, k := range earlier {
		if k.Why != Undone {
			continue
		}
		if i := slices.IndexFunc(kept, func(o Kept) bool { return o.Range == k.Range }); i < 0 {
			kept = append(kept, k)
		} else if kept[i].Why == Pinned {
			kept[i] = k
		}
	}
	slices.SortFunc(kept, func(a, b Kept) int { return cmp.Compare(a.To, b.To) })
	return kept
}

// withLast adds the last thing that the user said if it is not among the turns from seq from on: it is what
// the model is to answer, whatever its size and however long the tools have been at work on it.
func (c *compiler) withLast(p *Projection, from int64, said []Kept) ([]Kept, error) {
	if p.begin > from {
		// Not all of those turns were read, and the cut that must follow asks again.
		return said, nil
	}
	last, ok := p.lastSaid()
	if !ok && p.begin > p.epoch.From {
		var err error
		if last, ok, err = c.lastSaid(p); err != nil {
			return nil, err
		}
	}
	if !ok {
		last, ok = lastOf(p.keptSaid())
	}
	if !ok || last.To >= from || slices.Contains(said, last) {
		return said, nil
	}
	return append(slices.Clone(said), last), nil
}

// lastSaid is the last thing that the user said of the turns that were read.
func (p *Projection) lastSaid() (Kept, bool) {
	for _, b := range slices.Backward(p.recent) {
		if b.said {
			return Kept{b.Range, Said}, true
		}
	}
	return Kept{}, false
}

// lastSaid is the last thing that the user said of the epoch's turns that were not read. It looks through them
// for it, which takes long only where nobody compiled a prompt and the user was silent for very long.
func (c *compiler) lastSaid(p *Projection) (Kept, bool, error) {
	for _, s := range slices.Backward(c.request.Session.Spans(p.begin - 1)) {
		for s.From = max(s.From, p.epoch.From); !s.Empty(); {
			found, err := c.log.rows.Scan(c.ctx, c.request.Session.Tenant, s, turn.RowFilter{Role: turn.User, Newest: true}, 1)
			if err != nil {
				return Kept{}, false, fmt.Errorf("turns of %s: %w", c.request.Session.Session, err)
			}
			if len(found) == 0 {
				break
			}
			if s.To = found[0].Seq - 1; !p.onPath(found[0].Seq) {
				continue
			}
			whole, _, err := c.log.pinned(p.epoch.Path, found[0].Seq)
			return Kept{whole, Said}, err == nil, err
		}
	}
	return Kept{}, false, nil
}

func lastOf(kept []Kept) (Kept, bool) {
	if len(kept) == 0 {
		return Kept{}, false
	}
	return kept[len(kept)-1], true
}

// pinned returns the whole ranges of the pinned turns before seq from that are on the path.
func (c *compiler) pinned(p *Projection, pins []int64, from int64) ([]turn.Range, error) {
	var ranges []turn.Range
	for _, seq := range pins {
		if seq >= from || !p.onPath(seq) {
			continue
		}
		whole, ok, err := c.log.pinned(p.epoch.Path, seq)
		if err != nil {
			return nil, err
		}
		if ok && p.onPath(whole.From) && !slices.Contains(ranges, whole) {
			ranges = append(ranges, whole)
		}
	}
	return ranges, nil
}

// reuse returns a block that the projection or the others have, and reads it where they have not.
func (c *compiler) reuse(p *Projection, k Kept, others ...block) (block, error) {
	for _, blocks := range [][]block{p.kept, p.recent, others} {
		for _, b := range blocks {
			if b.Range == k.Range {
				return b, nil
			}
		}
	}
	return c.block(k.From, k.To, p)
}
