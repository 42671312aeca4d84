package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/simulate"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// Options say how a conversation is replayed.
type Options struct {
	// Model is who the prompts are for. Defaults to the session's.
	Model string
	// Window is the size of the model's context in tokens. It must be given.
	Window int
	// Count counts the tokens of a text. It must be given.
	Count func(string) int
	// Progress is told how many exchanges are committed. Defaults to nobody.
	Progress func(exchanges int64)
}

// Report is what came of a replay.
type Report struct {
	Exchanges, Turns, Calls int
	// Said is how many tokens the whole conversation has, with all that tools were told and answered.
	Said   int
	Window budget.Window
	// Prompts is what the prompts took.
	Prompts simulate.Usage
	// Last is how many tokens the last prompt has, and Passes how many times turns left the prompt.
	Last        int
	Passes      int64
	Checkpoints int
	// Remembered is how many items of memory the commits made, Goals how many goals there are and Done how
	// many of them are completed.
	Remembered, Goals, Done int
	// Facts are how many facts and literals that matter there are in the turns that left the prompt, and Held how
	// many of them the last one still holds or names.
	Facts, Held int
	// Trace is the id of the last exchange's export.
	Trace string
	Found []Finding
}

type player struct {
	session *turnstone.Session
	talk    Conversation
	options Options
	meter   *simulate.Meter
	report  Report
	last    *prompt.Prompt
	turns   []turn.Turn
	first   []int   // where the turns of each exchange begin
	pinned  []int64 // the turns that are
}

// Replay takes a conversation through the session of an engine, which must be empty. What was replayed until an
// error stays there.
func Replay(ctx context.Context, s *turnstone.Session, c Conversation, o Options) (*Report, error) {
	p := &player{session: s, talk: c, options: o, meter: simulate.NewMeter(o.Count)}
	for i := range c.Exchanges {
		if err := p.exchange(ctx, i); err != nil {
			return nil, fmt.Errorf("exchange %d: %w", i+1, err)
		}
		if o.Progress != nil {
			o.Progress(int64(i + 1))
		}
	}
	if err := p.prompt(ctx); err != nil {
		return nil, err
	}
	return &p.report, p.conclude(ctx)
}

// exchange replays one: the log has everything before the reply, which is committed.
func (p *player) exchange(ctx context.Context, i int) error {
	ex := p.talk.Exchanges[i]
	p.first = append(p.first, len(p.turns))
	drafts, reply := ex.Turns[:len(ex.Turns)-1], ex.Turns[len(ex.Turns)-1]
	for k, d := range drafts {
		if d.Role == turn.Agent {
			if err := p.prompt(ctx); err != nil {
				return err
			}
		}
		turns, err := p.session.Append(ctx, d)
		if err != nil {
			return err
		}
		p.turns = append(p.turns, turns...)
		if k > 0 {
			continue
		}
		ex.Opened = turns[0].ID
		if slices.Contains(p.talk.Pins, i+1) {
			p.pinned = append(p.pinned, turns[0].Seq)
			if err := p.session.Pin(ctx, turns[0].Seq); err != nil {
				return err
			}
		}
	}
	if err := p.prompt(ctx); err != nil {
		return err
	}
	ex.Turns = []turn.Draft{reply}
	result, err := p.session.Commit(ctx, ex)
	if err != nil {
		return err
	}
	return p.committed(result)
}

func (p *player) committed(r commit.Result) error {
	for i := range r.Turns {
		if r.Turns[i].Kind == turn.KindTurn {
			p.turns = append(p.turns, r.Turns[i])
		}
	}
	p.report.Exchanges++
	p.report.Remembered += len(r.Episodes)
	p.report.Trace = r.ExportID
	if len(r.Refused) > 0 {
		return fmt.Errorf("%s: %s", r.Refused[0].What, r.Refused[0].Reason)
	}
	return nil
}

// prompt compiles what a model would have been sent.
func (p *player) prompt(ctx context.Context) error {
	made, err := p.session.Prompt(ctx, p.promptOptions())
	if err != nil {
		return err
	}
	p.meter.Add(made.Messages)
	p.last = made
	return nil
}

func (p *player) promptOptions() turnstone.PromptOptions {
	return turnstone.PromptOptions{Settings: &p.talk.Settings, Model: p.options.Model, Context: p.options.Window}
}

// conclude looks at what is there when everything was said.
func (p *player) conclude(ctx context.Context) error {
	r := &p.report
	r.Turns, r.Prompts, r.Window = len(p.turns), p.meter.Usage(), p.last.Window
	r.Last, r.Passes, r.Checkpoints = p.last.Count.Tokens, p.last.Passes, len(p.last.Checkpoints)
	for i := range p.turns {
		t := &p.turns[i]
		r.Said += p.options.Count(t.Content.Searchable())
		if text, ok := t.Content.(turn.Text); ok {
			r.Calls += len(text.ToolCalls)
		}
	}
	intentions, err := p.session.Intentions(ctx, true)
	if err != nil {
		return err
	}
	for _, g := range intentions.Goals() {
		r.Goals++
		if !g.CompletedAt.IsZero() {
			r.Done++
		}
	}
	status, err := p.session.Status(ctx, p.promptOptions())
	if err != nil {
		return err
	}
	r.Facts, r.Held = status.Facts, status.FactsHeld
	for _, probe := range p.talk.Probes {
		f, err := p.look(ctx, probe)
		if err != nil {
			return fmt.Errorf("%s: %w", probe.Text, err)
		}
		r.Found = append(r.Found, f)
	}
	return nil
}

// ErrNotSaid: a probe is for something that was not said in its exchange.
var ErrNotSaid = errors.New("it was not said there")

// turnOf finds the turn of a probe's exchange that holds its text.
func (p *player) turnOf(probe Probe) (turn.Turn, error) {
	for _, t := range p.turns[p.first[probe.Exchange-1]:] {
		if strings.Contains(t.Content.Searchable(), probe.Text) {
			return t, nil
		}
	}
	return turn.Turn{}, ErrNotSaid
}
