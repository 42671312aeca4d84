package replay

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

func appendTracePart(dst []byte, p *trace.Part) []byte {
	dst = append(dst, `{"trace_part":{"turn_id":`...)
	dst = strictjson.AppendString(dst, p.TurnID)
	dst = appendText(dst, "part_id", p.ID)
	dst = strictjson.AppendTime(append(dst, `,"at":`...), p.At)
	dst = appendRaw(dst, "body", p.Body)
	return append(dst, '}')
}

func decodeTracePart(value string) (*trace.Part, error) {
	var p trace.Part
	err := decodeMembers(value, textMember("turn_id", &p.TurnID), textMember("part_id", &p.ID), timeMember("at", &p.At), rawMember("body", &p.Body))
	return &p, err
}

// tracePart checks the next part of a trace: its order, and that the bundle has its turn.
func (c *checker) tracePart(p *trace.Part) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("trace_part %s of turn %s: %w", p.ID, p.TurnID, fmt.Errorf(format, args...))
	}
	if !c.trusted {
		switch t, err := trace.Decode(p.Body); {
		case !ids.Valid(p.ID):
			return wrong("part_id: %.40q is not a ULID", p.ID)
		case p.At.IsZero():
			return wrong("%w", missing("at"))
		case p.Body == "":
			return wrong("%w", missing("body"))
		case err != nil:
			return wrong("body: %w", err)
		case t.TurnID != p.TurnID:
			return wrong("body.turn_id: tells of turn %.40q", t.TurnID)
		}
	}
	if cmp.Or(cmp.Compare(c.part.TurnID, p.TurnID), cmp.Compare(c.part.ID, p.ID)) >= 0 {
		return wrong("stands after part %s of turn %s", c.part.ID, c.part.TurnID)
	}
	if !c.holds(p.TurnID) {
		return wrong("turn_id: the bundle has no such turn")
	}
	c.part = trace.Part{TurnID: strings.Clone(p.TurnID), ID: strings.Clone(p.ID)}
	return nil
}

// traceParts writes the traces of the session's own turns. A turn that was put off is not in the log
// yet: its trace would be one of nothing.
func (e *export) traceParts(ctx context.Context) error {
	parts, err := e.tx.Trace().PartsOf(ctx, e.info.Tenant, e.info.Segment)
	if err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	var turnID string
	logged := false
	for k := range parts {
		p := &parts[k]
		if p.TurnID != turnID {
			turnID = p.TurnID
			found, err := e.tx.Log().TurnsByID(ctx, e.info.Tenant, turnID)
			if err != nil {
				return fmt.Errorf("turn %s of a trace: %w", turnID, err)
			}
			logged = slices.ContainsFunc(found, func(s turn.Stored) bool { return s.Segment == e.info.Segment })
		}
		if !logged {
			continue
		}
		if err := e.enc.Encode(Record{TracePart: p}); err != nil {
			return err
		}
	}
	return nil
}

func (i *imported) tracePart(ctx context.Context, p *trace.Part) error {
	if p.TurnID != i.traced {
		i.traced, i.partIDs = p.TurnID, ids.New(rand.Reader)
		there, err := i.tx.Trace().Parts(ctx, i.session.Tenant, p.TurnID)
		if err != nil {
			return fmt.Errorf("traces of turn %s: %w", p.TurnID, err)
		}
		i.parts = there
	}
	part := *p
	part.Segment = i.session.Segment
	if i.renames {
		part.ID = i.partIDs.Next(p.At)
	}
	// One that is there already would stay as it is, and be missed here.
	if slices.ContainsFunc(i.parts, func(other trace.Part) bool { return other.ID == part.ID }) {
		return i.taken(fmt.Sprintf("part %s of the trace of turn %s", part.ID, p.TurnID))
	}
	if err := i.tx.Trace().InsertParts(ctx, i.session.Tenant, part); err != nil {
		return fmt.Errorf("part %s of the trace of turn %s: %w", part.ID, p.TurnID, err)
	}
	return nil
}
