package prompt

import (
	"context"

	"github.com/turnstone-dev/turnstone/compress"
)

// Planned is a pass that could be made: the epoch it is for, where the recent turns would begin, and what has
// to be summarised for it.
type Planned struct {
	Epoch int64
	From  int64
	Job   *compress.Job
	// Pins are the turns that are pinned; see [Draft].
	Pins []int64
}

// Draft is the pass with its summaries.
func (p *Planned) Draft(o compress.Outcome) *Draft {
	return &Draft{Epoch: p.Epoch, From: p.From, Outcome: o, Window: p.Job.Window, SummaryMax: p.Job.SummaryMax, Pins: p.Pins}
}

// Plan says what a pass over the session would have to summarise, so that it can be done outside of any
// transaction and become a [Draft]. It plans for the time when the conversation is full, and reads what
// [Compile] would. Nil if there is nothing that could leave the prompt, or another epoch must be opened first.
func Plan(ctx context.Context, rows AllRows, r Request) (*Planned, error) {
	c := newCompiler(ctx, rows, r)
	p, pins, err := c.read(nil)
	if err != nil {
		return nil, err
	}
	if reason, err := c.reason(p, pins); err != nil || reason != "" || p.begin > p.epoch.From {
		return nil, err
	}
	more := 0
	if room := float64(p.room(r.Window)); !r.Force {
		more = max(int((r.Compression.Threshold-p.fill(r.Window))*room), 0)
	}
	from, ok := p.cut(r.Window, r.Compression, p.growth(r.Window, r.Compression, true), more)
	if !ok {
		return nil, nil
	}
	l, err := c.leave(p, p.covered()+1, from)
	if err != nil {
		return nil, err
	}
	pinned, err := c.pinned(p, pins, from)
	if err != nil {
		return nil, err
	}
	j, err := c.job(p, &l, pinned)
	return &Planned{Epoch: p.epoch.Number, From: from, Job: j, Pins: pins}, err
}
