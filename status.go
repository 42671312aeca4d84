package turnstone

import (
	"context"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
)

// Status is how a session's prompt stands.
type Status struct {
	Prompt *prompt.Prompt
	// Reliability is how far what the model sees can be trusted to be what was said.
	Reliability budget.Reliability
	// Passes is how many times turns have left the prompt.
	Passes int64
	// Pins are how many turns are pinned. The prompt holds all of them, but for a call that still waits.
	Pins int
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
	profile, _ := s.engine.config.Profiles.Find(p.Model)
	status := Status{Prompt: p, Passes: p.Passes, Pins: len(pins), Turns: p.End, Shown: p.Shown}
	// What is not shown is lost on the model: that is what its confidence is measured by, and one
	// generation of loss where anything is not.
	confidence, generations := 1.0, 0
	if p.Passes > 0 && status.Turns > 0 {
		confidence, generations = float64(status.Shown)/float64(status.Turns), 1
	}
	status.Reliability = budget.Rate(profile.RatedSize(), generations, confidence)
	return status, nil
}
