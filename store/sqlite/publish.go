package sqlite

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

const (
	// relayLease is how long a process that died keeps others from publishing.
	relayLease = 15 * time.Second
	// ahead is how many exports more than it publishes a Publish looks at; see sortWaiting.
	ahead = 64
)

// publisher lets one Publish at a time hand out exports: in this process by its token, beside other
// processes on the same file by a lease in the table relay. What it notes need not be durable: a machine that stops before
// it is publishes the same exports again, as after every crash.
type publisher struct {
	s     *Store
	token chan struct{}
	name  string
	// renewal is how often who publishes says so.
	renewal time.Duration
	// synced is up to which generation of the store what others wrote is known to be durable, none at first: what was there
	// when it was opened need not be. It is guarded by the token.
	synced uint64
}

func newPublisher(s *Store) *publisher {
	p := &publisher{s: s, token: make(chan struct{}, 1), name: rand.Text(), renewal: relayLease / 3, synced: math.MaxUint64}
	p.token <- struct{}{}
	return p
}

// Publish implements [store.Store]. One publishes at a time, the others of this process wait, so that
// Send must not publish. While another process is publishing, there is nothing to publish here.
func (s *Store) Publish(ctx context.Context, limit int, p store.Publication) (int, error) {
	if s.writer == nil {
		return 0, s.refuse()
	}
	select {
	case <-s.relay.token:
		defer func() { s.relay.token <- struct{}{} }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	waiting, err := s.relay.waits(ctx, p.Bus)
	if err != nil || !waiting || limit <= 0 {
		return 0, err
	}
	exports, after, err := s.relay.claim(ctx, limit, p)
	if err != nil || len(exports) == 0 {
		return 0, err
	}
	sent, err := s.relay.send(ctx, exports, p)
	// What was sent cannot be taken back, so that it is noted however the caller's context ended.
	ctx = context.WithoutCancel(ctx)
	if noteErr := s.relay.note(ctx, after, sent, p); noteErr != nil {
		return 0, errors.Join(err, noteErr)
	}
	return sent, err
}

// waits reports whether there is anything for a bus to publish.
func (r *publisher) waits(ctx context.Context, bus string) (waiting bool, err error) {
	err = r.s.view(ctx, func(t *tx) error {
		_, waiting, err = one(t, t.c.Prepare(`SELECT 1 FROM relay WHERE `+busName+` = ?
			AND EXISTS (SELECT 1 FROM exports WHERE sent_number > position)`).Text(bus), readInt)
		return err
	})
	return waiting, err
}

// claim takes the lease and returns the exports to publish, with their bodies or without, none if another process has the
// lease or another bus publishes, and the number after which they come.
func (r *publisher) claim(ctx context.Context, limit int, p store.Publication) (exports []event.Export, after int64, err error) {
	var generation uint64
	claimed := false
	err = r.s.Update(ctx, func(st store.Tx) error {
		claimed = false
		// What another process wrote may be in flight, and is durable with what follows it in the log: nobody may hear of it sooner.
		if generation = r.s.generation.Load(); generation == r.synced {
			st.SyncLater()
		}
		exports = nil
		t := st.(*tx)
		// Another process may have published meanwhile. Without anything to publish nobody would give the
		// lease back.
		err := t.c.Prepare(`UPDATE relay SET holder = ?1, until = ?2 WHERE (holder IN (?1, '') OR until <= ?3)
			AND ` + busName + ` = ?4 AND EXISTS (SELECT 1 FROM exports WHERE sent_number > position)`).
			Text(r.name).Int(micros(t.now.Add(relayLease))).Int(micros(t.now)).Text(p.Bus).Run()
		if err != nil || t.c.Changes() == 0 {
			return t.fail(err)
		}
		claimed = true
		rows := outboxRows{t}
		if after, err = rows.LastPublished(ctx); err != nil {
			return err
		}
		if exports, err = rows.sortedAfter(after, limit); err != nil || !p.Bodies {
			return err
		}
		exports, err = all(t, t.c.Prepare(`SELECT `+exportFields+`, NULL FROM exports
			WHERE sent_number > ? ORDER BY sent_number LIMIT ?`).Int(after).Int(int64(limit)), readExport)
		return err
	})
	if err == nil && claimed { // without anything to write nothing is synced
		r.synced = generation
	}
	return exports, after, err
}

// sortedAfter returns the first exports after a number, without their bodies, and sees to it that those of each session have
// numbers in the order of what they are about. They are written in that order unless somebody repairs something, so that it
// looks at the next ones only and hardly ever writes.
func (r outboxRows) sortedAfter(after int64, limit int) ([]event.Export, error) {
	waiting, err := r.numberedAfter(after, limit+ahead)
	if err != nil {
		return nil, err
	}
	moved, err := r.sortWaiting(waiting)
	if err == nil && moved {
		waiting, err = r.numberedAfter(after, limit)
	}
	for i := range waiting {
		waiting[i].Sent = 0 // it holds from the moment that the position has reached it
	}
	return waiting[:min(limit, len(waiting))], err
}

// numberedAfter returns exports without their bodies and with their numbers, also where these do not hold yet.
func (r outboxRows) numberedAfter(after int64, limit int) ([]event.Export, error) {
	return all(r.tx, r.c.Prepare(`SELECT `+bodilessFields+`, sent_number FROM exports
		WHERE sent_number > ? ORDER BY sent_number LIMIT ?`).Int(after).Int(int64(limit)), readExport)
}

// sortWaiting reports whether it had to change a number.
func (r outboxRows) sortWaiting(waiting []event.Export) (moved bool, err error) {
	type place struct {
		tenant  string
		segment int64
	}
	order := func(a, b event.Export) int {
		return cmp.Or(cmp.Compare(a.Last, b.Last), a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	}
	last := make(map[place]int)          // which export of a session came last
	unsorted := make(map[place]struct{}) // hardly ever any
	for i, e := range waiting {
		at := place{e.Tenant, e.Segment}
		if before, ok := last[at]; ok && order(waiting[before], e) > 0 {
			unsorted[at] = struct{}{}
		}
		last[at] = i
	}
	for at := range unsorted {
		moved = true
		have := slices.DeleteFunc(slices.Clone(waiting), func(e event.Export) bool { return place{e.Tenant, e.Segment} != at })
		want := slices.SortedFunc(slices.Values(have), order)
		move := func(from, to int64) error {
			return r.fail(r.c.Prepare(`UPDATE exports SET sent_number = ? WHERE sent_number = ?`).Int(to).Int(from).Run())
		}
		// Numbers are unique, so that all are put aside first.
		for _, e := range want {
			if err := move(e.Sent, -e.Sent); err != nil {
				return moved, err
			}
		}
		for i, e := range want {
			if err := move(-e.Sent, have[i].Sent); err != nil {
				return moved, err
			}
		}
	}
	return moved, nil
}

// send lets p send and keeps the lease while it does.
func (r *publisher) send(ctx context.Context, exports []event.Export, p store.Publication) (sent int, err error) {
	stop := make(chan struct{})
	var renewing sync.WaitGroup
	renewing.Go(func() { r.keep(context.WithoutCancel(ctx), stop) })
	returned := false
	defer func() {
		close(stop)
		renewing.Wait()
		if !returned {
			// p panicked. Should this fail as well, the lease ends by itself.
			r.release(context.WithoutCancel(ctx))
		}
	}()
	sent, err = p.Send(ctx, exports)
	returned = true
	return max(0, min(sent, len(exports))), err
}

// keep renews the lease until it is told to stop. An error is not lost: noting what was sent meets it.
func (r *publisher) keep(ctx context.Context, stop <-chan struct{}) {
	tick := time.NewTicker(r.renewal)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		r.s.Update(ctx, func(st store.Tx) error {
			st.SyncLater()
			t := st.(*tx)
			return t.fail(t.c.Prepare(`UPDATE relay SET until = ? WHERE holder = ?`).
				Int(micros(t.now.Add(relayLease))).Text(r.name).Run())
		})
	}
}

// note moves the position past what was sent, writes what p has to say about it and gives up the lease.
func (r *publisher) note(ctx context.Context, after int64, sent int, p store.Publication) error {
	if sent == 0 {
		return r.release(ctx)
	}
	err := r.s.Update(ctx, func(st store.Tx) error {
		st.SyncLater()
		t := st.(*tx)
		err := t.c.Prepare(`UPDATE relay SET position = (SELECT max(sent_number) FROM
			(SELECT sent_number FROM exports WHERE sent_number > position ORDER BY sent_number LIMIT ?)), holder = '', until = 0
			WHERE holder = ?`).Int(int64(sent)).Text(r.name).Run()
		if err != nil {
			return t.fail(err)
		}
		if t.c.Changes() == 0 {
			return fmt.Errorf("%w: another process or bus took over publishing; it publishes what was sent here again", store.ErrLocked)
		}
		err = t.c.Prepare(`INSERT INTO publications (through, sent_at) SELECT position, ? FROM relay`).Int(micros(t.now)).Run()
		if err != nil || p.Note == nil {
			return t.fail(err)
		}
		// How an exchange ended may have changed since it was sent.
		noted, err := outboxRows{t}.numberedAfter(after, sent)
		if err != nil {
			return err
		}
		return p.Note(ctx, st, noted)
	})
	if err != nil {
		return errors.Join(err, r.release(ctx))
	}
	return nil
}

// release gives up the lease.
func (r *publisher) release(ctx context.Context) error {
	return r.s.Update(ctx, func(st store.Tx) error {
		st.SyncLater()
		t := st.(*tx)
		return t.fail(t.c.Prepare(`UPDATE relay SET holder = '', until = 0 WHERE holder = ?`).Text(r.name).Run())
	})
}
