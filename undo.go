package turnstone

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// ErrNothingToUndo says that no pass and no restore is in force.
var ErrNothingToUndo = errors.New("there is nothing to undo: no turns have left the prompt")

// Undone is what an undo did.
type Undone struct {
	// Pass is the pass that was undone, 0 if it was a restore.
	Pass int64
	// Turns are those that the pass had taken out of the prompt; zero where it had only made checkpoints smaller.
	Turns turn.Range
	// Epoch is the number of the epoch that it opened.
	Epoch int64
}

// Undo takes back a pass: the turns that it took out of the prompt are shown again, word for word. Pass 0 is the
// last change that holds, a pass or a restore; of an older pass the turns come back beside the checkpoint that
// stands for them. Nothing leaves the prompt by itself afterwards until the window is full. A
// *[budget.OverBudgetError] says so if what would come back does not fit, and nothing is changed.
// [ErrNothingToUndo] if nothing is in force, also where what was before was forgotten with the session.
//
// It waits for an exchange that is under way in this process, until ctx ends. [ErrBusy] where another engine is at work
// on the session, or others keep changing its prompt.
func (s *Session) Undo(ctx context.Context, pass int64, o PromptOptions) (Undone, error) {
	var done Undone
	err := s.goBack(ctx, o, func(tx store.Tx, info turn.SessionInfo) (b *prompt.Back, err error) {
		b, done, err = s.undoing(ctx, tx, info, pass)
		return b, err
	}, func(tx store.Tx, c prompt.Compiled) error {
		done.Epoch = c.Opened.Number
		return s.announce(ctx, tx, event.Undone, fmt.Sprintf(`{"pass":%d,"epoch":%d}`, done.Pass, done.Epoch))
	})
	if err != nil {
		return Undone{}, fmt.Errorf("undo in %s: %w", s.key.Session, err)
	}
	return done, nil
}

// Restore goes back to a snapshot, by its id or its name: prompts show the conversation as it was then, and what
// is appended from now on. The turns in between stay in the log. It can be undone. [snapshot.ErrNotFound] where
// there is no such snapshot, or nothing is left of it since the session was forgotten. It waits, and is refused with
// [ErrBusy], as [Session.Undo] is: an exchange under way would lose its question and keep its answer.
func (s *Session) Restore(ctx context.Context, idOrName string, o PromptOptions) (snapshot.Snapshot, error) {
	var to snapshot.Snapshot
	err := s.goBack(ctx, o, func(tx store.Tx, info turn.SessionInfo) (_ *prompt.Back, err error) {
		if to, err = snapshot.Find(ctx, tx.Snapshot(), s.key.Tenant, info.Lineage(info.Head), idOrName); err != nil {
			return nil, err
		}
		return s.restoring(ctx, tx, info, &to)
	}, func(tx store.Tx, c prompt.Compiled) error {
		return s.announce(ctx, tx, event.SnapshotRestored, fmt.Sprintf(`{"snapshot":%s,"turn":%d,"epoch":%d}`, quoted(to.ID), to.Turn, c.Opened.Number))
	})
	if err != nil {
		return snapshot.Snapshot{}, s.snapshotFailed(ctx, "restore", fmt.Errorf("restore %s in %s: %w", idOrName, s.key.Session, err))
	}
	return to, nil
}

// goBack opens an epoch that shows what an earlier one did.
func (s *Session) goBack(
	ctx context.Context, o PromptOptions,
	find func(store.Tx, turn.SessionInfo) (*prompt.Back, error), then func(store.Tx, prompt.Compiled) error,
) error {
	settings, err := s.prepare(ctx, o)
	if err != nil {
		return err
	}
	return contended(s.alone(ctx, func(ctx context.Context) error {
		compiled, err := s.compile(ctx, compiling{options: o, settings: settings, at: Head, with: func(tx store.Tx, info turn.SessionInfo, r *prompt.Request) (err error) {
			if err := s.atRest(ctx, tx); err != nil {
				return err
			}
			r.Draft, r.Wait = nil, false
			r.Back, err = find(tx, info)
			return err
		}})
		if err != nil {
			return err
		}
		return s.swap(ctx, compiled, s.inPassing, func(tx store.Tx) error {
			tx.AfterCommit(func() { s.engine.windows.forget(s.key) })
			s.engine.shared.pipeline.Changed(s.key) // what is being committed may have been left behind
			return then(tx, compiled)
		})
	}))
}

// undoing finds what an undo goes back to.
func (s *Session) undoing(ctx context.Context, tx store.Tx, info turn.SessionInfo, pass int64) (*prompt.Back, Undone, error) {
	all := &epochs{ctx, tx.Prompt(), s.key.Tenant, info.Lineage(info.Head)}
	number, err := all.number()
	if err != nil {
		return nil, Undone{}, err
	}
	current, err := all.at(number)
	if err != nil {
		return nil, Undone{}, err
	}
	if pass != 0 && number > 0 {
		return all.undoingPass(&current, pass)
	}
	for c, err := range all.changes(current, false) {
		if err != nil {
			return nil, Undone{}, err
		}
		if !c.shown {
			back, done := c.takenBack()
			return back, done, nil
		}
	}
	switch begin, err := all.anew(current); {
	case err != nil:
		return nil, Undone{}, err
	case begin > 1:
		return nil, Undone{}, forgottenError{}
	}
	return nil, Undone{}, ErrNothingToUndo
}

// forgottenError is an ErrNothingToUndo in words of its own.
type forgottenError struct{}

func (forgottenError) Error() string {
	return "there is nothing to undo: the session was forgotten, and what was before with it"
}

func (forgottenError) Unwrap() error { return ErrNothingToUndo }

// restoring finds what a restore goes back to.
func (s *Session) restoring(ctx context.Context, tx store.Tx, info turn.SessionInfo, to *snapshot.Snapshot) (*prompt.Back, error) {
	all := &epochs{ctx, tx.Prompt(), s.key.Tenant, info.Lineage(info.Head)}
	then, err := all.at(to.Epoch)
	if err != nil {
		return nil, err
	}
	number, err := all.number()
	if err != nil {
		return nil, err
	}
	current, err := all.at(number)
	if err != nil {
		return nil, err
	}
	begin, err := all.anew(current)
	if err != nil {
		return nil, err
	}
	if begins(&then) < begin {
		return nil, fmt.Errorf("%w any more: the session was forgotten since it was taken", snapshot.ErrNotFound)
	}
	then.Path, then.Before, then.Restored = snapshot.Path(then.Path, to.Turn, info.Head), number, to.Epoch
	return &prompt.Back{Epoch: then, Reason: prompt.ReasonRestore}, nil
}
