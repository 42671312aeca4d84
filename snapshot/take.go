package snapshot

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/span"
)

// Take keeps a snapshot of the session that the segment belongs to. A *[FieldError] for what is none, ErrExists
// if the tenant has one of that id.
func Take(ctx context.Context, rows Rows, tenant string, segment int64, s Snapshot) error {
	if err := s.Check(); err != nil {
		return err
	}
	if err := rows.InsertSnapshot(ctx, tenant, segment, s.Row()); err != nil {
		return fmt.Errorf("snapshot %s: %w", s.ID, err)
	}
	return nil
}

// Find returns the snapshot along the spans that has the id or, where it is no id, the newest of that name. ErrNotFound
// where there is none.
func Find(ctx context.Context, rows Rows, tenant string, spans []span.Span, idOrName string) (Snapshot, error) {
	if ids.Valid(idOrName) {
		row, err := rows.Snapshot(ctx, tenant, spans, idOrName)
		if err != nil {
			return Snapshot{}, fmt.Errorf("snapshot %s: %w", idOrName, err)
		}
		return Decode(row)
	}
	if idOrName == "" {
		return Snapshot{}, fmt.Errorf("snapshot without a name: %w", ErrNotFound)
	}
	return First(ctx, rows, tenant, spans, func(s *Snapshot) bool { return s.Name == idOrName })
}

// pageSize is how many rows a search reads at once.
const pageSize = 100

// First returns the newest snapshot along the spans that is wanted, ErrNotFound where there is none. A damaged one is
// passed over: it keeps nobody from the others.
func First(ctx context.Context, rows Rows, tenant string, spans []span.Span, wanted func(*Snapshot) bool) (Snapshot, error) {
	for before := ""; ; {
		page, err := rows.Snapshots(ctx, tenant, spans, before, pageSize)
		if err != nil {
			return Snapshot{}, fmt.Errorf("snapshots: %w", err)
		}
		for _, row := range page {
			if s, err := Decode(row); err == nil && wanted(&s) {
				return s, nil
			}
			before = row.ID
		}
		if len(page) < pageSize {
			return Snapshot{}, ErrNotFound
		}
	}
}

// List returns up to limit snapshots along the spans with an id smaller than before (all, if it is empty), the newest
// first. Damaged ones are left out and named by the error, with which the others come too.
func List(ctx context.Context, rows Rows, tenant string, spans []span.Span, before string, limit int) ([]Snapshot, error) {
	page, err := rows.Snapshots(ctx, tenant, spans, before, limit)
	if err != nil {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	list := make([]Snapshot, 0, len(page))
	var damaged []error
	for _, row := range page {
		s, err := Decode(row)
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		list = append(list, s)
	}
	return list, errors.Join(damaged...)
}

// Delete removes a snapshot of the segment's own, damaged or not. ErrNotFound where it has none of that id.
func Delete(ctx context.Context, rows Rows, tenant string, segment int64, id string) error {
	if err := rows.DeleteSnapshot(ctx, tenant, segment, id); err != nil {
		return fmt.Errorf("snapshot %s: %w", id, err)
	}
	return nil
}
