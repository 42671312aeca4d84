package commit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// again are the delays after which a whole update is tried again that was lost through no fault of
// the exchange.
var again = []time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond}

// writing is what one run of the update wrote.
type writing struct {
	place    place
	status   State
	deferred []event.Deferral
	repeated *earlier // the exchange as it was committed before
	export   event.Export
}

// persist is phase 4: it writes everything in one update.
func (p *Pipeline) persist(ctx context.Context, r *run) (*writing, error) {
	r.begun = r.trace.Take(r.exchange.ExportID, "")
	parts := r.prepare(p)
	var lost error // why the update was lost the last time
	for try := 0; ; try++ {
		var w *writing
		began := time.Now()
		refused := false // before anything was written
		err := p.store.Update(ctx, func(tx store.Tx) (err error) {
			w, err = p.write(ctx, tx, r, parts)
			refused = w == nil
			return err
		})
		if err == nil {
			return w, nil
		}
		if errors.Is(err, store.ErrUnknown) {
			r.mayExist = true
			if w != nil { // it may be another's update that failed, beside this one
				r.unheard = w
			}
		}
		if errors.Is(err, dialogue.ErrNotKept) && !errors.Is(err, store.ErrUnknown) && !r.unkept {
			// It must not cost the exchange anything, nor a try.
			r.unkept = true
			try--
			r.trace.Note(trace.Failure, storable(err))
			continue
		}
		if errors.Is(err, event.ErrExists) && !r.mayExist {
			r.mayExist = true // the next try says whose it is
			try--
			continue
		}
		if errors.Is(err, turn.ErrConflict) && !refused {
			return nil, p.whyConflict(ctx, r, err)
		}
		if lost != nil && errors.Is(err, context.DeadlineExceeded) {
			// That there is no time left says nothing about why.
			return nil, lost
		}
		waited := errors.Is(err, store.ErrLocked) && time.Since(began) > longWait
		if try == len(again) || !passing(err) || waited {
			return nil, err
		}
		lost = err
		r.trace.Note(trace.Retry, "update: "+err.Error())
		if !pause.For(ctx, again[try]) {
			return nil, err
		}
	}
}

// longWait is how long a store waits for a lock that somebody holds, and does not just pass on: to wait as long once more
// helps nobody.
const longWait = time.Second

// storable is the text of an error as every store can keep it.
func storable(err error) string { return storableText(clip(err.Error(), maxError)) }

// storableText replaces what no store can keep.
func storableText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\x00", "�")
}

// maxError bounds, in bytes, what is kept of an error.
const maxError = 4 << 10

// passing reports whether the same update may well succeed a moment later.
func passing(err error) bool {
	return errors.Is(err, store.ErrLocked) || errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUnknown)
}

// write is the update. Like every function of an update it may run more than once, so it changes nothing
// of the run. What it has begun to write is there with an error, too.
func (p *Pipeline) write(ctx context.Context, tx store.Tx, r *run, parts []part) (*writing, error) {
	info, err := tx.Log().LockSession(ctx, r.key)
	if err != nil {
		return nil, err
	}
	w := &writing{}
	if r.mayExist {
		if w.repeated, err = p.prior(ctx, tx, r); err != nil {
			return nil, err
		}
		if w.repeated != nil && r.unheard.wrote(&w.repeated.row) {
			return r.unheard, nil
		}
		if w.repeated != nil {
			return w, nil
		}
	}
	if r.untilSeq > 0 && r.untilSeq != info.Head {
		return nil, errMoreSaid
	}
	if r.exchange.Lease != "" {
		if err := turn.CheckLease(ctx, tx.Log(), r.key, r.exchange.Lease); err != nil {
			return nil, err
		}
	}
	if r.exchange.Within != nil {
		if err := r.exchange.Within(ctx, tx); err != nil {
			return nil, err
		}
	}
	before, err := p.current(ctx, tx, info, r.base)
	if err != nil {
		return nil, err
	}
	if err := r.sameKeys(ctx, tx, info, before); err != nil {
		return nil, err
	}
	if before != r.base {
		if err := r.stillSaid(ctx, tx, info); err != nil {
			return nil, err
		}
		if err := r.stillOn(ctx, tx, info); err != nil {
			return nil, err
		}
	}
	if before != r.base || r.exchange.Again {
		if err := r.stillOpen(ctx, tx, info, before); err != nil {
			return nil, err
		}
	}
	w.place = place{tx: tx, info: info, now: tx.Now(), before: before, outcome: outcome{next: *before}}
	w.place.next.info = info
	for _, part := range parts {
		if err := p.writePart(ctx, w, r, part); err != nil {
			return w, err
		}
	}
	return w, p.seal(ctx, w, r)
}

// wrote reports whether the export is the one that was written, with the ids and the times of this run.
func (w *writing) wrote(e *event.Export) bool { return w != nil && w.export.Body == e.Body }

// stillSaid refuses an exchange of which a turn was forgotten after it was read: what was made of it would bring it back.
func (r *run) stillSaid(ctx context.Context, tx store.Tx, info turn.SessionInfo) error {
	var places []turn.Place
	for _, t := range r.situation.Turns {
		if _, gone := t.Content.(turn.Forgotten); gone || t.Seq == 0 {
			continue
		}
		for _, span := range info.Spans(t.Seq) {
			if span.From <= t.Seq && t.Seq <= span.To {
				places = append(places, turn.Place{Segment: span.Segment, Seq: t.Seq})
			}
		}
	}
	if len(places) == 0 {
		return nil
	}
	turns, err := tx.Log().TurnsAt(ctx, info.Tenant, places)
	if err != nil {
		return err
	}
	for i := range turns {
		if turns[i].Gone() {
			return fmt.Errorf("turn %d of %s: %w; commit what is left of the exchange", turns[i].Seq, info.Session, turn.ErrForgotten)
		}
	}
	return nil
}

// stillOpen refuses an exchange that another process committed, under an id of its own, after it was read. Who holds the
// lease is alone with it then, but where nobody looked it up, it may have been committed before.
func (r *run) stillOpen(ctx context.Context, tx store.Tx, info turn.SessionInfo, before *standing) error {
	opened := cmp.Or(r.exchange.Opened, r.keyedOpening())
	if opened == "" || r.exchange.Lease != "" && r.checked {
		return nil
	}
	if err := r.mayOpen(ctx, tx, info, before, opened, nil); err != nil {
		return err
	}
	others, err := takenByWaiting(ctx, tx, info, before, opened)
	if err == nil && slices.ContainsFunc(r.situation.Turns, func(t Said) bool { return t.Seq > 0 && others[t.ID] != nil }) {
		return errMoreSaid // the log does not show it
	}
	return err
}

// writePart applies a part in its savepoint, or puts it off.
func (p *Pipeline) writePart(ctx context.Context, w *writing, r *run, part part) error {
	at := &w.place
	before := at.outcome
	if part.empty() {
		return nil
	}
	// A change of belief is a function, which no queue can keep, and what is written within relies on the turns: they do not
	// even wait for their order.
	now := part.target() == History && (r.exchange.Believe != nil || r.exchange.Within != nil)
	if at.before.waiting[part.target()] && !now {
		return p.putOffPart(ctx, w, r, part, errWaits)
	}
	err := at.tx.Savepoint(ctx, func() error { return p.apply(ctx, part, at) })
	if err == nil {
		return nil
	}
	at.outcome = before
	if fatal(err) || now {
		return err
	}
	return p.putOffPart(ctx, w, r, part, err)
}

// errWaits is why a part is put off without being tried.
var errWaits = errors.New("it waits for what an earlier exchange has to write")

// putOffPart leaves a deferral for the part in the update. What could not be read again is refused now.
func (p *Pipeline) putOffPart(ctx context.Context, w *writing, r *run, part part, err error) error {
	at := &w.place
	part, refused := part.storable()
	at.refused = append(at.refused, refused...)
	if part.empty() {
		return nil
	}
	// In a savepoint of its own: where it fails as the part did, the export tells what the changes were first taken to come to.
	told := at.tx.Savepoint(ctx, func() error { return p.foretell(ctx, part, at) })
	if told != nil && fatal(told) {
		return told
	}
	at.next.wait(part.target())
	d := event.Deferral{
		Tenant: r.key.Tenant, Session: r.key.Session, ExportID: r.exchange.ExportID, Target: string(part.target()),
		Payload: string(part.payload()), Tries: 1, Error: storable(err), At: at.later(), Next: at.now.Add(p.retryAfter(1)),
	}
	if at.before.waiting[part.target()] {
		open, err := openDeferrals(ctx, at.tx, r.key)
		if err != nil {
			return err
		}
		d.At = after(open, d.Target, d.At)
	}
	w.deferred = append(w.deferred, d)
	if err := at.tx.Outbox().PutDeferral(ctx, d); err != nil {
		return fmt.Errorf("put off %s: %w", d.Target, err)
	}
	return nil
}

// later is the time or, where the last turn of the session was written since then, the next after that: see seal.
func (at *place) later() time.Time {
	if last := at.info.LastActivity; !last.Before(at.now) {
		return last.Add(time.Microsecond)
	}
	return at.now
}

// after is the given time or, where something of the target waits since then or later, the next: the order in which they are tried
// again is that of these times, and clocks go back.
func after(open []event.Deferral, target string, at time.Time) time.Time {
	for _, d := range open {
		if next := d.At.Add(time.Microsecond); d.Target == target && at.Before(next) {
			at = next
		}
	}
	return at
}

// apply applies a part. Its panic is an error: the target is put off, and the others are none the worse.
func (p *Pipeline) apply(ctx context.Context, part part, at *place) (err error) {
	defer recovered(&err)
	return part.apply(ctx, p, at)
}

// foretell is apply for what is put off.
func (p *Pipeline) foretell(ctx context.Context, part part, at *place) (err error) {
	defer recovered(&err)
	return part.foretell(ctx, p, at)
}

// recovered makes an error of a panic.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = panicked(p)
	}
}

func panicked(value any) error { return fmt.Errorf("panic: %v\n%s", value, debug.Stack()) }

// seal writes what tells of the commit: the export, which is the outbox row, with the trace so far in it, and the
// follow-up context.
func (p *Pipeline) seal(ctx context.Context, w *writing, r *run) error {
	at := &w.place
	w.status = r.status(w)
	e := event.Export{
		Tenant: r.key.Tenant, Session: r.key.Session, Segment: at.info.Segment,
		ID: r.exchange.ExportID, TurnID: r.openedBy, First: r.openedAt, Last: at.head(),
		Status: string(w.status), Body: r.body(w), At: at.now,
	}
	for _, d := range w.deferred {
		if Target(d.Target) == History {
			// Its turns are none of the log's yet, so that it is published by its time behind those that end where it does.
			e.At = d.At
		}
	}
	if e.First == 0 {
		e.First = min(at.info.Head+1, e.Last)
		if len(at.turns) > 0 {
			e.First = at.turns[0].Seq // may have been there already, under its key
		}
	}
	w.export = e
	if err := at.tx.Outbox().InsertExport(ctx, e); err != nil {
		return fmt.Errorf("export %s: %w", e.ID, err)
	}
	if err := r.followUp(ctx, at.tx); err != nil {
		return fmt.Errorf("follow-up context: %w", err)
	}
	if err := p.flag(ctx, at.tx, r.key, r.openedBy, e.ID, at.refused); err != nil {
		return fmt.Errorf("refused changes: %w", err)
	}
	turns, next := at.turns, at.next
	next.info.Head = at.head()
	known := p.standings.made(next)
	at.tx.AfterCommit(func() {
		p.standings.put(r.key, known)
		if p.config.Appended != nil {
			p.config.Appended(r.key, turns)
		}
	})
	return nil
}

// status is how the exchange ends.
func (r *run) status(w *writing) State {
	switch {
	case r.situation.Failure != "":
		return Failed
	case r.situation.Interrupted:
		return Interrupted
	case len(w.deferred) > 0 || len(w.place.refused) > 0 || len(r.problems) > 0:
		return CompleteWithErrors
	}
	return Complete
}
