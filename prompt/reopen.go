package prompt

import (
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/turn"
)

// reopen returns the projection of an epoch that shows the turns of p from seq from on.
func (c *compiler) reopen(p *Projection, reason Reason, from int64, said []Kept, pins []int64) (*Projection, error) {
	e := p.epoch
	if c.opened == nil {
		e.Number++
	}
	e.AfterSeq, e.Renderer, e.Reason, e.From, e.Goal = c.request.Session.Head, Renderer, reason, from, c.request.Goal
	settings := p.settings
	if s := c.request.Settings; s != nil {
		settings = *s
	}
	e.Settings, e.Context = settings.SHA256, int64(c.request.Window.Context)
	if from > p.epoch.From && c.passed == 0 {
		e.Passes++
		c.passed = e.Passes
	}
	said, err := c.withLast(p, from, said)
	if err != nil {
		return nil, err
	}
	ranges, err := c.pinned(p, pins, from)
	if err != nil {
		return nil, err
	}
	e.Kept = withPins(said, ranges, from)
	kept := make([]block, len(e.Kept))
	for i, k := range e.Kept {
		if kept[i], err = c.reuse(p, k); err != nil {
			return nil, err
		}
	}
	next := newProjection(e, settings, kept, c.request.Counter)
	next.begin, next.end = max(from, p.begin), p.end
	for i := range p.recent {
		if b := p.recent[i]; b.To >= from {
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

// widened returns the projection of p's epoch as if no turn had left it, as far back as the window reaches.
func (c *compiler) widened(p *Projection) (*Projection, error) {
	e := p.epoch
	e.From, e.Kept = e.begin(), nil
	whole := newProjection(e, p.settings, nil, c.request.Counter)
	return whole, c.extend(whole, c.request.Session.Head, c.request.Window.Usable-c.request.Window.Reserve)
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
			whole, _, err := c.log.pinned(found[0].Seq)
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
		whole, ok, err := c.log.pinned(seq)
		if err != nil {
			return nil, err
		}
		if ok && p.onPath(whole.From) && !slices.Contains(ranges, whole) {
			ranges = append(ranges, whole)
		}
	}
	return ranges, nil
}

// reuse returns a block that the projection has, and reads it where it has not.
func (c *compiler) reuse(p *Projection, k Kept) (block, error) {
	for _, blocks := range [][]block{p.kept, p.recent} {
		for _, b := range blocks {
			if b.Range == k.Range {
				return b, nil
			}
		}
	}
	return c.block(k.From, k.To, p)
}
