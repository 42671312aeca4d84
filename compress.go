package turnstone

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// ErrNothingToCompress says that no turn could leave the prompt and make it smaller.
var ErrNothingToCompress = errors.New("there is nothing to compress: what is shown would not become smaller")

// ErrCompressionOff says that the engine was told to let nothing leave the prompt.
var ErrCompressionOff = errors.New("compression is off; open the engine without Compression.Off to compress")

// Compress makes a pass now, whether the conversation is full or not, and waits for the summariser where the
// engine has one. Turns appended meanwhile stay in the prompt. [ErrNothingToCompress] if it would be of no use.
//
// It waits for an exchange that is under way in this process, until ctx ends, and while the summariser is at work
// exchanges go on. [ErrBusy] where another engine is at work on the session, or others keep changing its prompt.
func (s *Session) Compress(ctx context.Context, o PromptOptions) (prompt.Pass, error) {
	settings, err := s.prepare(ctx, o)
	if err != nil {
		return prompt.Pass{}, err
	}
	if s.engine.config.Compression.Off {
		return prompt.Pass{}, fmt.Errorf("compress %s: %w", s.key.Session, ErrCompressionOff)
	}
	for range promptTries {
		var pass prompt.Pass
		pass, err = s.compressNow(ctx, o, settings)
		if err == nil {
			return pass, nil
		}
		if !errors.Is(err, errReplan) {
			break
		}
	}
	return prompt.Pass{}, fmt.Errorf("compress %s: %w", s.key.Session, s.compressionFailed(ctx, contended(err)))
}

// errReplan says that what a pass was summarised for is not what stands any more.
var errReplan = fmt.Errorf("summaries were made for another prompt: %w", prompt.ErrStale)

// compressNow makes a pass. Nobody may be at work on the session before the summariser is asked, to see whether that is
// worth it, and when the pass is put in force; in between exchanges go on, since nobody must wait for a model.
func (s *Session) compressNow(ctx context.Context, o PromptOptions, settings *prompt.Sealed) (pass prompt.Pass, err error) {
	var plan *memory.Plan
	var draft *prompt.Draft
	m := s.engine.shared.manager
	if m.Modelled() && s.engine.config.Compression.Strategy != budget.Truncate {
		if err := s.openFirst(ctx, o, settings); err != nil {
			return prompt.Pass{}, err
		}
		if plan, err = s.plan(ctx, o, settings, true); err != nil {
			return prompt.Pass{}, err
		}
	}
	if plan != nil {
		outcome, err := m.Run(ctx, plan.Job, plan.Breaker)
		if err != nil {
			return prompt.Pass{}, err
		}
		draft = (&prompt.Planned{Epoch: plan.Epoch, From: plan.From, Job: plan.Job, Pins: plan.Pins}).Draft(outcome)
	}
	err = s.alone(ctx, func(ctx context.Context) (err error) {
		pass, err = s.putPass(ctx, o, settings, plan, draft)
		return err
	})
	if err == nil && pass.Mended {
		err = ErrNothingToCompress
	}
	return pass, err
}

// putPass puts a pass in force that was drafted as planned, or makes one where nothing was.
func (s *Session) putPass(ctx context.Context, o PromptOptions, settings *prompt.Sealed, plan *memory.Plan, draft *prompt.Draft) (prompt.Pass, error) {
	compiled, err := s.compile(ctx, compiling{options: o, settings: settings, at: Head, with: func(tx store.Tx, info turn.SessionInfo, r *prompt.Request) error {
		r.Force, r.Wait = true, false
		r.Draft = func(int64) *prompt.Draft { return draft }
		if err := s.atRest(ctx, tx); err != nil {
			return err
		}
		return s.stands(ctx, tx, info, plan)
	}})
	if err != nil {
		return prompt.Pass{}, err
	}
	if len(compiled.Passes) == 0 {
		return prompt.Pass{}, ErrNothingToCompress
	}
	err = s.swap(ctx, compiled, s.inPassing, nil)
	return compiled.Passes[len(compiled.Passes)-1], err
}

// stands refuses a plan whose epoch or pins are not those of the session any more with errReplan.
func (s *Session) stands(ctx context.Context, tx store.Tx, info turn.SessionInfo, plan *memory.Plan) error {
	if plan == nil {
		return nil
	}
	last, err := tx.Prompt().LastEpoch(ctx, s.key.Tenant, info.Lineage(info.Head))
	if err != nil {
		return err
	}
	pins, err := tx.Prompt().Pins(ctx, s.key.Tenant, info.Lineage(info.Head))
	if err != nil {
		return err
	}
	if last.Number != plan.Epoch || !slices.Equal(prompt.PinnedIn(pins), plan.Pins) {
		return errReplan
	}
	return nil
}

// openFirst opens the epoch that another beginning of the prompt, a pin or the session's first prompt asks for, so
// that a pass can be planned for it. Where what is shown does not fit, the pass has to do that at once.
func (s *Session) openFirst(ctx context.Context, o PromptOptions, settings *prompt.Sealed) error {
	return s.alone(ctx, func(ctx context.Context) error {
		compiled, err := s.compile(ctx, compiling{options: o, settings: settings, at: Head, with: func(tx store.Tx, info turn.SessionInfo, r *prompt.Request) error {
			if err := s.atRest(ctx, tx); err != nil {
				return err
			}
			return uncompressed(tx, info, r)
		}})
		switch {
		case errors.Is(err, budget.ErrOverBudget):
			return nil
		case err != nil, compiled.Opened == nil:
			return err
		}
		return s.swap(ctx, compiled, s.inPassing, nil)
	})
}

// uncompressed lets nothing leave the prompt.
func uncompressed(_ store.Tx, _ turn.SessionInfo, r *prompt.Request) error {
	r.Compression.Off = true
	return nil
}

// compressionFailed returns the error, and stores the event that says so where it is not the caller's.
func (s *Session) compressionFailed(ctx context.Context, err error) error {
	kind := event.CompressionError
	var bad *invalid.Field
	switch {
	case errors.Is(err, ErrNothingToCompress):
		kind = event.CompressionSkipped
	case ctx.Err() != nil, errors.As(err, &bad), errors.Is(err, ErrCompressionOff), errors.Is(err, ErrBusy), errors.Is(err, turn.ErrLeaseLost), errors.Is(err, turn.ErrNotFound), errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrReadOnly):
		return err
	}
	return errors.Join(err, s.update(ctx, func(tx store.Tx, _ turn.SessionInfo) error {
		return s.announce(ctx, tx, kind, fmt.Sprintf(`{"reason":%s}`, quoted(shown(err))))
	}))
}

// Checkpoints returns the checkpoints that stand in the session's prompt, oldest first. Those that are damaged
// are left out: the next prompt makes them again.
func (s *Session) Checkpoints(ctx context.Context) (list []compress.Checkpoint, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		row, err := tx.Prompt().LastEpoch(ctx, s.key.Tenant, info.Lineage(info.Head))
		if errors.Is(err, prompt.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		epoch, err := prompt.DecodeEpoch(row)
		if err != nil {
			return damaged(err)
		}
		list, err = prompt.Standing(ctx, tx.Compress(), info, epoch)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("checkpoints of %s: %w", s.key.Session, err)
	}
	return list, nil
}

// CheckpointVersions returns all versions of the checkpoint of that number, oldest first: how it aged.
// Those that were emptied are [compress.Checkpoint.Gone]. [compress.ErrNotFound] where there is none,
// [compress.ErrEmptied] where all were emptied, [store.ErrCorrupt] where one is not what was stored.
func (s *Session) CheckpointVersions(ctx context.Context, number int64) (list []compress.Checkpoint, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		rows, err := tx.Compress().Checkpoints(ctx, s.key.Tenant, info.Lineage(info.Head), number-1, 1)
		if err != nil {
			return err
		}
		epoch, err := s.epochAt(ctx, tx, info, Head)
		if err != nil {
			return damaged(err)
		}
		told := false
		for _, r := range rows {
			if r.Number != number {
				continue
			}
			if r.Doc == "" {
				list = append(list, compress.Checkpoint{Number: r.Number, Version: r.Version})
				continue
			}
			told = true
			c, err := compress.DecodeCheckpoint(r.Doc)
			if err != nil {
				return fmt.Errorf("version %d: %w", r.Version, damaged(err))
			}
			// What stands in the prompt is known by its hash.
			if slices.ContainsFunc(epoch.Checkpoints, func(ref prompt.Ref) bool {
				return ref.Number == r.Number && ref.Version == r.Version && ref != prompt.RefOf(&c)
			}) {
				return fmt.Errorf("version %d: %w: it is not what was stored", r.Version, store.ErrCorrupt)
			}
			list = append(list, c)
		}
		if len(list) == 0 {
			return compress.ErrNotFound
		}
		if !told {
			return compress.ErrEmptied
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("checkpoint %d of %s: %w", number, s.key.Session, err)
	}
	return list, nil
}

// damaged says of a row that cannot be read that the store is: nobody gave it as input.
func damaged(err error) error {
	var field *invalid.Field
	if !errors.As(err, &field) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
}
