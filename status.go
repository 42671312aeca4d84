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
	// Passes is how many compressions there were, and Generations how many lossy ones lie between the log and
	// the prompt: one, as checkpoints are always made from the turns themselves.
	Passes      int64
	Generations int
	// Pins are how many turns are pinned, and PinsHeld how many of them the prompt shows: all, but for calls
	// that still wait and turns that a restore left behind.
	Pins, PinsHeld int
	// Facts are how many facts and literals that matter there are in the turns that left the prompt, and
	// FactsHeld how many of them it still holds or names; see [prompt.Measure].
	Facts, FactsHeld int
	// Turns are how many there are, and Shown how many of them the prompt shows.
	Turns, Shown int64
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
	status := Status{Prompt: p, Passes: p.Passes, Pins: len(pins), Turns: p.End, Shown: p.Shown, Generations: generations(p)}
	if status.FactsHeld, status.Facts, err = s.measure(ctx, p); err != nil {
		return Status{}, fmt.Errorf("status of %s: %w", s.key.Session, err)
	}
	for _, seq := range pins {
		if slices.ContainsFunc(p.Messages, func(m prompt.Message) bool { return slices.Contains(m.Seqs, seq) }) {
			status.PinsHeld++
		}
	}
	// The goal stands in every prompt.
	held, total := status.FactsHeld+status.PinsHeld+1, status.Facts+status.Pins+1
	profile, _ := s.engine.config.Profiles.Find(p.Model)
	status.Reliability = budget.Rate(profile.RatedSize(), status.Generations, float64(held)/float64(total))
	return status, nil
}

// generations is how many lossy generations lie between the log and the prompt. Every checkpoint is made from
// the turns themselves, however often it aged, so that there is one where anything left the prompt.
func generations(p *prompt.Prompt) int {
	if len(p.Path) > 0 && p.From > p.Path[0].From {
		return 1
	}
	return 0
}

// measure holds a prompt against the turns that left it, once in an epoch.
func (s *Session) measure(ctx context.Context, p *prompt.Prompt) (held, total int, err error) {
	entry := s.engine.shared.projections.entry(s.key)
	entry.mu.Lock()
	defer entry.mu.Unlock()
	if m := entry.measured; m.epoch == p.Epoch && m.from == p.From {
		return m.held, m.total, nil
	}
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		held, total, err = prompt.Measure(ctx, promptRows(tx), info, p)
		return err
	})
	if err == nil {
		entry.measured = measured{p.Epoch, p.From, held, total}
	}
	return held, total, err
}
