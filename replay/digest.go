package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/memory"
)

func decodeDigest(value string) (*memory.DigestRow, error) {
	var r memory.DigestRow
	if err := decodeMembers(value, timeMember("at", &r.At), rawMember("doc", &r.Doc)); err != nil {
		return nil, err
	}
	d, err := memory.DecodeDigest(r.Doc)
	if err != nil {
		return nil, fmt.Errorf("doc: %w", err)
	}
	row := d.Row(r.At)
	return &row, nil
}

func (c *checker) onlyDigest(r *memory.DigestRow) error {
	if c.digest {
		return errors.New("digest: there is one already")
	}
	c.digest = true
	if !c.trusted {
		d, err := memory.DecodeDigest(r.Doc)
		if err != nil {
			return fmt.Errorf("digest: doc: %w", err)
		}
		if d.ThroughSeq != r.ThroughSeq {
			return fmt.Errorf("digest: doc: tells of turns up to %d, its row up to %d", d.ThroughSeq, r.ThroughSeq)
		}
	}
	switch {
	case r.ThroughSeq < 0 || r.ThroughSeq > c.head:
		return fmt.Errorf("digest: doc.through_seq: %d is no turn of %d", r.ThroughSeq, c.head)
	case r.At.IsZero():
		return fmt.Errorf("digest: %w", missing("at"))
	}
	return nil
}

// digest writes the digest that the session itself has.
func (e *export) digest(ctx context.Context) error {
	d, ok, err := e.tx.Memory().Digest(ctx, e.info.Tenant, e.info.Segment)
	if err != nil {
		return fmt.Errorf("digest: %w", err)
	}
	if !ok {
		return nil
	}
	return e.enc.Encode(Record{Digest: &d})
}

func (i *imported) digest(ctx context.Context, d *memory.DigestRow) error {
	if err := i.tx.Memory().PutDigest(ctx, i.session.Tenant, i.session.Segment, *d); err != nil {
		return fmt.Errorf("digest: %w", err)
	}
	return nil
}
