package prompt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/turn"
)

// Request is what a prompt is compiled for.
type Request struct {
	// Session is the session, its Head the last turn that the prompt may show.
	Session turn.SessionInfo
	// Settings are what it begins with. Nil: what the one before began with, and Default for the first.
	Settings *Sealed
	Default  Sealed
	// Goal is the goal that is active, nil where there is none.
	Goal *cortex.Goal
	// Late are items for the late block, each a text that stands or falls as a whole.
	Late []string
	// Model is who it is for, by the name that the caller uses.
	Model   string
	Window  budget.Window
	Counter *budget.Counter
	// Compression says when turns leave the prompt; it has its defaults.
	Compression budget.Compression
}

// Compiled is a prompt and what it was made with.
type Compiled struct {
	Prompt *Prompt
	// Opened is the epoch that must be stored before the prompt is used; nil where an older one goes on.
	Opened *Epoch
	// Settings are those of the prompt; they must be stored with an epoch that is opened.
	Settings Sealed
	// Projection makes the next prompt of the session cheaper; it is to be given to [Compile] again.
	Projection *Projection
}

// Compile makes the prompt of a session as it is now. It reads the turns that the earlier projection has not
// seen, all that the window can hold if it is nil, and writes nothing. A *[budget.OverBudgetError] says where
// every token went if it does not fit.
func Compile(ctx context.Context, turns turn.TurnRows, rows Rows, r Request, earlier *Projection) (Compiled, error) {
	c := compiler{log: log{ctx, turns, &r.Session}, rows: rows, request: r, spans: r.Session.Lineage(r.Session.Head)}
	return c.compile(earlier)
}

// Open stores an epoch that [Compile] opened. ErrStale if it is not the next one any more.
func Open(ctx context.Context, rows Rows, session turn.SessionInfo, e Epoch, at time.Time) error {
	last, err := rows.LastEpoch(ctx, session.Tenant, session.Lineage(session.Head))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("epoch of %s: %w", session.Session, err)
	}
	if last.Number != e.Number-1 {
		return fmt.Errorf("epoch %d of %s: %w", e.Number, session.Session, ErrStale)
	}
	row := e.Row()
	row.At = at
	if err := rows.InsertEpoch(ctx, session.Tenant, session.Segment, row); err != nil {
		return fmt.Errorf("epoch %d of %s: %w", e.Number, session.Session, err)
	}
	return nil
}

type compiler struct {
	log
	rows    Rows
	request Request
	spans   []span.Span
	opened  *Epoch
	passed  int64 // the pass that this prompt is, 0 where it is none
}

func (c *compiler) compile(earlier *Projection) (Compiled, error) {
	r := &c.request
	pins, err := c.rows.Pins(c.ctx, r.Session.Tenant, c.spans)
	if err != nil {
		return Compiled{}, fmt.Errorf("pins of %s: %w", r.Session.Session, err)
	}
	p, err := c.current(earlier)
	if err != nil {
		return Compiled{}, err
	}
	if err := c.extend(p, r.Session.Head, r.Window.Usable-r.Window.Reserve); err != nil {
		return Compiled{}, err
	}
	if p, err = c.settled(p, PinnedIn(pins)); err != nil {
		return Compiled{}, err
	}
	late, left, _ := p.late(r.Window, c.progress(p), r.Late)
	made, err := p.compile(r.Window, late)
	if err != nil {
		return Compiled{}, err
	}
	if p.begin > p.epoch.From {
		// Turns that may not leave were not even read, since what was read fills the window.
		return Compiled{}, &budget.OverBudgetError{Account: made.Account, Why: "the conversation is longer than the window and may not shrink"}
	}
	made.LeftOut, made.Model = left, r.Model
	if c.opened != nil {
		made.Opened = c.opened.Reason
	}
	return Compiled{Prompt: made, Opened: c.opened, Settings: p.settings, Projection: p}, nil
}

// current returns the projection of the session's epoch, which is a new one for its first prompt.
func (c *compiler) current(earlier *Projection) (*Projection, error) {
	r := &c.request
	row, err := c.rows.LastEpoch(c.ctx, r.Session.Tenant, c.spans)
	if errors.Is(err, ErrNotFound) {
		return c.first(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("epoch of %s: %w", r.Session.Session, err)
	}
	if earlier != nil && earlier.epoch.Number == row.Number && earlier.counter.CountsLike(r.Counter) && earlier.end <= r.Session.Head {
		earlier.counter = r.Counter
		return earlier, nil
	}
	epoch, err := DecodeEpoch(row)
	if err != nil {
		return nil, err
	}
	return c.project(epoch)
}

// first opens the session's first epoch.
func (c *compiler) first() *Projection {
	settings := c.request.Default
	if c.request.Settings != nil {
		settings = *c.request.Settings
	}
	c.opened = &Epoch{
		Number: 1, AfterSeq: c.request.Session.Head, Renderer: Renderer, Reason: ReasonStart,
		Path: []turn.Range{{From: 1}}, From: 1, Settings: settings.SHA256, Goal: c.request.Goal,
	}
	return newProjection(*c.opened, settings, nil, c.request.Counter)
}

// project reads what an epoch froze.
func (c *compiler) project(e Epoch) (*Projection, error) {
	settings, err := c.settings(e.Settings)
	if err != nil {
		return nil, err
	}
	kept, err := c.kept(&e, &Projection{counter: c.request.Counter})
	if err != nil {
		return nil, err
	}
	return newProjection(e, settings, kept, c.request.Counter), nil
}

func (c *compiler) settings(sha256 string) (Sealed, error) {
	if s := c.request.Settings; s != nil && s.SHA256 == sha256 {
		return *s, nil
	}
	return LoadSettings(c.ctx, c.rows, c.request.Session.Tenant, sha256)
}

// settled opens another epoch if the current one cannot go on.
func (c *compiler) settled(p *Projection, pins []int64) (*Projection, error) {
	r := &c.request
	reason, err := c.reason(p, pins)
	if err != nil {
		return nil, err
	}
	if reason != "" && reason != ReasonStart {
		if p, err = c.reopen(p, reason, p.epoch.From, p.epoch.said(), pins); err != nil {
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
