package commit

import (
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
)

// AppendJSON appends the result as those who commit are shown it, on the command line and over HTTP, with the session that
// it is of. Lists are there also where they are empty.
func (r *Result) AppendJSON(dst []byte, session string) []byte {
	return committedFields.Append(dst, &committed{session: session, more: int64(r.DroppedMore.Sum()), Result: r})
}

// committed is a result and whose it is.
type committed struct {
	session string
	more    int64 // that were dropped
	*Result
}

var (
	committedFields = record.Fields[committed]{
		record.Value("session_id", func(c *committed) *string { return &c.session }, word),
		record.Value("status", func(c *committed) *State { return &c.Status }, record.Text[State]()),
		record.Value("export_id", func(c *committed) *string { return &c.ExportID }, word),
		record.Value("turn_id", func(c *committed) *string { return &c.TurnID }, word),
		record.Value("repeated", func(c *committed) *bool { return &c.Repeated }, record.Bool()).Always(),
		record.Value("reply", func(c *committed) *string { return &c.Reply }, word),
		record.List("turns", func(c *committed) *[]turn.Turn { return &c.Turns }, record.Codec[turn.Turn]{
			Append: func(dst []byte, t turn.Turn) []byte { return t.AppendJSON(dst) },
		}).Always(),
		record.Value("reopened", func(c *committed) *bool { return &c.Reopened }, record.Bool()),
		record.List("remembered", func(c *committed) *[]memory.Episode { return &c.Episodes }, record.Codec[memory.Episode]{
			Append: func(dst []byte, e memory.Episode) []byte { return e.AppendJSON(dst) },
		}).Always(),
		record.List("dropped", func(c *committed) *[]memory.Dropped { return &c.Dropped }, record.Of(droppedFields)).Always(),
		record.Value("dropped_more", func(c *committed) *int64 { return &c.more }, record.Int()),
		record.List("changed", func(c *committed) *[]Changed { return &c.Changed }, record.Of(changedFields)).Always(),
		record.List("refused", func(c *committed) *[]Refusal { return &c.Refused }, record.Of(refusalFields)).Always(),
		record.List("deferred", func(c *committed) *[]Target { return &c.Deferred }, record.Text[Target]()).Always(),
		record.List("problems", func(c *committed) *[]string { return &c.Problems }, word).Always(),
	}

	changedFields = record.Fields[Changed]{
		record.Value("kind", func(c *Changed) *string { return &c.Kind }, word),
		record.Value("id", func(c *Changed) *string { return &c.ID }, word),
		record.Value("title", func(c *Changed) *string { return &c.Title }, word),
		record.Value("status", func(c *Changed) *string { return &c.Status }, word),
	}

	refusalFields = record.Fields[Refusal]{
		record.Value("what", func(r *Refusal) *string { return &r.What }, word),
		record.Value("reason", func(r *Refusal) *string { return &r.Reason }, word),
	}
)
