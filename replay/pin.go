package replay

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/prompt"
)

func appendPin(dst []byte, r *prompt.PinRow) []byte {
	dst = appendNumber(append(dst, `{"pin":{"number":`...), r.Number)
	dst = appendNumber(append(dst, `,"after_seq":`...), r.AfterSeq)
	dst = appendNumber(append(dst, `,"seq":`...), r.Seq)
	dst = strconv.AppendBool(append(dst, `,"pinned":`...), r.Pinned)
	return append(strictjson.AppendTime(append(dst, `,"at":`...), r.At), '}')
}

func decodePin(value string) (*prompt.PinRow, error) {
	r := prompt.PinRow{AfterSeq: -1}
	var pinned *bool
	said := valueMember("pinned", &pinned, func(v strictjson.Raw) (*bool, error) {
		b, err := v.Bool()
		return &b, err
	})
	err := decodeMembers(value, intMember("number", &r.Number), intMember("after_seq", &r.AfterSeq), intMember("seq", &r.Seq), said, timeMember("at", &r.At))
	switch {
	case err != nil:
		return nil, err
	case pinned == nil:
		return nil, missing("pinned")
	}
	r.Pinned = *pinned
	return &r, nil
}

// nextPin checks the next pin: its number, its place, and that a prompt can show its turn.
func (c *checker) nextPin(r *prompt.PinRow) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("pin %d: %w", r.Number, fmt.Errorf(format, args...))
	}
	_, summary := c.summaries[r.Seq]
	switch {
	case r.Number != c.pin.Number+1:
		return wrong("number: stands where pin %d must", c.pin.Number+1)
	case r.AfterSeq < c.pin.AfterSeq || r.AfterSeq > c.head:
		return wrong("after_seq: %d is not from %d to %d", r.AfterSeq, c.pin.AfterSeq, c.head)
	case r.Seq < 1 || r.Seq > r.AfterSeq:
		return wrong("seq: %d is no turn of %d", r.Seq, r.AfterSeq)
	case summary:
		return wrong("seq: %d is a summary, which no prompt shows", r.Seq)
	case r.At.IsZero():
		return wrong("%w", missing("at"))
	}
	c.pin = *r
	at, there := slices.BinarySearch(c.pinned, r.Seq)
	switch {
	case r.Pinned && !there && len(c.pinned) == prompt.MaxPins:
		return wrong("pinned: %d turns are, which is the most", prompt.MaxPins)
	case r.Pinned && !there:
		c.pinned = slices.Insert(c.pinned, at, r.Seq)
	case !r.Pinned && there:
		c.pinned = slices.Delete(c.pinned, at, at+1)
	}
	return nil
}

func (e *export) pins(ctx context.Context) error {
	rows, err := e.tx.Prompt().Pins(ctx, e.info.Tenant, e.info.Lineage(e.info.Head))
	if err != nil {
		return fmt.Errorf("pins: %w", err)
	}
	for i := range rows {
		if err := e.enc.Encode(Record{Pin: &rows[i]}); err != nil {
			return err
		}
	}
	return nil
}

func (i *imported) pin(ctx context.Context, r *prompt.PinRow) error {
	if err := i.tx.Prompt().InsertPin(ctx, i.session.Tenant, i.session.Segment, *r); err != nil {
		return fmt.Errorf("pin %d: %w", r.Number, err)
	}
	return nil
}
