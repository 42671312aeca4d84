package prompt

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/turnstone-dev/turnstone/turn"
)

// settled opens another epoch if the current one cannot go on.
func (c *compiler) settled(p *Projection, pins []int64) (*Projection, error) {
	r := &c.request
	reason, err := c.reason(p, pins)
	if err != nil {
		return nil, err
	}
	if r.Back != nil {
		reason = r.Back.Reason
	}
	if reason == ReasonWindow {
		if p, err = c.widened(p); err != nil {
			return nil, err
		}
	}
	if r.Back != nil || reason != "" && c.opened == nil {
		if p, err = c.again(p, reason, pins); err != nil {
			return nil, err
		}
	}
	if reason == "" {
		reason = ReasonFull
	}
	// What is kept of the turns that go takes room too, so that more of them may have to. Every round lets
	// something go.
	for force := r.Force; !r.Compression.Off && reason != ReasonUndo && (force || c.due(p)); force = false {
		next, err := c.smaller(p, reason, pins)
		if err != nil {
			return nil, &PassError{err}
		}
		if next == nil {
			break
		}
		p = next
	}
	return p, nil
}

// PassError says that a pass could not be made. Where nothing has to leave the prompt, it can be compiled without.
type PassError struct{ Err error }

func (e *PassError) Error() string { return "pass: " + e.Err.Error() }

// Unwrap returns why.
func (e *PassError) Unwrap() error { return e.Err }

// due reports whether it is time for a pass.
func (c *compiler) due(p *Projection) bool {
	r := &c.request
	switch {
	case p.begin > p.epoch.From:
		return true
	case p.fill(r.Window) < r.Compression.Threshold:
		return len(p.recent) == 0 && c.over(p)
	case p.epoch.Hold, r.Wait && c.draft(p) == nil:
		return c.over(p) || c.crowded(p)
	}
	return true
}

// crowded reports whether the late block would have an item more if the window were not as full: the next turns will not fit either.
func (c *compiler) crowded(p *Projection) bool {
	w, progress := c.request.Window, c.progress(p)
	_, left, _ := p.late(w, progress, c.request.Late)
	if len(left) == 0 {
		return false
	}
	w.Reserve = math.MinInt32 // the share of the block stays
	_, roomy, _ := p.late(w, progress, c.request.Late)
	return len(roomy) < len(left)
}

// over reports whether the prompt with its late block does not fit.
func (c *compiler) over(p *Projection) bool { return c.missing(p) > 0 }

// missing is how many tokens more the prompt with its late block takes than there are; less than 1 if it fits.
func (c *compiler) missing(p *Projection) int {
	w := c.request.Window
	sum := p.sum()
	if late, _, _ := p.late(w, c.progress(p), c.request.Late); late != "" {
		sum = sum.Plus(p.tally(&Message{Role: Note, Parts: []Part{{Text: late}}}))
	}
	return p.counter.Tokens(sum).Upper() - (w.Usable - w.Reserve)
}

// again reopens what is shown with the pins as they are now.
func (c *compiler) again(p *Projection, reason Reason, pins []int64) (*Projection, error) {
	ch, err := c.same(p, pins)
	if err != nil {
		return nil, err
	}
	return c.reopen(p, reason, ch)
}

// smaller makes a pass, nil if none would make the prompt smaller.
func (c *compiler) smaller(p *Projection, reason Reason, pins []int64) (*Projection, error) {
	r := &c.request
	if d := c.draft(p); d != nil {
		next, ok, err := c.pass(p, reason, d.From, pins, d, true)
		if err != nil || ok {
			return next, err
		}
	}
	from, leaves := p.cut(r.Window, r.Compression, p.growth(r.Window, r.Compression, r.Pass != nil), 0)
	if !leaves {
		// What stands for the turns that left may still have the size that a larger window had room for.
		if from = p.epoch.From; from == p.epoch.begin() || !c.over(p) {
			return nil, nil
		}
	}
	spent := int64(p.counter.Tokens(p.spent).Upper())
	// What was of no use while the prompt did fit may be what makes it fit: the user has said something else
	// since, or less is asked of a pass.
	if r.Blocked != nil && !c.over(p) {
		if blocked, err := r.Blocked(p.epoch.Number, p.epoch.From, spent); err != nil || blocked {
			return nil, err
		}
	}
	next, ok, err := c.pass(p, reason, from, pins, nil, r.Pass != nil)
	if err == nil && !ok && !leaves && r.Pass != nil {
		next, ok, err = c.pass(p, reason, from, pins, nil, false)
	}
	if last := len(p.recent) - 1; err == nil && !ok && c.over(p) && last >= 0 && p.recent[last].replies() && from <= p.recent[last].To {
		// A reply fits alone, and not beside what must stay, such as the question.
		next, ok, err = c.pass(p, reason, p.recent[last].To+1, pins, nil, r.Pass != nil)
	}
	if err == nil && !ok {
		c.stuck = &Stuck{Range: turn.Range{From: p.epoch.From, To: from - 1}, Until: spent + int64(c.gain(p))}
	}
	return next, err
}

// Stuck are the turns of a pass that would not have made the prompt smaller.
type Stuck struct {
	turn.Range
	// Until is how many tokens the recent turns must take before it is worth another try: whatever leaves, it was
	// not worth it with fewer.
	Until int64
}

// draft is the pass that was made ahead, if it can be used.
func (c *compiler) draft(p *Projection) *Draft {
	if c.request.Draft == nil || c.opened != nil || p.begin > p.epoch.From {
		return nil
	}
	r := &c.request
	d := r.Draft(p.epoch.Number)
	switch {
	case d == nil, d.Epoch != p.epoch.Number, d.From <= p.epoch.From, d.From > p.end:
		return nil
	case d.Window != r.Window, d.SummaryMax != r.Compression.SummaryMaxTokens:
		return nil // it had another room
	case slices.ContainsFunc(d.Pins, func(seq int64) bool { return !slices.Contains(c.pins, seq) }):
		return nil // it left out what was pinned then and would stand nowhere now
	}
	return d
}

// reason says why another epoch must be opened whatever its size; empty where none must.
func (c *compiler) reason(p *Projection, pins []int64) (Reason, error) {
	r := &c.request
	larger := c.opened == nil && p.epoch.Context > 0 && p.epoch.From > p.epoch.begin() && int64(r.Window.Context) > p.epoch.Context
	if larger {
		shared, err := c.shared()
		if err != nil {
			return "", err
		}
		larger = !shared
	}
	was, is := "", ""
	if p.epoch.Goal != nil {
		was = p.epoch.Goal.ID
	}
	if r.Goal != nil {
		is = r.Goal.ID
	}
	switch {
	case c.opened != nil:
		return c.opened.Reason, nil
	case larger:
		return ReasonWindow, nil
	case r.Settings != nil && r.Settings.SHA256 != p.epoch.Settings:
		return ReasonSettings, nil
	case was != is:
		return ReasonGoal, nil
	case p.quotesGone():
		return ReasonForgot, nil
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
		whole, complete, err := c.log.pinned(p.epoch.Path, seq)
		if err != nil {
			return "", err
		}
		if complete && whole.To < p.epoch.From && p.onPath(whole.From) {
			return ReasonPin, nil
		}
	}
	return "", nil
}

// sharedCalls is how many prompts back it matters that the session had one for a smaller window.
const sharedCalls = 32

// shared reports whether somebody with a smaller window has had to take away again what came back for this one. It
// would be so each time that the two take turns.
func (c *compiler) shared() (bool, error) {
	r := &c.request
	last, err := c.rows.LastCall(c.ctx, r.Session.Tenant, c.spans, r.Session.Head)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("prompts of %s: %w", r.Session.Session, err)
	}
	rows, err := c.rows.Calls(c.ctx, r.Session.Tenant, c.spans, last.Number-sharedCalls, sharedCalls)
	if err != nil {
		return false, fmt.Errorf("prompts of %s: %w", r.Session.Session, err)
	}
	var large Call
	for i := range rows {
		call, err := DecodeCall(rows[i])
		if err != nil {
			return false, err
		}
		if call.Context >= int64(r.Window.Context) {
			large = call
			continue
		}
		if large.Number == 0 {
			continue
		}
		if came, err := c.cameBack(&large); came || err != nil {
			return came, err
		}
		large = Call{}
	}
	return false, nil
}

// cameBack reports whether turns came back for a prompt, or were held back since the session is shared.
func (c *compiler) cameBack(call *Call) (bool, error) {
	row, err := c.rows.Epoch(c.ctx, c.request.Session.Tenant, c.spans, call.Epoch)
	if err != nil {
		return false, fmt.Errorf("epoch %d of %s: %w", call.Epoch, c.request.Session.Session, err)
	}
	e, err := DecodeEpoch(row)
	return e.Reason == ReasonWindow || e.Context < call.Context, err
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
