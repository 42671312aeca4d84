package commit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
)

// finalize is phase 6: the trace is closed and the exchange has its final state. What the trace holds
// by now is stored with the note of its publication.
func (p *Pipeline) finalize(ctx context.Context, r *run, w *writing) Result {
	res := Result{
		ExportID: r.exchange.ExportID, TurnID: r.openedBy, Reply: r.situation.Reply, Problems: r.problems,
		Turns: w.place.turns, Reopened: w.place.reopened, Changed: w.place.changed(), Refused: w.place.refused, Status: w.status,
		Episodes: r.selected.Kept, Dropped: r.selected.Dropped, DroppedMore: r.selected.Rest,
	}
	r.trace.Begin(string(PhaseFinalize))
	for _, refused := range w.place.refused {
		r.trace.Note(trace.Inconsistency, refused.What+": "+refused.Reason)
	}
	for _, d := range w.deferred {
		res.Deferred = append(res.Deferred, Target(d.Target))
		r.trace.Note(trace.Failure, d.Target+" was put off: "+d.Error)
	}
	r.trace.End(nil)
	end := r.trace.Take(r.exchange.ExportID, string(w.status))
	p.tails.put(r.exchange.ExportID, &tail{tenant: r.key.Tenant, segment: w.place.info.Segment, begun: r.begun, trace: end, at: p.config.Clock()})
	p.traced(ctx, r, end)
	p.enter(r, w.status)
	return res
}

// traced hands the trace of an exchange on.
func (p *Pipeline) traced(ctx context.Context, r *run, end trace.TurnTrace) {
	if p.config.Traced != nil {
		r.call("tracer", func() { p.config.Traced(ctx, trace.Join(r.begun, end)) })
	}
}

// tail is the end of a trace, from the persist phase on, and what came before it, which the export has too.
type tail struct {
	tenant  string
	segment int64
	begun   trace.TurnTrace
	trace   trace.TurnTrace
	// at is since when it waits, flushed is set while somebody stores it without a note. Both are guarded as the tails are.
	at      time.Time
	flushed bool
}

// tails are the ends of traces that wait to be stored. A crash loses at most them.
type tails struct {
	mu      sync.Mutex // guards what is below
	waiting map[string]*tail
}

// maxTails bounds how many wait: where nothing is published, newer ones are not kept.
const maxTails = 8192

func (t *tails) put(exportID string, end *tail) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == nil {
		t.waiting = make(map[string]*tail)
	}
	if len(t.waiting) < maxTails {
		t.waiting[exportID] = end
	}
}

// of returns the end of an export's trace, nil where none waits.
func (t *tails) of(exportID string) *tail {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting[exportID]
}

// noted returns the end of an export's trace for a note of its publication, nil where none waits or somebody stores it already.
// It waits anew then, so that it is not stored meanwhile.
func (t *tails) noted(exportID string, now time.Time) *tail {
	t.mu.Lock()
	defer t.mu.Unlock()
	end := t.waiting[exportID]
	if end == nil || end.flushed {
		return nil
	}
	end.at = now
	return end
}

func (t *tails) done(exportIDs ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range exportIDs {
		delete(t.waiting, id)
	}
}

// forget drops the ends of traces of a segment.
func (t *tails) forget(tenant string, segment int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, end := range t.waiting {
		if end.tenant == tenant && end.segment == segment {
			delete(t.waiting, id)
		}
	}
}

// flush returns the exports whose ends of traces are due, by the time since which they wait, for who stores them alone.
func (t *tails) flush(due func(at time.Time) bool) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []string
	for id, end := range t.waiting {
		if !end.flushed && due(end.at) {
			end.flushed = true
			ids = append(ids, id)
		}
	}
	return ids
}

// unflushed has ends of traces wait again that could not be stored.
func (t *tails) unflushed(exportIDs []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range exportIDs {
		if end := t.waiting[id]; end != nil {
			end.flushed = false
		}
	}
}

// Note stores the traces of exports, as far as they wait to be stored, and in them that the exports were
// published. It is the note of a publication: see store.Publication.
func (p *Pipeline) Note(ctx context.Context, tx store.Tx, exports []event.Export) error {
	stored := make([]string, 0, len(exports))
	tails := make([]*tail, len(exports))
	now := p.config.Clock()
	for i, e := range exports {
		if tails[i] = p.tails.noted(e.ID, now); tails[i] != nil {
			stored = append(stored, e.ID)
		}
	}
	bodies, err := storedBodies(ctx, tx, exports, tails)
	if err != nil {
		return err
	}
	parts := make([]trace.OfTenant, len(exports))
	for i, e := range exports {
		parts[i] = trace.OfTenant{Tenant: e.Tenant, Part: trace.Part{
			TurnID: e.TurnID, Segment: e.Segment, ID: p.config.NewPartID(), At: tx.Now(), Body: published(e, bodies[i], tails[i], now, tx.Now()),
		}}
	}
	if err := trace.Insert(ctx, tx.Trace(), parts); err != nil {
		return err
	}
	// Of those alone: an exchange that was published before it was finalized puts its end there now.
	tx.AfterCommit(func() { p.tails.done(stored...) })
	return nil
}

// storedBodies reads the bodies of exports, from the first on whose trace does not wait here, by their numbers and at once: another
// process committed it, or this one before it was started anew.
func storedBodies(ctx context.Context, tx store.Tx, exports []event.Export, tails []*tail) ([]string, error) {
	bodies := make([]string, len(exports))
	first := slices.Index(tails, nil)
	if first < 0 {
		return bodies, nil
	}
	list, err := tx.Outbox().Published(ctx, exports[first].Sent-1, len(exports)-first)
	if err != nil {
		return nil, fmt.Errorf("exports from number %d: %w", exports[first].Sent, err)
	}
	for i := range exports {
		// Both are in the order of their numbers.
		for len(list) > 0 && list[0].Sent < exports[i].Sent {
			list = list[1:]
		}
		if len(list) > 0 && list[0].Sent == exports[i].Sent {
			bodies[i] = list[0].Body
		}
	}
	return bodies, nil
}

// published is the trace of an export up to its publication: all of it where the exchange was committed
// here, by the clock that it was recorded with, and after what the stored export says where it was not, by that of the store.
func published(e event.Export, body string, end *tail, here, stored time.Time) string {
	text := "published as number " + strconv.FormatInt(e.Sent, 10)
	now := stored
	t := trace.TurnTrace{TurnID: e.TurnID, Session: e.Session, ExportID: e.ID, Started: now}
	if end != nil {
		now = here
		// Both are of one recorder: nothing has to be put in order.
		t = end.trace
		t.Spans, t.Entries = slices.Concat(end.begun.Spans, end.trace.Spans), slices.Concat(end.begun.Entries, end.trace.Entries)
	} else if begun, err := begunBody(body); err == nil {
		if body, ok := trace.Continue(begun, now, trace.Published, text); ok {
			return body
		}
	}
	t.Entries = append(t.Entries, trace.Entry{At: now.Sub(t.Started), Kind: trace.Published, Text: text})
	return record.String(t.AppendJSON)
}

func (p *Pipeline) storeTail(ctx context.Context, tx store.Tx, tenant string, segment int64, t trace.TurnTrace) error {
	return tx.Trace().InsertParts(ctx, tenant, trace.Part{
		TurnID: t.TurnID, Segment: segment, ID: p.config.NewPartID(), At: tx.Now(), Body: record.String(t.AppendJSON),
	})
}

// patience is how long the end of a trace waits to be stored with the note of its publication: another
// process may have published the export, or nobody.
const patience = 10 * time.Second

// flushOldTails stores what has waited too long. What fails still waits.
func (p *Pipeline) flushOldTails(ctx context.Context) {
	long := p.config.Clock().Add(-patience)
	p.flushTails(ctx, p.tails.flush(func(at time.Time) bool { return at.Before(long) }))
}

// flushTails stores ends of traces that are flushed.
func (p *Pipeline) flushTails(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	err := p.store.Update(ctx, func(tx store.Tx) error {
		for _, id := range ids {
			end := p.tails.of(id)
			if end == nil {
				continue // it was forgotten
			}
			if err := p.storeTail(ctx, tx, end.tenant, end.segment, end.trace); err != nil {
				return err
			}
		}
		tx.AfterCommit(func() { p.tails.done(ids...) })
		return nil
	})
	if err != nil {
		p.tails.unflushed(ids)
		return fmt.Errorf("ends of %d traces: %w", len(ids), err)
	}
	return nil
}
