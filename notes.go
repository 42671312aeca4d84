package turnstone

import (
	"context"

	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Notes returns the session's scratch page.
func (s *Session) Notes(ctx context.Context) (page *scratch.Page, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		page, err = scratch.Load(ctx, tx.Scratch(), s.key.Tenant, info.Segment, tx.Now())
		return err
	})
	return page, err
}

// KeptNotes returns the session's scratch page with what is archived, for the seven days that it is kept: [scratch.Page.Kept] lists it.
func (s *Session) KeptNotes(ctx context.Context) (page *scratch.Page, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		page, err = scratch.LoadKept(ctx, tx.Scratch(), s.key.Tenant, info.Segment, tx.Now())
		return err
	})
	return page, err
}

// Note changes the scratch page, all or nothing. A *[RefusedError] says what is not legal.
func (s *Session) Note(ctx context.Context, changes scratch.Changes) (staged scratch.Staged, err error) {
	err = s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		page, err := scratch.Load(ctx, tx.Scratch(), s.key.Tenant, info.Segment, tx.Now())
		if err != nil {
			return err
		}
		if page, err = page.Including(ctx, tx.Scratch(), s.key.Tenant, info.Segment, changes, tx.Now()); err != nil {
			return err
		}
		staged = page.Stage(changes, tx.Now(), s.engine.newID)
		if len(staged.Refused) > 0 {
			var refusals []refusal
			for _, r := range staged.Refused {
				refusals = append(refusals, refusal{"observation", r.ID, r.Place, r.Field, r.Reason})
			}
			return refused(refusals, len(changes.Put)+len(changes.Archive)+len(changes.Clear))
		}
		s.engine.shared.pipeline.Changed(s.key)
		return scratch.Write(ctx, tx.Scratch(), s.key.Tenant, info.Segment, staged)
	})
	if err != nil {
		return scratch.Staged{}, err
	}
	return staged, nil
}
