package prompt

import "slices"

// settled opens another epoch if the current one cannot go on.
func (c *compiler) settled(p *Projection, pins []int64) (*Projection, error) {
	r := &c.request
	reason, err := c.reason(p, pins)
	if err != nil {
		return nil, err
	}
	if reason == ReasonWindow {
		if p, err = c.widened(p); err != nil {
			return nil, err
		}
	}
	if reason != "" && reason != ReasonStart {
		if p, err = c.reopen(p, reason, p.epoch.From, p.keptSaid(), pins); err != nil {
			return nil, err
		}
	}
	// What is kept of the turns that go takes room too, so that more of them may have to. Every round lets
	// something go.
	for !r.Compression.Off && p.full(r.Window, r.Compression) {
		from, said, ok := p.cut(r.Window, r.Compression)
		if !ok {
			break
		}
		if reason == "" {
			reason = ReasonFull
		}
		if p, err = c.reopen(p, reason, from, said, pins); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// reason says why another epoch must be opened whatever its size; empty where none must.
func (c *compiler) reason(p *Projection, pins []int64) (Reason, error) {
	r := &c.request
	was, is := "", ""
	if p.epoch.Goal != nil {
		was = p.epoch.Goal.ID
	}
	if r.Goal != nil {
		is = r.Goal.ID
	}
	switch {
	case c.opened != nil:
		return ReasonStart, nil
	case p.epoch.Context > 0 && p.epoch.From > p.epoch.begin() && int64(r.Window.Context) > p.epoch.Context:
		return ReasonWindow, nil
	case r.Settings != nil && r.Settings.SHA256 != p.epoch.Settings:
		return ReasonSettings, nil
	case was != is:
		return ReasonGoal, nil
	}
	if _, _, fits := p.late(r.Window, c.progress(p), nil); !fits {
		return ReasonGoal, nil
	}
	for _, seq := range pins {
		if !p.hides(seq) {
			continue
		}
		// A unit that still waits is shown where its last result will stand, and one that ended in this
		// epoch is shown even if it was not read.
		whole, complete, err := c.log.pinned(seq)
		if err != nil {
			return "", err
		}
		if complete && whole.To < p.epoch.From && p.onPath(whole.From) {
			return ReasonPin, nil
		}
	}
	return "", nil
}

// hides reports whether a turn is none of those that the prompt shows or will show.
func (p *Projection) hides(seq int64) bool {
	if seq >= p.epoch.From || !p.onPath(seq) {
		return false
	}
	shown := func(blocks []block) bool {
		return slices.ContainsFunc(blocks, func(b block) bool {
			return slices.ContainsFunc(b.messages, func(m Message) bool { return slices.Contains(m.Seqs, seq) })
		})
	}
	return !shown(p.kept) && !shown(p.recent)
}

// progress is what changed about the goal since the epoch was opened.
func (c *compiler) progress(p *Projection) string {
	if p.epoch.Goal == nil || c.request.Goal == nil {
		return ""
	}
	return goalProgress(p.epoch.Goal, c.request.Goal)
}
