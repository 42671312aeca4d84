package cortex

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// Audit is what one change did.
type Audit struct {
	By     Actor
	TurnID string
	Why    string
	What   []Step
}

// Step is one field that a change set. From and To are shortened where they are long: the versions
// hold them whole.
type Step struct {
	// Field is the field, with the description or path of the element in a list:
	// "milestones[Add login]".
	Field string
	From  string
	To    string
}

// Entry is one version in the history of a goal or an action.
type Entry struct {
	Version  int64
	AfterSeq int64
	At       time.Time
	// Changes are those that made the version of the one before, in their order.
	Changes []Audit
	// Doc is the goal or action as it was then, JSON.
	Doc string
}

// History returns every version of a goal or an action along the spans, oldest first. Without any it
// is an [ErrNotFound].
func History(ctx context.Context, rows Rows, tenant string, spans []span.Span, kind Kind, id string) ([]Entry, error) {
	versions, err := rows.Versions(ctx, tenant, spans, kind, id)
	if err != nil {
		return nil, fmt.Errorf("versions of %s %s: %w", kind, id, err)
	}
	if len(versions) == 0 {
		return nil, fmt.Errorf("%s %s: %w", kind, id, ErrNotFound)
	}
	entries := make([]Entry, len(versions))
	for i, r := range versions {
		audits, err := auditList.Decode(strictjson.Raw(r.Change))
		if err != nil {
			return nil, fmt.Errorf("audit of %s %s version %d: %w", kind, id, r.Version, err)
		}
		entries[i] = Entry{Version: r.Version, AfterSeq: r.AfterSeq, At: r.At, Changes: audits, Doc: r.Doc}
	}
	return entries, nil
}

var stepFields = record.Fields[Step]{
	record.Value("field", func(s *Step) *string { return &s.Field }, record.Text[string]()),
	record.Value("from", func(s *Step) *string { return &s.From }, record.Text[string]()),
	record.Value("to", func(s *Step) *string { return &s.To }, record.Text[string]()),
}

var auditFields = record.Fields[Audit]{
	record.Value("by", func(a *Audit) *Actor { return &a.By }, record.Text[Actor]()),
	record.Value("turn_id", func(a *Audit) *string { return &a.TurnID }, record.Text[string]()),
	record.Value("why", func(a *Audit) *string { return &a.Why }, record.Text[string]()),
	record.List("what", func(a *Audit) *[]Step { return &a.What }, record.Of(stepFields)),
}

var auditList = record.ListOf(record.Of(auditFields))

// appendAudits appends what auditList would: see [record.AppendName].
func appendAudits(dst []byte, list []Audit) []byte {
	dst = append(dst, '[')
	for i := range list {
		a := &list[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = record.AppendText(dst, "by", a.By)
		dst = record.AppendText(dst, "turn_id", a.TurnID)
		dst = record.AppendText(dst, "why", a.Why)
		for i := range a.What {
			step := &a.What[i]
			dst = append(record.AppendElement(dst, "what", i), '{')
			dst = record.AppendText(dst, "field", step.Field)
			dst = record.AppendText(dst, "from", step.From)
			dst = record.AppendText(dst, "to", step.To)
			dst = append(dst, '}')
		}
		dst = append(record.EndList(dst, len(a.What)), '}')
	}
	return append(dst, ']')
}

// MarshalJSON returns the audit's JSON, without what is empty.
func (a Audit) MarshalJSON() ([]byte, error) { return auditFields.Append(nil, &a), nil }

// UnmarshalJSON reads an audit. Unknown and ill-typed fields are refused with a *[FieldError].
func (a *Audit) UnmarshalJSON(data []byte) (err error) {
	*a, err = auditFields.Decode(string(data))
	return err
}

// diff collects the steps of one change while it is applied.
type diff []Step

func (d *diff) note(field, from, to string) {
	if *d == nil {
		*d = make(diff, 0, 2) // few changes take more
	}
	*d = append(*d, Step{Field: field, From: excerpt(from), To: excerpt(to)})
}

// set writes a text field that changes.
func set[S ~string](d *diff, field string, at *S, to *S) {
	if to != nil && *to != *at {
		d.note(field, string(*at), string(*to))
		*at = *to
	}
}

// flag writes a field that is true or false and changes.
func flag(d *diff, field string, at *bool, to *bool) {
	if to != nil && *to != *at {
		d.note(field, fmt.Sprint(*at), fmt.Sprint(*to))
		*at = *to
	}
}

// element names an element of a list in a step.
func element(list, name string) string { return list + "[" + excerpt(name) + "]" }

// stepNames are the names that fields of steps begin with, and end with behind an element of a list.
var stepNames = []string{
	"title", "description", "priority", "parent", "next_steps", "status", "progress", "milestones", "decisions", "artifacts",
	"goal_id", "blocking", "due_at", "evidence", "type", "owner", "requires_confirmation", ".description", ".rationale", ".type",
}

// SplitField takes the field of a step apart: the names around it are the engine's, and what stands between them, with its brackets, are
// words of somebody. A field that begins with no such name, as one that was imported may, is all words.
func SplitField(field string) (before, said, after string) {
	before, rest := field, ""
	if i := strings.IndexByte(field, '['); i >= 0 {
		before, rest = field[:i], field[i:]
	}
	if !slices.Contains(stepNames, before) || strings.HasPrefix(before, ".") {
		return "", field, ""
	}
	if end := strings.LastIndexByte(rest, ']') + 1; end > 0 && slices.Contains(stepNames, rest[end:]) && rest[end] == '.' {
		rest, after = rest[:end], rest[end:]
	}
	return before, rest, after
}

// excerpt keeps the audit small beside the versions.
func excerpt(s string) string {
	const limit = 120
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
