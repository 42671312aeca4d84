package commit

import (
	"context"

	"github.com/turnstone-dev/turnstone/scratch"
)

// scratchPart is what is to become of the scratch page.
type scratchPart struct {
	changes scratch.Changes
	base    *scratch.Page  // as it was when the exchange began to be committed
	staged  scratch.Staged // of the changes on top of base
	update  ScratchUpdate  // what the export tells of staged
	clear   []string       // another list to clear: the Reflector's must not spoil the caller's
	ids     []string       // for what the changes create
}

func (s *scratchPart) target() Target { return Scratch }

func (s *scratchPart) empty() bool {
	return len(s.changes.Put)+len(s.changes.Archive)+len(s.changes.Clear)+len(s.clear) == 0
}

func (s *scratchPart) storable() (part, []Refusal) {
	kept := *s
	changes, refused := s.changes.Storable()
	kept.changes = changes
	apart, more := scratch.Changes{Clear: s.clear}.Storable()
	kept.clear, refused = apart.Clear, append(refused, more...)
	if len(refused) > 0 {
		kept.base = nil // nobody staged what is left
		kept.ids = kept.ids[:unnamedOn(changes)]
	}
	return &kept, refusalsOn(refused)
}

func (s *scratchPart) payload() []byte {
	return appendTexts(appendTexts(s.changes.AppendJSON(nil), "clear_too", s.clear), "ids", s.ids)
}

// stage stages the changes on what is there, if that is not what they were staged on.
func (s *scratchPart) stage(ctx context.Context, p *Pipeline, at *place) (scratch.Staged, ScratchUpdate, error) {
	info := &at.info
	// What has expired since, a sweep may have archived.
	page, err := at.before.page.At(at.now).Including(ctx, at.tx.Scratch(), info.Tenant, info.Segment, s.changes, at.now)
	if err != nil || page == s.base {
		return s.staged, s.update, err
	}
	staged := page.Stage(s.changes, at.now, p.given(s.ids), s.clear)
	return staged, describeNotes(&staged), nil
}

func (s *scratchPart) foretell(ctx context.Context, p *Pipeline, at *place) (err error) {
	_, at.scratch, err = s.stage(ctx, p, at)
	return err
}

func (s *scratchPart) apply(ctx context.Context, p *Pipeline, at *place) error {
	staged, update, err := s.stage(ctx, p, at)
	if err != nil {
		return err
	}
	info := &at.info
	if err := scratch.Write(ctx, at.tx.Scratch(), info.Tenant, info.Segment, staged); err != nil {
		return err
	}
	s.written(at, &staged, &update)
	return nil
}

// written notes what was written.
func (s *scratchPart) written(at *place, staged *scratch.Staged, update *ScratchUpdate) {
	at.next.page = staged.Next
	at.scratch, at.stagedOn = *update, *staged
	at.refused = append(at.refused, refusalsOn(staged.Refused)...)
}

func refusalsOn(refused []scratch.Refusal) (list []Refusal) {
	for _, r := range refused {
		list = append(list, Refusal{What: named("observation", r.ID, string(r.Change)), Reason: r.Reason})
	}
	return list
}

func describeNotes(staged *scratch.Staged) ScratchUpdate {
	u := ScratchUpdate{Archived: staged.Archived, Cleared: staged.Cleared}
	if n := len(staged.Rows); n > 0 {
		u.Updated = make([]Update, n)
	}
	for i := range staged.Rows {
		u.Updated[i] = Update{ID: staged.Rows[i].ID, Change: staged.Rows[i].Doc}
	}
	return u
}
