package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

func appendIntention(dst []byte, r *cortex.Row) []byte {
	dst = append(dst, `{"intention":{"kind":`...)
	dst = strictjson.AppendString(dst, string(r.Kind))
	dst = appendNumber(append(dst, `,"after_seq":`...), r.AfterSeq)
	dst = strictjson.AppendTime(append(dst, `,"at":`...), r.At)
	dst = appendRaw(dst, "doc", r.Doc)
	dst = appendRaw(dst, "change", r.Change)
	return append(dst, '}')
}

// decodeIntention reads a version. Its id and number stand in the document.
func decodeIntention(value string) (*cortex.Row, error) {
	r := cortex.Row{AfterSeq: -1}
	err := decodeMembers(value, textMember("kind", &r.Kind), intMember("after_seq", &r.AfterSeq), timeMember("at", &r.At),
		rawMember("doc", &r.Doc), rawMember("change", &r.Change))
	if err != nil {
		return nil, err
	}
	doc, err := readIntention(r.Kind, r.Doc)
	if err != nil {
		return nil, err
	}
	r.ID, r.Version, r.Live, r.Doc = doc.ID, doc.Version, doc.Live, doc.Doc
	return &r, nil
}

// readIntention returns what a document says of itself, and the document as cortex writes it.
func readIntention(kind cortex.Kind, doc string) (r cortex.Row, err error) {
	switch kind {
	case cortex.KindGoal:
		var g cortex.Goal
		if g, err = cortex.DecodeGoal(doc); err == nil {
			r = cortex.Row{ID: g.ID, Version: g.Version, Live: g.Live(), Doc: string(g.AppendJSON(nil))}
		}
	case cortex.KindAction:
		var a cortex.PendingAction
		if a, err = cortex.DecodeAction(doc); err == nil {
			r = cortex.Row{ID: a.ID, Version: a.Version, Live: a.Live(), Doc: string(a.AppendJSON(nil))}
		}
	default:
		return r, fmt.Errorf("kind: %.40q is neither goal nor action", string(kind))
	}
	if err != nil {
		return r, fmt.Errorf("doc: %w", err)
	}
	return r, nil
}

// nextIntention checks the next version: without a gap, never at an earlier turn than the one before.
func (c *checker) nextIntention(r *cortex.Row) error {
	last := c.intention
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s %q version %d: %w", r.Kind, r.ID, r.Version, fmt.Errorf(format, args...))
	}
	if !c.trusted {
		if err := soundIntention(r); err != nil {
			return wrong("%w", err)
		}
	}
	earliest := int64(0)
	switch order := cmp.Or(cmp.Compare(last.Kind, r.Kind), cmp.Compare(last.ID, r.ID)); {
	case order > 0:
		return wrong("stands after %s %q", last.Kind, last.ID)
	case order < 0 && r.Version != 1:
		return wrong("version: it is the first that stands here, and the first is 1")
	case order == 0 && r.Version != last.Version+1:
		return wrong("version: stands where version %d must", last.Version+1)
	case order == 0:
		earliest = last.AfterSeq
	}
	switch {
	case r.AfterSeq < earliest || r.AfterSeq > c.head:
		return wrong("after_seq: %d is not from %d to %d", r.AfterSeq, earliest, c.head)
	case r.At.IsZero():
		return wrong("%w", missing("at"))
	}
	// Cloned: it is a piece of the document, which would stay with it.
	c.intention = cortex.Row{Kind: r.Kind, ID: strings.Clone(r.ID), Version: r.Version, AfterSeq: r.AfterSeq}
	return nil
}

// soundIntention holds a row against its document and its audit.
func soundIntention(r *cortex.Row) error {
	doc, err := readIntention(r.Kind, r.Doc)
	if err != nil {
		return err
	}
	if doc.ID != r.ID || doc.Version != r.Version || doc.Live != r.Live {
		return fmt.Errorf("doc: is version %d of %q, live %v", doc.Version, doc.ID, doc.Live)
	}
	if r.Change == "" {
		return missing("change")
	}
	var audit []cortex.Audit
	if err := json.Unmarshal([]byte(r.Change), &audit); err != nil {
		return fmt.Errorf("change: %w", err)
	}
	return nil
}

func (e *export) intentions(ctx context.Context) error {
	spans := e.info.Lineage(e.info.Head)
	newest, err := e.tx.Cortex().Newest(ctx, e.info.Tenant, spans, false)
	if err != nil {
		return fmt.Errorf("goals and actions: %w", err)
	}
	for _, n := range newest {
		versions, err := e.tx.Cortex().Versions(ctx, e.info.Tenant, spans, n.Kind, n.ID)
		if err != nil {
			return fmt.Errorf("versions of %s %s: %w", n.Kind, n.ID, err)
		}
		for i := range versions {
			if err := e.enc.Encode(Record{Intention: &versions[i]}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *imported) intention(ctx context.Context, r *cortex.Row) error {
	if err := i.tx.Cortex().InsertVersion(ctx, i.session.Tenant, i.session.Segment, *r); err != nil {
		return fmt.Errorf("%s %s version %d: %w", r.Kind, r.ID, r.Version, err)
	}
	return nil
}
