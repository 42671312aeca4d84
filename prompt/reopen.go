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
	e.Settings = settings.SHA256
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

// withLast adds the last thing that the user said if it is not among the turns from seq from on: it is what
// the model is to answer, whatever its size and however long the tools have been at work on it.
func (c *compiler) withLast(p *Projection, from int64, said []Kept) ([]Kept, error) {
	if p.begin > from {
		// Not all of those turns were read, and the cut that must follow asks again.
		return said, nil
	}
	if slices.ContainsFunc(p.recent, func(b block) bool { return b.said && b.To >= from }) {
		return said, nil
	}
	for _, s := range slices.Backward(c.request.Session.Spans(from - 1)) {
		for !s.Empty() {
			found, err := c.log.rows.Scan(c.ctx, c.request.Session.Tenant, s, turn.RowFilter{Role: turn.User, Newest: true}, 1)
			if err != nil {
				return nil, fmt.Errorf("turns of %s: %w", c.request.Session.Session, err)
			}
			if len(found) == 0 {
				break
			}
			if s.To = found[0].Seq - 1; !p.onPath(found[0].Seq) {
				continue
			}
			whole, _, err := c.log.pinned(found[0].Seq)
			if err != nil || slices.Contains(said, Kept{whole, Said}) {
				return said, err
			}
			return append(slices.Clone(said), Kept{whole, Said}), nil
		}
	}
	return said, nil
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
