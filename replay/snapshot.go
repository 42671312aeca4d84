package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/snapshot"
)

// maxSnapshot is how many bytes the document of a snapshot may have.
const maxSnapshot = 64 << 10

func appendSnapshot(dst []byte, r *snapshot.Row) []byte {
	dst = append(dst, `{"snapshot":{"snapshot_id":`...)
	dst = strictjson.AppendString(dst, r.ID)
	dst = appendNumber(append(dst, `,"after_seq":`...), r.AfterSeq)
	if r.Auto {
		dst = append(dst, `,"auto":true`...)
	}
	dst = strictjson.AppendTime(append(dst, `,"at":`...), r.At)
	return append(appendRaw(dst, "doc", r.Doc), '}')
}

func decodeSnapshot(value string) (*snapshot.Row, error) {
	r := snapshot.Row{AfterSeq: -1}
	err := decodeMembers(value, textMember("snapshot_id", &r.ID), intMember("after_seq", &r.AfterSeq), boolMember("auto", &r.Auto),
		timeMember("at", &r.At), rawMember("doc", &r.Doc))
	return &r, err
}

// nextSnapshot checks the next snapshot: its order, its document, and that its place is in the bundle.
func (c *checker) nextSnapshot(r *snapshot.Row) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("snapshot %.40s: %w", r.ID, fmt.Errorf(format, args...))
	}
	if r.ID <= c.snapshot {
		return wrong("snapshot_id: stands after %q", c.snapshot)
	}
	if c.snapshots++; c.snapshots > c.bounds.snapshots {
		return wrong("more than %d snapshots", c.bounds.snapshots)
	}
	// Cloned: the id is a piece of the line, which would stay with it.
	c.snapshot = strings.Clone(r.ID)
	if c.trusted {
		return nil
	}
	return c.soundSnapshot(r)
}

// soundSnapshot holds a row against its document and the session.
func (c *checker) soundSnapshot(r *snapshot.Row) error {
	wrong := func(err error) error { return fmt.Errorf("snapshot %.40s: %w", r.ID, err) }
	if r.Doc == "" {
		return wrong(missing("doc"))
	}
	if err := record.CheckText("doc", r.Doc, maxSnapshot); err != nil {
		return wrong(err)
	}
	s, err := snapshot.Decode(*r)
	switch {
	case err != nil:
		return err
	case s.Turn > c.head:
		return wrong(fmt.Errorf("after_seq: %d is no turn of %d", s.Turn, c.head))
	case s.Epoch > int64(len(c.epochs)):
		return wrong(fmt.Errorf("doc.epoch: %d is none of %d", s.Epoch, len(c.epochs)))
	}
	return nil
}

// snapshots writes the snapshots along the session's path, the oldest first. What is damaged cannot be gone back
// to, here or there, and is left out.
func (e *export) snapshots(ctx context.Context) error {
	var all []snapshot.Row
	for before, more := "", true; more; {
		page, err := e.tx.Snapshot().Snapshots(ctx, e.info.Tenant, e.info.Lineage(e.info.Head), before, pageRows)
		if err != nil {
			return fmt.Errorf("snapshots: %w", err)
		}
		if more = len(page) == pageRows; more {
			before = page[pageRows-1].ID
		}
		all = append(all, page...)
	}
	for _, row := range slices.Backward(all) {
		if err := e.enc.check.soundSnapshot(&row); err != nil {
			continue
		}
		if err := e.enc.Encode(Record{Snapshot: &row}); err != nil {
			return err
		}
	}
	return nil
}

// snapshot keeps a snapshot. A tenant knows it by its id: beside its original the session gets new ones, in the
// same order, and so does what a fork and its parent both brought.
func (i *imported) snapshot(ctx context.Context, r *snapshot.Row) error {
	row := *r
	if i.renames {
		row.ID = i.snapshotIDs.Next(row.At)
	}
	err := i.tx.Snapshot().InsertSnapshot(ctx, i.session.Tenant, i.session.Segment, row)
	if errors.Is(err, snapshot.ErrExists) {
		row.ID = i.snapshotIDs.Next(row.At)
		err = i.tx.Snapshot().InsertSnapshot(ctx, i.session.Tenant, i.session.Segment, row)
	}
	if err != nil {
		return fmt.Errorf("snapshot %s: %w", r.ID, err)
	}
	return nil
}
