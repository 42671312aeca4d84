package doctor

import (
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/memory"
)

func (e *examination) item(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	r := memory.Row{
		Tenant: f.text("tenant"), ID: f.text("item_id"), Segment: f.int("segment"), Session: f.text("session_id"), User: f.text("user_id"),
		Type: memory.Type(f.text("type")), Importance: f.int("importance"), Created: f.time("created_at"), Expires: f.time("expires_at"),
		Text: f.text("text"), Data: f.text("data"), About: f.text("about"),
	}
	if r.Session != s.key.Session {
		e.wrong(f.table, s, "item %s names session %q", r.ID, r.Session)
	}
	if r.Importance < 0 || r.Importance > 1_000_000 {
		e.wrong(f.table, s, "item %s: importance %d is not from 0 to 1000000", r.ID, r.Importance)
		return
	}
	if _, _, err := memory.FromRow(r); err != nil {
		e.wrong(f.table, s, "%v", err)
	}
}

func (e *examination) digest(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	through := f.int("through_seq")
	if through < 0 || through > s.head {
		e.wrong(f.table, s, "tells of turns up to %d of %d", through, s.head)
	}
	switch d, err := memory.DecodeDigest(f.text("doc")); {
	case err != nil:
		e.wrong(f.table, s, "%v", err)
	case d.ThroughSeq != through:
		e.wrong(f.table, s, "tells of turns up to %d as a row, up to %d as a document", through, d.ThroughSeq)
	case slices.ContainsFunc(d.Decisions, func(d memory.Decision) bool { return d.Seq < 0 || d.Seq > s.head }):
		e.wrong(f.table, s, "has a decision of a turn that is not one of %d", s.head)
	}
}

// time reads a time; the zero one where there is none.
func (f fields) time(column string) time.Time {
	if f.value(column) == nil {
		return time.Time{}
	}
	return time.UnixMicro(f.int(column)).UTC()
}
