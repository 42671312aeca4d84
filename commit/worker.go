package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// worker tries targets that were put off again when their time comes.
type worker struct {
	p     *Pipeline
	wakes chan time.Duration // in what time something is due
	end   context.CancelFunc
	ended chan struct{} // closed when it has
}

const (
	// lookEvery is how often the queue is looked at for what other processes, or this one before it
	// was started anew, left there.
	lookEvery = 30 * time.Second
	// dueAtOnce bounds what is tried in one round.
	dueAtOnce = 64
)

func newWorker(ctx context.Context, p *Pipeline) *worker {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	w := &worker{p: p, wakes: make(chan time.Duration, 1), end: end, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		w.run(ctx)
	}()
	return w
}

// stop returns what is closed when the worker has ended.
func (w *worker) stop() <-chan struct{} {
	w.end()
	return w.ended
}

// wake has the worker look in the given time.
func (w *worker) wake(in time.Duration) {
	select {
	case w.wakes <- in:
	default: // it will look soon, and find this too
	}
}

func (w *worker) run(ctx context.Context) {
	due := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case in := <-w.wakes:
			// Only ever sooner: commits that keep coming must not keep it from working.
			if sooner := time.Now().Add(in); sooner.Before(due) {
				due = sooner
				timer.Reset(in)
			}
			continue
		case <-timer.C:
		}
		w.p.flushOldTails(ctx)
		rest := w.p.RetryDue(ctx)
		due = time.Now().Add(rest)
		timer.Reset(rest)
	}
}

// RetryDue tries every target that was put off and whose time has come, and returns in what time to do
// so again. Nobody needs to call it: a worker does.
func (p *Pipeline) RetryDue(ctx context.Context) time.Duration {
	var due []event.Deferral
	var now time.Time
	err := p.store.View(ctx, func(tx store.Tx) (err error) {
		now = tx.Now()
		due, err = tx.Outbox().DueDeferrals(ctx, now.Add(lookEvery), dueAtOnce)
		return err
	})
	if err != nil {
		return lookEvery
	}
	rest := lookEvery
	if len(due) == dueAtOnce && !due[dueAtOnce-1].Next.After(now) {
		rest = 0 // there may be more whose time has come; the first in time come first
	}
	for _, d := range due {
		if wait := d.Next.Sub(now); wait > 0 {
			rest = min(rest, wait)
			continue
		}
		next, err := p.retry(ctx, d)
		if err != nil {
			// The store itself failed. The deferral is as it was, and so are the others.
			return time.Second
		}
		if next > 0 {
			rest = min(rest, next)
		}
	}
	return max(rest, time.Millisecond)
}

// retryAfter is the delay after the given number of tries.
func (p *Pipeline) retryAfter(tries int) time.Duration {
	if len(p.config.Retries) == 0 {
		return 0
	}
	return p.config.Retries[min(max(tries, 1), len(p.config.Retries))-1]
}

// retry tries one target again, in an update of its own. It returns in what time to look again, 0 for
// a target that is written or given up.
func (p *Pipeline) retry(ctx context.Context, d event.Deferral) (next time.Duration, err error) {
	key := turn.Key{Tenant: d.Tenant, Session: d.Session}
	err = p.store.Update(ctx, func(tx store.Tx) error {
		next = 0
		info, err := tx.Log().LockSession(ctx, key)
		if errors.Is(err, turn.ErrNotFound) {
			return tx.Outbox().DeleteDeferral(ctx, d.Tenant, d.ExportID, d.Target)
		}
		if err != nil {
			return err
		}
		// Under the session's lock, so that two workers do not both apply it.
		d, ok, err := tx.Outbox().Deferral(ctx, d.Tenant, d.ExportID, d.Target)
		if err != nil || !ok || !d.Escalated.IsZero() {
			return err
		}
		if wait := d.Next.Sub(tx.Now()); wait > 0 {
			next = wait // another worker tried it meanwhile
			return nil
		}
		open, err := openDeferrals(ctx, tx, key)
		if err != nil {
			return err
		}
		if before := firstOf(open, d.Target); before.ExportID != d.ExportID {
			// What an earlier exchange has to write comes first.
			d.Next = before.Next.Add(time.Millisecond)
			next = max(d.Next.Sub(tx.Now()), time.Millisecond)
			return tx.Outbox().PutDeferral(ctx, d)
		}
		e, err := tx.Outbox().Export(ctx, d.Tenant, d.ExportID)
		if err != nil {
			return err
		}
		p.Changed(key)
		refused, failure := p.reapply(ctx, tx, info, d)
		if failure != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if failure == nil {
			return p.settled(ctx, tx, e, d, refused)
		}
		next, err = p.putOff(ctx, tx, e, d, failure)
		return err
	})
	return next, err
}

// firstOf returns the oldest deferral of a target.
func firstOf(open []event.Deferral, target string) event.Deferral {
	for _, d := range open {
		if d.Target == target {
			return d
		}
	}
	return event.Deferral{}
}

// reapply applies the deferral's part in a savepoint. It returns what of it is not legal any more.
func (p *Pipeline) reapply(ctx context.Context, tx store.Tx, info turn.SessionInfo, d event.Deferral) ([]Refusal, error) {
	part, err := decodePart(Target(d.Target), d.Payload)
	if err != nil {
		return nil, errors.New(err.Error()) // what a newer program put off, that one can read: it is not hopeless
	}
	before := &standing{}
	if err := before.loadChanging(ctx, tx, info); err != nil {
		return nil, err
	}
	at := &place{tx: tx, info: info, now: tx.Now(), before: before, outcome: outcome{next: *before}}
	if err := tx.Savepoint(ctx, func() error { return p.apply(ctx, part, at) }); err != nil {
		return nil, err
	}
	if p.config.Appended != nil {
		tx.AfterCommit(func() { p.config.Appended(info.Key, at.turns) })
	}
	return at.refused, nil
}

// settled takes a deferral that was applied out of the queue. With the last one the exchange is
// complete, unless something else was wrong with it.
func (p *Pipeline) settled(ctx context.Context, tx store.Tx, e event.Export, d event.Deferral, refused []Refusal) error {
	if err := tx.Outbox().DeleteDeferral(ctx, d.Tenant, d.ExportID, d.Target); err != nil {
		return err
	}
	for _, r := range refused {
		if err := p.tell(ctx, tx, e, trace.Inconsistency, "", r.What+": "+r.Reason); err != nil {
			return err
		}
	}
	if err := p.flag(ctx, tx, turn.Key{Tenant: e.Tenant, Session: e.Session}, e.TurnID, e.ID, refused); err != nil {
		return err
	}
	status := State(e.Status)
	if status == CompleteWithErrors && len(refused) == 0 && !flawed(e) {
		short, err := p.short(ctx, tx, e)
		if err != nil {
			return err
		}
		if !short {
			status = Complete
			if err := tx.Outbox().SetExportStatus(ctx, d.Tenant, d.ExportID, string(status)); err != nil {
				return err
			}
		}
	}
	return p.tell(ctx, tx, e, trace.Retry, status, fmt.Sprintf("%s written at try %d", d.Target, d.Tries+1))
}

// flawed reports whether an exchange ended with errors besides what was put off. One whose body is gone
// stays as it is.
func flawed(e event.Export) bool {
	o, err := outboxedFields.Decode(e.Body)
	return err != nil || o.flawed
}

// short reports whether something of the export is not written: still put off, or not legal any more when it was tried again.
func (p *Pipeline) short(ctx context.Context, tx store.Tx, e event.Export) (bool, error) {
	for _, t := range []Target{History, Memory, Cortex, Scratch} {
		if _, open, err := tx.Outbox().Deferral(ctx, e.Tenant, e.ID, string(t)); err != nil || open {
			return open, err
		}
	}
	parts, err := tx.Trace().Parts(ctx, e.Tenant, e.TurnID)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(parts, func(part trace.Part) bool {
		t, err := trace.Decode(part.Body)
		return err == nil && t.ExportID == e.ID && slices.ContainsFunc(t.Entries, func(n trace.Entry) bool { return n.Kind == trace.Inconsistency })
	}), nil
}

// putOff puts the deferral off again, or gives it up and says so to everybody: what follows it waits no longer than it may still be
// written.
func (p *Pipeline) putOff(ctx context.Context, tx store.Tx, e event.Export, d event.Deferral, failure error) (time.Duration, error) {
	d.Tries++
	d.Error = storable(failure)
	if d.Tries <= len(p.config.Retries) && !hopeless(failure) {
		delay := p.retryAfter(d.Tries)
		d.Next = tx.Now().Add(delay)
		if err := tx.Outbox().PutDeferral(ctx, d); err != nil {
			return 0, err
		}
		return delay, p.tell(ctx, tx, e, trace.Retry, "", fmt.Sprintf("%s failed at try %d: %s", d.Target, d.Tries, d.Error))
	}
	d.Escalated = tx.Now()
	if err := tx.Outbox().PutDeferral(ctx, d); err != nil {
		return 0, err
	}
	said, err := json.Marshal(map[string]any{"export_id": d.ExportID, "target": d.Target, "tries": d.Tries, "error": d.Error})
	if err != nil {
		return 0, err
	}
	err = p.announce(ctx, tx, event.Event{Tenant: d.Tenant, Session: d.Session, Kind: event.CommitEscalated, TurnID: e.TurnID, Data: string(said)})
	if err != nil {
		return 0, err
	}
	return 0, p.tell(ctx, tx, e, trace.Failure, "", fmt.Sprintf("%s given up after %d tries: %s", d.Target, d.Tries, d.Error))
}

// hopeless reports whether what failed would fail however often it is tried: it is not the store that stands against it.
func hopeless(failure error) bool {
	var field *invalid.Field
	return errors.As(failure, &field) || errors.Is(failure, turn.ErrConflict)
}

// announce stores an event, which is told once it is durable.
func (p *Pipeline) announce(ctx context.Context, tx store.Tx, e event.Event) error {
	e.ID, e.At = p.config.NewID(), tx.Now()
	if err := tx.Outbox().InsertEvent(ctx, e); err != nil {
		return err
	}
	if p.config.Announced != nil {
		tx.AfterCommit(func() { p.config.Announced(e) })
	}
	return nil
}

// tell adds to the trace of an export.
func (p *Pipeline) tell(ctx context.Context, tx store.Tx, e event.Export, kind trace.Kind, status State, text string) error {
	return p.storeTail(ctx, tx, e.Tenant, e.Segment, trace.TurnTrace{
		TurnID: e.TurnID, Session: e.Session, ExportID: e.ID, Status: string(status), Started: tx.Now(),
		Entries: []trace.Entry{{Kind: kind, Text: text}},
	})
}
