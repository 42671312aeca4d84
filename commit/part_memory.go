package commit

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/memory"
)

// memoryPart is what is to be remembered.
type memoryPart struct {
	items []memory.Episode
	// selected is what the items were selected as, nil for one that was put off.
	selected *memory.Selected
	// archive is how many of the session's least important items must make room.
	archive int
	rows    []memory.Row // of the items, made before the update
	owner   memory.Owner // whose the rows are
}

var memoryPartFields = record.Fields[memoryPart]{
	record.List("items", func(m *memoryPart) *[]memory.Episode { return &m.items }, episodeCodec),
	record.Value("archive", func(m *memoryPart) *int { return &m.archive }, whole),
}

func (m *memoryPart) target() Target { return Memory }

func (m *memoryPart) empty() bool { return len(m.items) == 0 }

// foretell has nothing to do: the items stand in the export.
func (m *memoryPart) foretell(context.Context, *Pipeline, *place) error { return nil }

// storable has nothing to refuse: what is not was not selected.
func (m *memoryPart) storable() (part, []Refusal) { return m, nil }

func (m *memoryPart) payload() []byte { return memoryPartFields.Append(nil, m) }

func (m *memoryPart) apply(ctx context.Context, p *Pipeline, at *place) error {
	rows := m.rows
	if owner := ownerOf(at.info); owner != m.owner {
		rows = memory.RowsOf(m.items, owner)
	}
	added, err := at.tx.Memory().InsertItems(ctx, rows)
	if err != nil {
		return err
	}
	// The count is the verification: it is of the rows that were really put in, and searches find them from then on.
	// Only what was there before has to be looked at.
	if added != len(rows) {
		if err := m.verify(ctx, at, rows); err != nil {
			return err
		}
	}
	at.next.live += int64(added)
	at.next.room = at.next.room.with(rows, p.config.Selection.Policies)
	if m.selected != nil {
		recent, selected := at.next.recent, m.selected
		at.tx.AfterCommit(func() { recent.AddSelected(selected) })
	}
	at.next.tell(m.items)
	return m.makeRoom(ctx, p, at)
}

// verify is asked where not every item was new: those that were not must be the same ones.
func (m *memoryPart) verify(ctx context.Context, at *place, rows []memory.Row) error {
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	stored, err := at.tx.Memory().ItemsByID(ctx, at.info.Tenant, ids)
	if err != nil {
		return err
	}
	for _, row := range rows {
		i := slices.IndexFunc(stored, func(s memory.Row) bool { return s.ID == row.ID })
		if i < 0 || stored[i].Text != row.Text || stored[i].Data != row.Data {
			return fmt.Errorf("item %s is not stored as it was written", row.ID)
		}
	}
	return nil
}
