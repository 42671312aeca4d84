package commit

import (
	"cmp"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
)

// foreseen is what a historyPart will write if the session is still as it was when it was looked at. It is
// made before the update: others wait behind that.
type foreseen struct {
	base    *standing
	covers  turn.Range
	summary []turn.Sealed
	digest  memory.Digest
	row     memory.DigestRow // of the digest
}

// prepare returns the parts with what can be made of them before the update.
func (r *run) prepare(p *Pipeline) []part {
	parts := r.parts()
	for _, part := range parts {
		switch part := part.(type) {
		case *historyPart:
			part.foresee(p, r.base)
		case *memoryPart:
			part.owner = ownerOf(r.base.info)
			part.rows = part.rowsOf(part.owner)
		}
	}
	return parts
}

// foresee makes the summary's turn and the digest. What cannot be made is met again in the update.
func (h *historyPart) foresee(p *Pipeline, base *standing) {
	if h.keyed() {
		return
	}
	covers := h.covers(base.info.Head)
	summary, err := h.sealSummary(p, covers)
	if err != nil || len(summary) == 0 {
		return
	}
	digest := p.config.Manager.Fold(base.digest, covers.To, h.openedBy, h.summary)
	f := &foreseen{base: base, covers: covers, summary: summary, digest: digest}
	f.row = f.digest.Row(time.Time{})
	h.foreseen = f
}

// keyed reports whether a turn may be in the log already, under its idempotency key.
func (h *historyPart) keyed() bool {
	return slices.ContainsFunc(h.drafts, func(d turn.Draft) bool { return d.IdempotencyKey != "" })
}

// covers is what the summary covers where the exchange is appended after head.
func (h *historyPart) covers(head int64) turn.Range {
	return turn.Range{From: cmp.Or(h.opened, head+1), To: head + int64(len(h.sealed))}
}

// digestAfter returns the digest with the exchange in it, which ends with turn last.
func (h *historyPart) digestAfter(p *Pipeline, before *standing, last int64, now time.Time) (memory.Digest, memory.DigestRow) {
	if f := h.foreseen; f != nil && f.base == before && f.covers.To == last {
		row := f.row
		row.At = now
		return f.digest, row
	}
	next := p.config.Manager.Fold(before.digest, last, h.openedBy, h.summary)
	return next, next.Row(now)
}

func ownerOf(info turn.SessionInfo) memory.Owner {
	return memory.Owner{Tenant: info.Tenant, Segment: info.Segment, Session: info.Session, User: info.User}
}

func (m *memoryPart) rowsOf(owner memory.Owner) []memory.Row {
	rows := make([]memory.Row, len(m.items))
	for i := range m.items {
		rows[i] = m.items[i].Row(owner)
	}
	return rows
}
