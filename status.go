package turnstone

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Status is how a session's prompt stands.
type Status struct {
	Prompt *prompt.Prompt
	// Reliability is how far what the model sees can be trusted to be what was said.
	Reliability budget.Reliability
	// Passes is how many compressions are in force, which those that were undone are not, and Generations how many lossy ones
	// lie between the log and the prompt: one where checkpoints stand in it, as they are always made from the turns themselves.
	Passes      int64
	Generations int
	// Goals are how many parts the active goal has, and GoalsHeld how many of them the prompt holds; see
	// [prompt.Prompt.Holds].
	Goals, GoalsHeld int
	// Pins are how many turns are pinned, and PinsHeld how many of them the prompt shows: all, but for calls
	// that still wait and turns that a restore left behind.
	Pins, PinsHeld int
	// Facts are how many facts and literals that matter there are in the turns that left the prompt, and
	// FactsHeld how many of them it still holds or names; see [prompt.Measure].
	Facts, FactsHeld int
	// FactsNamed are those of FactsHeld that it does not hold itself: it names their turns, where they can be looked up.
	FactsNamed int
	// Turns are how many have a number: turns, and the summaries in the log, which prompts do not show. Shown is how many the
	// prompt shows.
	Turns, Shown int64
	// Whole says that nothing is missing: no turn of the path has left the prompt, and it holds all pins and parts of the
	// goal. Reliability is then nothing but how the model is rated by its size.
	Whole bool
}

// Status says how the session's prompt stands, without keeping that it was looked at.
func (s *Session) Status(ctx context.Context, o PromptOptions) (Status, error) {
	o.Preview = true
	p, err := s.Prompt(ctx, o)
	if err != nil {
		return Status{}, err
	}
	pins, err := s.Pins(ctx)
	if err != nil {
		return Status{}, err
	}
	status := Status{Prompt: p, Pins: len(pins), Turns: p.End, Shown: p.Shown, Generations: p.Generations}
	m, err := s.measure(ctx, p)
	if err != nil {
		return Status{}, fmt.Errorf("status of %s: %w", s.key.Session, err)
	}
	status.FactsHeld, status.FactsNamed, status.Facts, status.Passes = m.held, m.named, m.total, m.passes
	for _, seq := range pins {
		if slices.ContainsFunc(p.Messages, func(m prompt.Message) bool { return slices.Contains(m.Seqs, seq) }) {
			status.PinsHeld++
		}
	}
	intentions, err := s.Intentions(ctx, true)
	if err != nil {
		return Status{}, fmt.Errorf("status of %s: %w", s.key.Session, err)
	}
	if goal, ok := intentions.ActiveGoal(); ok {
		status.GoalsHeld, status.Goals = p.Holds(&goal)
	}
	profile, _ := s.engine.Profile(p.Model)
	confidence := status.confidence()
	status.Reliability = budget.Rate(profile.RatedSize(), status.Generations, confidence)
	status.Whole = confidence == 1 && (len(p.Path) == 0 || p.From <= p.Path[0].From)
	return status, nil
}

// confidence is the share of what matters that the prompt holds or names.
func (s *Status) confidence() float64 {
	total := s.Facts + s.Pins + s.Goals
	if total == 0 {
		return 1
	}
	return float64(s.FactsHeld+s.PinsHeld+s.GoalsHeld) / float64(total)
}

// measure holds a prompt against the turns that left it, once in an epoch and for a mode, which says what matters. An
// epoch that a preview would open is not in force, and may be another one when it is.
func (s *Session) measure(ctx context.Context, p *prompt.Prompt) (m measured, err error) {
	entry := s.engine.shared.projections.entry(s.key)
	if err := entry.lock(ctx); err != nil {
		return measured{}, err
	}
	defer entry.unlock()
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		m = measured{of: measurement{epoch: p.Epoch, from: p.From, context: p.Window.Context, model: p.Model, mode: info.Mode}}
		if entry.measured.of == m.of && p.Opened == "" {
			m = entry.measured
			return nil
		}
		if m.held, m.named, m.total, err = prompt.Measure(ctx, promptRows(tx), info, p); err != nil {
			return err
		}
		if m.passes, err = (&epochs{ctx, tx.Prompt(), s.key.Tenant, info.Lineage(info.Head)}).passes(p); err != nil {
			return err
		}
		entry.measured = measured{}
		if p.Opened == "" {
			entry.measured = m
		}
		return nil
	})
	return m, err
}
