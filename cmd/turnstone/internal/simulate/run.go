package simulate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// Options say how a conversation is replayed.
type Options struct {
	// Config is how the engine works.
	Config turnstone.Config
	// Model is who the prompts are for. Defaults to nobody known.
	Model string
	// Window is the size of the model's context in tokens. It must be given.
	Window int
	// Late fills the late block of each prompt with turns that were said earlier.
	Late bool
	// Count counts the tokens of a text. It must be given.
	Count func(string) int
	// Progress is told how many turns were replayed. Defaults to nobody.
	Progress func(turns int64)
	// Prompt is told the text of each prompt, calls counted from 1. Its error ends the replay. Defaults to nobody.
	Prompt func(call int, text string) error
}

// Report is what came of a replay.
type Report struct {
	Turns   int
	Tokens  int // of the whole conversation
	Window  budget.Window
	Passes  int64
	Refused int // prompts that could not fit and were not made
	// Checkpoints is how many summaries stand in the last prompt, and Summarised what they take.
	Checkpoints, Summarised int
	// Ours is what the engine's prompts took, and Baselines what those of others would have, in the order of
	// [Baselines].
	Ours      Usage
	Baselines []Usage
	Calls     []Call
	Survived  Survival
}

// Call is one call of the model.
type Call struct {
	Turns     int64 // how many turns came before it
	Tokens    int
	Pass      bool // turns left the prompt just before it
	Baselines []int
}

// player is a replay under way.
type player struct {
	options Options
	clock   clock
	engine  *turnstone.Engine
	session *turnstone.Session
	counted *counted
	meter   meter
	report  Report
	drafts  []turn.Draft
	turns   []turn.Turn
	last    *prompt.Prompt
	talk    bool // somebody other than the system has spoken
}

// Run replays a conversation. Its errors are those of the engine, and of ctx.
func Run(ctx context.Context, c Conversation, o Options) (report *Report, err error) {
	p := &player{options: o}
	p.counted = &counted{count: o.Count, known: make(map[string]int)}
	p.meter.count = o.Count
	if p.report.Window, err = budget.WindowOf(o.Window); err != nil {
		return nil, err
	}
	p.clock.set(started(c))
	p.engine, err = turnstone.Open(ctx, mem.New(mem.Config{Clock: p.clock.now}), o.Config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.engine.Close()) }()
	if p.session, err = p.engine.Create(ctx, turn.SessionInfo{Model: o.Model}); err != nil {
		return nil, err
	}
	for i, e := range c.Entries {
		if i > 0 && speaks(c.Entries[i-1], e) {
			if err := p.call(ctx); err != nil {
				return nil, err
			}
		}
		if err := p.append(ctx, e); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Place, err)
		}
		if o.Progress != nil {
			o.Progress(int64(i + 1))
		}
	}
	if err := p.call(ctx); err != nil {
		return nil, err
	}
	if err := p.conclude(ctx); err != nil {
		return nil, err
	}
	return &p.report, nil
}

// speaks reports whether an entry begins what the agent says: the parts of one message come from one call.
func speaks(before, e history.Entry) bool {
	same := before.Role == turn.Agent && e.MessageID != "" && e.MessageID == before.MessageID
	return e.Role == turn.Agent && !same
}

func (p *player) append(ctx context.Context, e history.Entry) error {
	p.clock.set(e.At)
	turns, err := p.session.Append(ctx, e.Draft)
	if err != nil {
		return err
	}
	p.drafts, p.turns = append(p.drafts, e.Draft), append(p.turns, turns...)
	_, text := e.Content.(turn.Text)
	p.talk = p.talk || e.Role != turn.System
	// What the system opens a conversation with is pinned, as it is by an import.
	if p.talk || !text || e.Kind == turn.KindSummary || len(p.turns) > prompt.MaxPins {
		return nil
	}
	return p.session.Pin(ctx, turns[len(turns)-1].Seq)
}

// call compiles a prompt, as before a call of the model.
func (p *player) call(ctx context.Context) error {
	options := turnstone.PromptOptions{Model: p.options.Model, Context: p.options.Window}
	if p.options.Late {
		options.Late = p.recalled()
	}
	made, err := p.session.Prompt(ctx, options)
	if errors.Is(err, budget.ErrOverBudget) {
		p.report.Refused++
		return nil
	}
	if err != nil {
		return err
	}
	p.report.Calls = append(p.report.Calls, Call{
		Turns: int64(len(p.turns)), Tokens: p.meter.add(p.counted.pieces(made.Messages)), Pass: made.Passes > p.report.Passes,
	})
	p.report.Passes = made.Passes
	p.last = made
	if p.options.Prompt != nil {
		return p.options.Prompt(len(p.report.Calls), written(made.Messages))
	}
	return nil
}

// conclude makes the same calls in other ways, and looks at what is left.
func (p *player) conclude(ctx context.Context) error {
	whole, err := p.whole(ctx)
	if err != nil {
		return err
	}
	story := newStory(whole.Messages, p.counted)
	r := &p.report
	r.Turns, r.Ours = len(p.turns), p.meter.used
	for _, m := range whole.Messages {
		r.Tokens += p.counted.tokens(textOf(&m))
	}
	for _, b := range newBaselines(story, r.Window.Usable-r.Window.Reserve, p.counted) {
		for i := range r.Calls {
			r.Calls[i].Baselines = append(r.Calls[i].Baselines, b.call(r.Calls[i].Turns))
		}
		r.Baselines = append(r.Baselines, b.used)
	}
	if p.last != nil {
		r.Survived = survived(p.turns, p.last)
	}
	standing, err := p.session.Checkpoints(ctx)
	if err != nil {
		return err
	}
	r.Checkpoints = len(standing)
	for i := range standing {
		r.Summarised += int(standing[i].CurrentTokens)
	}
	return nil
}

// whole is the conversation as one prompt, for a model that nobody knows and that holds everything.
func (p *player) whole(ctx context.Context) (*prompt.Prompt, error) {
	session, err := p.engine.Create(ctx, turn.SessionInfo{})
	if err != nil {
		return nil, err
	}
	if _, err := session.Append(ctx, p.drafts...); err != nil {
		return nil, err
	}
	return session.Prompt(ctx, turnstone.PromptOptions{Context: budget.MaxContext, Preview: true})
}

// started is when a conversation began: now, where it does not say.
func started(c Conversation) time.Time {
	for _, e := range c.Entries {
		if !e.At.IsZero() {
			return e.At
		}
	}
	return time.Now()
}

// clock tells the time at which the last turn was said.
type clock struct {
	mu sync.Mutex // guards at
	at time.Time
}

// set moves the clock on; a time that is not known leaves it as it is.
func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(c.at) {
		c.at = at
	}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}
