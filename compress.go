package turnstone

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
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
		if !errors.Is(err, prompt.ErrStale) {
			break
		}
	}
	return prompt.Pass{}, fmt.Errorf("compress %s: %w", s.key.Session, s.compressionFailed(ctx, err))
}

func (s *Session) compressNow(ctx context.Context, o PromptOptions, settings *prompt.Sealed) (prompt.Pass, error) {
	var draft *prompt.Draft
	m := s.engine.shared.manager
	if m.Modelled() && s.engine.config.Compression.Strategy != budget.Truncate {
		if err := s.openFirst(ctx, o, settings); err != nil {
			return prompt.Pass{}, err
		}
		plan, err := s.plan(ctx, o, settings, true)
		if err != nil {
			return prompt.Pass{}, err
		}
		if plan != nil {
			outcome, err := m.Run(ctx, plan.Job, plan.Breaker)
			if err != nil {
				return prompt.Pass{}, err
			}
			draft = (&prompt.Planned{Epoch: plan.Epoch, From: plan.From, Job: plan.Job, Pins: plan.Pins}).Draft(outcome)
		}
	}
	compiled, err := s.compile(ctx, compiling{options: o, settings: settings, at: Head, with: func(_ store.Tx, _ turn.SessionInfo, r *prompt.Request) error {
		r.Force, r.Wait = true, false
		r.Draft = func(int64) *prompt.Draft { return draft }
		return nil
	}})
	if err != nil {
		return prompt.Pass{}, err
	}
	if len(compiled.Passes) == 0 {
		return prompt.Pass{}, ErrNothingToCompress
	}
	last := compiled.Passes[len(compiled.Passes)-1]
	if err := s.swap(ctx, compiled, nil); err != nil {
		return prompt.Pass{}, err
	}
	if last.Mended {
		return prompt.Pass{}, ErrNothingToCompress
	}
	return last, nil
}

// openFirst opens the epoch that another beginning of the prompt, a pin or the session's first prompt asks for, so
// that a pass can be planned for it. Where what is shown does not fit, the pass has to do that at once.
func (s *Session) openFirst(ctx context.Context, o PromptOptions, settings *prompt.Sealed) error {
	compiled, err := s.compile(ctx, compiling{options: o, settings: settings, at: Head, with: uncompressed})
	switch {
	case errors.Is(err, budget.ErrOverBudget):
		return nil
	case err != nil, compiled.Opened == nil:
		return err
	}
	return s.swap(ctx, compiled, nil)
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
	case ctx.Err() != nil, errors.As(err, &bad), errors.Is(err, ErrCompressionOff), errors.Is(err, turn.ErrNotFound), errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrReadOnly):
		return err
	}
	return errors.Join(err, s.update(ctx, func(tx store.Tx, _ turn.SessionInfo) error {
		return s.announce(ctx, tx, kind, fmt.Sprintf(`{"reason":%s}`, quoted(err.Error())))
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
			return err
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
// [compress.ErrNotFound] where there is none.
func (s *Session) CheckpointVersions(ctx context.Context, number int64) (list []compress.Checkpoint, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		rows, err := tx.Compress().Checkpoints(ctx, s.key.Tenant, info.Lineage(info.Head), number-1, 1)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.Number != number {
				continue
			}
			c, err := compress.DecodeCheckpoint(r.Doc)
			if err != nil {
				return fmt.Errorf("version %d: %w", r.Version, err)
			}
			list = append(list, c)
		}
		if len(list) == 0 {
			return compress.ErrNotFound
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("checkpoint %d of %s: %w", number, s.key.Session, err)
	}
	return list, nil
}
