package prompt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
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
	// Pass makes the summaries of turns that leave. Nil: they are only named.
	Pass func(context.Context, *compress.Job) (compress.Outcome, error)
	// Blocked reports whether a pass is known to be of no use in an epoch as long as its recent turns begin at seq
	// from and take no more than so many tokens; see [Stuck]. Nil: none is.
	Blocked func(epoch, from, tokens int64) (bool, error)
	// Draft returns a pass over an epoch that was made ahead, nil where there is none. It is used if the
	// time for it has come and it still fits. Nil: there never is one.
	Draft func(epoch int64) *Draft
	// Wait holds off a pass that no draft is ready for while the prompt still fits.
	Wait bool
	// Force makes a pass whether the conversation is full or not.
	Force bool
	// Back goes back to what an earlier epoch showed.
	Back *Back
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
	// Passes are the compressions that the epoch is made of; their checkpoints must be stored with it.
	Passes []Pass
	// Stuck is a pass that would not have made the prompt smaller; nil where there was none.
	Stuck *Stuck
	// Fill is how much of its room the conversation takes.
	Fill float64
}

// Compile makes the prompt of a session as it is now. It reads the turns that the earlier projection has not
// seen, all that the window can hold if it is nil, and writes nothing. A *[budget.OverBudgetError] says where
// every token went if it does not fit.
func Compile(ctx context.Context, rows AllRows, r Request, earlier *Projection) (Compiled, error) {
	c := newCompiler(ctx, rows, r)
	return c.compile(earlier)
}

// AllRows is what a prompt is made from, inside one transaction.
type AllRows struct {
	Turns       turn.TurnRows
	Prompts     Rows
	Checkpoints compress.Rows
}

func newCompiler(ctx context.Context, rows AllRows, r Request) *compiler {
	c := &compiler{rows: rows.Prompts, checkpoints: rows.Checkpoints, request: r, spans: r.Session.Lineage(r.Session.Head)}
	c.renderer = Renderer
	c.log = log{ctx, rows.Turns, &c.request.Session}
	return c
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
	rows        Rows
	checkpoints compress.Rows
	request     Request
	renderer    int64
	spans       []span.Span
	pins        []int64 // the turns that are pinned
	stored      int64   // the number of the last epoch that is stored
	opened      *Epoch
	unread      bool // that not all was read of what was to come back: it is too much
	passes      []Pass
	stuck       *Stuck
}

// read brings the projection of the session's epoch up to date, and says which turns are pinned.
func (c *compiler) read(earlier *Projection) (*Projection, []int64, error) {
	r := &c.request
	rows, err := c.rows.Pins(c.ctx, r.Session.Tenant, c.spans)
	if err != nil {
		return nil, nil, fmt.Errorf("pins of %s: %w", r.Session.Session, err)
	}
	pins := PinnedIn(rows)
	c.pins = pins
	p, err := c.current(earlier, pins)
	if err != nil {
		return nil, nil, err
	}
	if r.Settings == nil && p.epoch.unseen() {
		r.Settings = &r.Default
	}
	return p, pins, c.extend(p, r.Session.Head, r.Window.Usable-r.Window.Reserve)
}

func (c *compiler) compile(earlier *Projection) (Compiled, error) {
	r := &c.request
	p, pins, err := c.read(earlier)
	if err != nil {
		return Compiled{}, err
	}
	if p, err = c.settled(p, pins); err != nil {
		return Compiled{}, err
	}
	late, left, _ := p.late(r.Window, c.progress(p), r.Late)
	made, err := p.compile(r.Window, late)
	if err != nil {
		return Compiled{}, c.explained(p, err)
	}
	if p.begin > p.epoch.From || c.unread {
		// Turns that may not leave were not even read, since what was read fills the window.
		return Compiled{}, &budget.OverBudgetError{Account: made.Account, Why: "the conversation is longer than the window and may not shrink"}
	}
	made.LeftOut, made.Model = left, r.Model
	if c.opened != nil {
		made.Opened = c.opened.Reason
	}
	return Compiled{
		Prompt: made, Opened: c.opened, Settings: p.settings, Projection: p, Passes: c.passes, Stuck: c.stuck, Fill: p.fill(r.Window),
	}, nil
}

// current returns the projection of the session's epoch, which is a new one for its first prompt.
func (c *compiler) current(earlier *Projection, pins []int64) (*Projection, error) {
	r := &c.request
	row, err := c.rows.LastEpoch(c.ctx, r.Session.Tenant, c.spans)
	if errors.Is(err, ErrNotFound) {
		p := c.start()
		if r.Back == nil {
			return p, nil
		}
		p.epoch.Number = 0
		return c.back(p.epoch, pins)
	}
	if err != nil {
		return nil, fmt.Errorf("epoch of %s: %w", r.Session.Session, err)
	}
	c.stored = row.Number
	if r.Back == nil && earlier != nil && earlier.epoch.Number == row.Number && earlier.counter.CountsLike(r.Counter) && earlier.end <= r.Session.Head {
		earlier.counter = r.Counter
		return earlier, nil
	}
	epoch, err := DecodeEpoch(row)
	if err != nil {
		return nil, err
	}
	if r.Back != nil {
		return c.back(epoch, pins)
	}
	p, damaged, err := c.project(epoch)
	if err != nil || len(damaged) == 0 {
		return p, err
	}
	return c.mend(p, damaged, pins)
}

// start opens the session's first epoch.
func (c *compiler) start() *Projection {
	settings := c.request.Default
	if c.request.Settings != nil {
		settings = *c.request.Settings
	}
	c.opened = &Epoch{
		Number: 1, AfterSeq: c.request.Session.Head, Renderer: Renderer, Reason: ReasonStart,
		Path: []turn.Range{{From: 1}}, From: 1, Model: c.request.Model, Context: int64(c.request.Window.Context), Settings: settings.SHA256, Goal: c.request.Goal,
	}
	return newProjection(*c.opened, settings, frozen{}, c.request.Counter, c.renderer)
}

// project reads what an epoch froze, but for the checkpoints that are damaged.
func (c *compiler) project(e Epoch) (*Projection, []Ref, error) {
	settings, err := c.settings(e.Settings)
	if err != nil {
		return nil, nil, err
	}
	f, damaged, err := c.frozen(&e)
	if err != nil {
		return nil, nil, err
	}
	return newProjection(e, settings, f, c.request.Counter, c.renderer), damaged, nil
}

func (c *compiler) settings(sha256 string) (Sealed, error) {
	// Those of a session that has no prompt yet are stored with its first epoch.
	for _, s := range []*Sealed{c.request.Settings, &c.request.Default} {
		if s != nil && s.SHA256 == sha256 {
			return *s, nil
		}
	}
	return LoadSettings(c.ctx, c.rows, c.request.Session.Tenant, sha256)
}
