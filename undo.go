package turnstone

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
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
	// Turns are those that the pass had taken out of the prompt.
	Turns turn.Range
	// Epoch is the number of the epoch that it opened.
	Epoch int64
}

// Undo takes back a pass: the turns that it took out of the prompt are shown again, word for word. Pass 0 is the
// last change that holds, a pass or a restore; of an older pass the turns come back beside the checkpoint that
// stands for them. Nothing leaves the prompt by itself afterwards until the window is full. A
// *[budget.OverBudgetError] says so if what would come back does not fit, and nothing is changed.
// [ErrNothingToUndo] if nothing is in force.
func (s *Session) Undo(ctx context.Context, pass int64, o PromptOptions) (Undone, error) {
	var done Undone
	err := s.goBack(ctx, o, func(tx store.Tx, info turn.SessionInfo) (b *prompt.Back, err error) {
		b, done, err = s.undoing(ctx, tx, info, pass)
		return b, err
	}, func(_ store.Tx, c prompt.Compiled) error {
		done.Epoch = c.Opened.Number
		return nil
	})
	if err != nil {
		return Undone{}, fmt.Errorf("undo in %s: %w", s.key.Session, err)
	}
	return done, nil
}

// Restore goes back to a snapshot, by its id or its name: prompts show the conversation as it was then, and what
// is appended from now on. The turns in between stay in the log. It can be undone. [snapshot.ErrNotFound] where
// there is no such snapshot.
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
	for range promptTries {
		var compiled prompt.Compiled
		err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) error {
			r, err := s.request(ctx, tx, info, o, settings)
			if err != nil {
				return err
			}
			r.Draft, r.Wait = nil, false
			if r.Back, err = find(tx, info); err != nil {
				return err
			}
			compiled, err = prompt.Compile(ctx, promptRows(tx), r, nil)
			return err
		})
		if err != nil {
			return err
		}
		err = s.swap(ctx, compiled, func(tx store.Tx) error { return then(tx, compiled) })
		if !errors.Is(err, prompt.ErrStale) {
			return err
		}
	}
	return err
}

// undoing finds what an undo goes back to.
func (s *Session) undoing(ctx context.Context, tx store.Tx, info turn.SessionInfo, pass int64) (*prompt.Back, Undone, error) {
	spans := info.Lineage(info.Head)
	row, err := tx.Prompt().LastEpoch(ctx, s.key.Tenant, spans)
	if errors.Is(err, prompt.ErrNotFound) {
		return nil, Undone{}, ErrNothingToUndo
	}
	if err != nil {
		return nil, Undone{}, err
	}
	current, err := prompt.DecodeEpoch(row)
	if err != nil {
		return nil, Undone{}, err
	}
	epoch := func(number int64) (prompt.Epoch, error) {
		row, err := tx.Prompt().Epoch(ctx, s.key.Tenant, spans, number)
		if err != nil {
			return prompt.Epoch{}, fmt.Errorf("epoch %d: %w", number, err)
		}
		return prompt.DecodeEpoch(row)
	}
	last := true
	for at := current; at.Before > 0 || changed(&at); {
		// What the session's first epoch did goes back to what there was before it.
		before := prompt.Epoch{Path: []turn.Range{{From: 1}}, From: 1}
		if at.Before > 0 {
			if before, err = epoch(at.Before); err != nil {
				return nil, Undone{}, err
			}
		}
		after, err := epoch(at.Before + 1)
		if err != nil {
			return nil, Undone{}, err
		}
		var done Undone
		if after.Passes > before.Passes && after.Reason != prompt.ReasonRestore {
			done = Undone{Pass: after.Passes, Turns: turn.Range{From: before.From, To: after.From - 1}}
		}
		if pass == 0 && last && after.Reason != prompt.ReasonRestore && after.From > before.From && before.From >= current.From {
			// The window became larger since, and shows all that the pass took out.
			at = before
			continue
		}
		switch {
		case last && (pass == 0 || pass > before.Passes && pass <= after.Passes):
			return &prompt.Back{Epoch: before, Reason: prompt.ReasonUndo}, done, nil
		case pass > before.Passes && pass <= after.Passes:
			done.Pass = pass
			return &prompt.Back{Epoch: current, Show: done.Turns, Reason: prompt.ReasonUndo}, done, nil
		}
		at, last = before, false
	}
	if pass == 0 {
		return nil, Undone{}, ErrNothingToUndo
	}
	return nil, Undone{}, invalid.New("pass", fmt.Sprintf("pass %d is not in force", pass), "list the checkpoints for those that are")
}

// changed reports whether an epoch does not show the whole session.
func changed(e *prompt.Epoch) bool {
	return e.From > 1 || len(e.Path) != 1 || e.Path[0] != turn.Range{From: 1}
}

// restoring finds what a restore goes back to.
func (s *Session) restoring(ctx context.Context, tx store.Tx, info turn.SessionInfo, to *snapshot.Snapshot) (*prompt.Back, error) {
	then := prompt.Epoch{Path: []turn.Range{{From: 1}}, From: 1}
	spans := info.Lineage(info.Head)
	if to.Epoch > 0 {
		row, err := tx.Prompt().Epoch(ctx, s.key.Tenant, spans, to.Epoch)
		if err != nil {
			return nil, fmt.Errorf("epoch %d: %w", to.Epoch, err)
		}
		if then, err = prompt.DecodeEpoch(row); err != nil {
			return nil, err
		}
	}
	then.Path = snapshot.Path(then.Path, to.Turn, info.Head)
	then.Before = 0
	row, err := tx.Prompt().LastEpoch(ctx, s.key.Tenant, spans)
	switch {
	case err == nil:
		then.Before = row.Number
	case !errors.Is(err, prompt.ErrNotFound):
		return nil, err
	}
	return &prompt.Back{Epoch: then, Reason: prompt.ReasonRestore}, nil
}
