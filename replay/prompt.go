package replay

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/prompt"
)

func appendPrompt(dst []byte, r *prompt.CallRow) []byte {
	dst = appendNumber(append(dst, `{"prompt":{"number":`...), r.Number)
	dst = appendNumber(append(dst, `,"end":`...), r.End)
	dst = appendNumber(append(dst, `,"epoch":`...), r.Epoch)
	dst = appendText(dst, "sha256", r.SHA256)
	dst = strictjson.AppendTime(append(dst, `,"at":`...), r.At)
	return append(appendRaw(dst, "doc", r.Doc), '}')
}

func decodePrompt(value string) (*prompt.CallRow, error) {
	r := prompt.CallRow{End: -1}
	err := decodeMembers(value, intMember("number", &r.Number), intMember("end", &r.End), intMember("epoch", &r.Epoch),
		textMember("sha256", &r.SHA256), timeMember("at", &r.At), rawMember("doc", &r.Doc))
	return &r, err
}

// prompt checks the next prompt: its number, its epoch and what else it was made from.
func (c *checker) prompt(r *prompt.CallRow) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("prompt %d: %w", r.Number, fmt.Errorf(format, args...))
	}
	switch {
	case r.Number != c.prompts+1:
		return wrong("number: stands where prompt %d must", c.prompts+1)
	case r.Epoch < 1 || r.Epoch > int64(len(c.epochs)):
		return wrong("epoch: %d is none of %d", r.Epoch, len(c.epochs))
	case r.End < c.epochs[r.Epoch-1] || r.End > c.head:
		return wrong("end: %d is not from %d to %d", r.End, c.epochs[r.Epoch-1], c.head)
	case r.At.IsZero():
		return wrong("%w", missing("at"))
	}
	c.prompts = r.Number
	if c.trusted {
		return nil
	}
	if sum, err := hex.DecodeString(r.SHA256); err != nil || hex.EncodeToString(sum) != r.SHA256 || len(sum) != 32 {
		return wrong("sha256: %.80q is not a sum", r.SHA256)
	}
	if r.Doc == "" {
		return wrong("%w", missing("doc"))
	}
	call, err := prompt.DecodeCall(*r)
	if err != nil {
		return err
	}
	if _, there := c.settings[call.Settings]; !there {
		return wrong("doc.settings: no settings %.64q stand before it", call.Settings)
	}
	return nil
}

// prompts writes the prompts along the session's path, numbered anew: of those that were compiled at its
// fork point a fork has the last one only, and a number may stand twice.
func (e *export) prompts(ctx context.Context) error {
	spans := e.info.Lineage(e.info.Head)
	page := func(after int64, limit int) ([]prompt.CallRow, error) {
		return e.tx.Prompt().Calls(ctx, e.info.Tenant, spans, after, limit)
	}
	epochs := e.enc.check.epochs
	number := int64(0)
	for row, err := range numbered(page, func(r *prompt.CallRow) int64 { return r.Number }) {
		if err != nil {
			return fmt.Errorf("prompts: %w", err)
		}
		// It was compiled in an epoch of the parent whose number the fork gave to one of its own.
		if row.Epoch >= 1 && row.Epoch <= int64(len(epochs)) && row.End < epochs[row.Epoch-1] {
			continue
		}
		number++
		row.Number = number
		if err := e.enc.Encode(Record{Prompt: &row}); err != nil {
			return err
		}
	}
	return nil
}

func (i *imported) prompt(ctx context.Context, r *prompt.CallRow) error {
	if err := i.tx.Prompt().InsertCall(ctx, i.session.Tenant, i.session.Segment, *r); err != nil {
		return fmt.Errorf("prompt %d: %w", r.Number, err)
	}
	return nil
}
