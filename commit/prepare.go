package commit

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
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
			part.foresee(p, r.base, r.head())
		case *memoryPart:
			part.owner = ownerOf(r.base.info)
			part.rows = memory.RowsOf(part.items, part.owner)
		case *cortexPart:
			part.update = describeIntentions(&part.staged)
		case *scratchPart:
			part.update = describeNotes(&part.staged)
		}
	}
	r.sums = r.exchange.sums()
	r.foretell(parts)
	return parts
}

// foretold is what the outbox row will say if everything is written and nobody else changes the session.
type foretold struct {
	turns []int64 // where they will stand
	// intentions and page are the goals and notes that it tells of.
	intentions *cortex.State
	page       *scratch.Page
	body       string
}

// foretell makes the outbox row's body as it will be unless a target is put off or something has changed
// until then.
func (r *run) foretell(parts []part) {
	var w writing
	w.place.next.intentions, w.place.next.page = r.base.intentions, r.base.page
	var turns []int64
	for _, part := range parts {
		if part.empty() {
			continue
		}
		switch part := part.(type) {
		case *historyPart:
			turns = make([]int64, len(part.sealed))
			for i := range turns {
				turns[i] = r.head() + int64(i) + 1
			}
		case *cortexPart:
			part.written(&w.place, &part.staged, &part.update)
		case *scratchPart:
			part.written(&w.place, &part.staged, &part.update)
		}
	}
	w.status = r.status(&w)
	next := &w.place.next
	r.foretold = foretold{turns: turns, intentions: next.intentions, page: next.page, body: r.outbox(&w, turns)}
}

// body is that of the outbox row: what was foretold, if it came so.
func (r *run) body(w *writing) string {
	f, at := &r.foretold, &w.place
	stand := len(w.deferred) == 0 && slices.EqualFunc(f.turns, at.turns[:len(f.turns)], func(seq int64, t turn.Turn) bool { return seq == t.Seq })
	if stand && at.next.intentions == f.intentions && at.next.page == f.page {
		return f.body
	}
	appended := make([]int64, len(at.turns))
	for i := range at.turns {
		appended[i] = at.turns[i].Seq
	}
	return r.outbox(w, appended)
}

// head is the session's last turn as far as it is known: an exchange that was opened before stands in the log up to there.
func (r *run) head() int64 { return r.situation.Session.Head }

// foresee makes the summary's turn and the digest. What cannot be made is met again in the update.
func (h *historyPart) foresee(p *Pipeline, base *standing, head int64) {
	if keyed(h.drafts) {
		return
	}
	covers := h.covers(head)
	if covers.From <= base.digest.ThroughSeq {
		return // what was told of it before may be there, which only the log says
	}
	summary, err := h.sealSummary(covers)
	if err != nil || len(summary) == 0 {
		return
	}
	digest := p.config.Manager.Fold(base.digest, covers.To, h.summary, h.cite(func(i int) (int64, string) {
		return head + int64(i) + 1, h.drafts[i].ID
	}))
	f := &foreseen{base: base, covers: covers, summary: summary, digest: digest}
	f.row = f.digest.Row(time.Time{})
	h.foreseen = f
}

// keyed reports whether a turn may be in the log already, under its idempotency key.
func keyed(drafts []turn.Draft) bool {
	return slices.ContainsFunc(drafts, func(d turn.Draft) bool { return d.IdempotencyKey != "" })
}

// covers is what the summary covers where the exchange is appended after head.
func (h *historyPart) covers(head int64) turn.Range {
	return turn.Range{From: cmp.Or(h.opened, head+1), To: head + int64(len(h.sealed))}
}

// digestAfter returns the digest with the exchange in it, of which the turns of the place were written now: the last is the summary.
func (h *historyPart) digestAfter(ctx context.Context, p *Pipeline, at *place) (memory.Digest, memory.DigestRow, error) {
	turns, before := at.turns, at.before.digest
	covers := turns[len(turns)-1].Covers
	if f := h.foreseen; f != nil && f.base == at.before && f.covers == covers {
		row := f.row
		row.At = at.now
		return f.digest, row, nil
	}
	// Others may have ended since it was opened: theirs stay.
	if covers.From <= before.ThroughSeq {
		tried, err := tries(ctx, at.tx, at.info, covers.From)
		if err != nil {
			return before, memory.DigestRow{}, err
		}
		before = before.Without(tried...)
	}
	next := p.config.Manager.Fold(before, covers.To, h.summary, h.cite(func(i int) (int64, string) { return turns[i].Seq, turns[i].ID }))
	return next, next.Row(at.now), nil
}

func ownerOf(info turn.SessionInfo) memory.Owner {
	return memory.Owner{Tenant: info.Tenant, Segment: info.Segment, Session: info.Session, User: info.User}
}
