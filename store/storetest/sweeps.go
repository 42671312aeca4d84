package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// testSweeps holds every sweep to the same: it takes what is due of all tenants, up to its limit and
// no more, and counts what it took.
func testSweeps(t *testing.T, open opener) {
	w := newWorld(t, open)
	one, two := w.create(w.key("one")), w.create(turn.Key{Tenant: "zoo", Session: "two"})
	sessions := []turn.SessionInfo{one, two}
	before := noon.Add(-time.Microsecond)

	w.run("observations", func(t *testing.T) {
		var expired []scratch.Placed // those first that expired first
		for n, s := range []turn.SessionInfo{one, two, one} {
			due, left := noticed(fmt.Sprint("due-", n), scratch.Archived), noticed(fmt.Sprint("left-", n), scratch.Archived)
			due.Expires, left.Expires = noon, noon.Add(time.Microsecond)
			w.notice(s.Tenant, s.Segment, due, left)
			over, live := noticed(fmt.Sprint("over-", n), scratch.Resolved), noticed(fmt.Sprint("live-", n), scratch.Active)
			over.Expires, live.Expires = noon.Add(-time.Duration(n)*time.Second), noon.Add(time.Microsecond)
			w.notice(s.Tenant, s.Segment, over, live)
			expired = append([]scratch.Placed{{Tenant: s.Tenant, Segment: s.Segment, Row: over}}, expired...)
		}
		for limit := range 5 {
			w.update(func(tx store.Tx) error {
				got, err := tx.Scratch().ExpiredObservations(w.ctx(), noon, limit)
				same(t, "expired", slices.Concat(got), slices.Concat(expired[:min(limit, 3)]))
				return err
			})
		}
		w.sweeps(t, "observations", 3, func(tx store.Tx, limit int) (int64, error) {
			return tx.Scratch().SweepObservations(w.ctx(), noon, limit)
		})
		same(t, "left", len(w.observations(one.Tenant, one.Segment, before, false)), 6)
		same(t, "left", len(w.observations(two.Tenant, two.Segment, before, false)), 3)
	})

	w.run("reminders", func(t *testing.T) { testReminders(t, w, one, two) })

	w.run("items", func(t *testing.T) {
		for n, s := range []turn.SessionInfo{one, two, one} {
			due, left, kept := w.remembered(s.Segment, "swept", 5), w.remembered(s.Segment, "swept later", 5), w.remembered(s.Segment, "kept", 5)
			due.Tenant, left.Tenant, kept.Tenant = s.Tenant, s.Tenant, s.Tenant
			due.Expires, left.Expires = noon, noon.Add(time.Microsecond)
			w.remember(due, left, kept)
			if n == 1 {
				w.indexText()
			}
		}
		w.sweeps(t, "memory_items", 3, func(tx store.Tx, limit int) (int64, error) { return tx.Memory().SweepItems(w.ctx(), noon, limit) })
		for n, s := range sessions {
			f := memory.Filter{Tenant: s.Tenant, Lowest: true, Limit: 9, Now: before}
			same(t, "left", len(w.items(f)), []int{4, 2}[n])
			f.Terms = []string{"swept"}
			same(t, "found", len(w.items(f)), []int{2, 1}[n])
		}
	})

	w.run("bodies of exports by when they were sent, but of none that waits", func(t *testing.T) {
		var due, young []event.Export
		for n := range int64(3) {
			due, young = append(due, w.exported(sessions[n%2], n+1, n+1)), append(young, w.exported(sessions[n%2], n+1, n+1))
			due[n].At, young[n].At = noon, before // it is not when they were made that counts
		}
		w.export(due...)
		published := append(w.publish(2), w.publish(100)...)
		until := w.later()
		w.export(young...)
		kept := w.publish(100)
		waiting := w.exported(one, 9, 9)
		waiting.At = before
		w.export(waiting)
		w.sweeps(t, "", 3, func(tx store.Tx, limit int) (int64, error) { return tx.Outbox().SweepExports(w.ctx(), until, limit) })
		got, _ := w.published(0, 100)
		same(t, "published", got, append(bodiless(published), kept...))
		same(t, "waiting", w.publish(1)[0].Body, waiting.Body)
	})

	t.Run("bodies of exports of which it is not known when they were sent", func(t *testing.T) { testOldExports(t, open) })

	w.run("how far bodies were swept", func(t *testing.T) {
		sweep := func(until time.Time) (through, last int64) {
			for range 2 { // the second finds how far the first came
				w.update(func(tx store.Tx) error { return second(tx.Outbox().SweepExports(w.ctx(), until, 100)) })
			}
			w.view(func(tx store.Tx) (err error) {
				if through, err = tx.Outbox().SweptThrough(w.ctx()); err != nil {
					return err
				}
				last, err = tx.Outbox().LastPublished(w.ctx())
				return err
			})
			return through, last
		}
		if through, last := sweep(w.later()); through != last || last == 0 {
			t.Errorf("all: %d of %d", through, last)
		}
		begin := w.later()
		w.export(w.exported(one, 10, 10), w.exported(one, 11, 11))
		noted := w.publish(1)
		between := w.later()
		noted = append(noted, w.publish(1)...)
		if through, _ := sweep(begin); through >= noted[0].Sent {
			t.Errorf("none of %d: %d", noted[0].Sent, through)
		}
		if through, _ := sweep(between); through < noted[0].Sent || through >= noted[1].Sent {
			t.Errorf("up to %d: %d", noted[0].Sent, through)
		}
	})

	w.run("deferrals that were given up", func(t *testing.T) {
		var left []event.Deferral
		for n := range 3 {
			due, young, open := w.deferred(w.newID(), "due", noon), w.deferred(w.newID(), "young", noon), w.deferred(w.newID(), "open", before)
			due.Escalated, young.Escalated = before, noon
			if n == 1 {
				due.Tenant = two.Tenant
			}
			w.putOff(due, young, open)
			left = append(left, young, open)
		}
		w.sweeps(t, "deferrals", 3, func(tx store.Tx, limit int) (int64, error) { return tx.Outbox().SweepDeferrals(w.ctx(), noon, limit) })
		same(t, "left", w.deferrals(w.tenant), left)
	})

	w.run("dead letters", func(t *testing.T) {
		letter := func(tenant, daemon string, at time.Time) event.Letter {
			return event.Letter{Tenant: tenant, Daemon: daemon, ExportID: w.newID(), Session: "s", TurnID: w.newID(), Tries: 1, Error: "no", At: at}
		}
		young, other := letter(one.Tenant, "a", noon), letter(two.Tenant, "a", before)
		w.update(func(tx store.Tx) error {
			var err error
			for _, l := range []event.Letter{letter(one.Tenant, "a", before), young, letter(one.Tenant, "b", before), letter(one.Tenant, "a", before.AddDate(0, 0, -1)), other} {
				err = errors.Join(err, tx.Outbox().InsertLetter(w.ctx(), l))
			}
			return err
		})
		w.sweeps(t, "dead_letters", 3, func(tx store.Tx, limit int) (int64, error) {
			return tx.Outbox().SweepLetters(w.ctx(), one.Tenant, noon, limit)
		})
		for _, left := range []event.Letter{young, other} {
			w.update(func(tx store.Tx) error {
				letters, err := tx.Outbox().Letters(w.ctx(), left.Tenant, "", 9)
				same(t, "left", letters, []event.Letter{left})
				return err
			})
		}
	})

	w.run("events", func(t *testing.T) {
		happened := func(tenant string, kind event.Kind, at time.Time) event.Event {
			e := w.happened("s", kind, "")
			e.Tenant, e.At = tenant, at
			return e
		}
		tenant := w.tenant + "-swept"
		old, older := happened(tenant, event.CommitEscalated, before), happened(tenant, event.SessionEnded, before.AddDate(0, 0, -90))
		receipt, young := happened(tenant, event.Forgotten, before), happened(tenant, event.CommitEscalated, noon)
		last, other := happened(tenant, event.SessionEnded, before), happened(tenant+"-not", event.SessionEnded, before)
		w.announce(old, older, receipt, young, last, other)
		w.place(tenant)
		younger := happened(tenant, event.CommitEscalated, before)
		younger.ID = ids.Floor(noon.Add(time.Hour)) // says its id
		w.announce(younger)
		w.announce(happened(tenant, event.SessionEnded, before)) // nobody ever read it
		w.sweeps(t, "events", 3, func(tx store.Tx, limit int) (int64, error) {
			return tx.Outbox().SweepEvents(w.ctx(), tenant, noon, limit)
		})
		same(t, "left", w.events(tenant, "", 0, 9), []event.Event{placed(receipt, 3), placed(young, 4), placed(last, 5), younger})
		same(t, "of others", w.events(other.Tenant, "", 0, 9), []event.Event{other})
		same(t, "the last place", w.lastPlace(tenant), int64(5))
		next := happened(tenant, event.SessionEnded, noon)
		w.announce(next)
		w.place(tenant)
		same(t, "behind it", w.events(tenant, "", 5, 9), []event.Event{placed(next, 6), placed(younger, 7)})
	})

	w.run("parts of traces", func(t *testing.T) {
		turnID := w.newID()
		part := func(at time.Time) trace.Part {
			return trace.Part{TurnID: turnID, Segment: one.Segment, ID: w.newID(), At: at, Body: `{}`}
		}
		young := part(noon)
		w.trace(one.Tenant, part(before), young, part(before))
		w.trace(two.Tenant, part(before))
		w.sweeps(t, "trace_parts", 3, func(tx store.Tx, limit int) (int64, error) { return tx.Trace().SweepParts(w.ctx(), noon, limit) })
		same(t, "left", w.parts(one.Tenant, turnID), []trace.Part{young})
		same(t, "left", w.parts(two.Tenant, turnID), []trace.Part(nil))
	})
}

// testOldExports sweeps exports that were sent before it was noted when: it counts when they were made.
func testOldExports(t *testing.T, open opener) {
	from, w := newWorld(t, open), newWorld(t, open)
	w.ids = from.ids
	session := from.create(from.key("old"))
	due, young := from.exported(session, 1, 1), from.exported(session, 2, 2)
	due.At, young.At = noon.Add(-time.Microsecond), noon
	from.export(due, young)
	from.publish(2)
	rows := from.rows()
	for i, row := range rows {
		if row.Table == "exports" {
			rows[i].Values = row.Values[:len(row.Values)-1] // as versions gave them out that did not know
		}
	}
	w.load(rows)
	fresh := w.exported(session, 3, 3)
	fresh.At = due.At
	w.export(fresh)
	noted := w.publish(1)
	w.sweeps(t, "", 1, func(tx store.Tx, limit int) (int64, error) { return tx.Outbox().SweepExports(w.ctx(), noon, limit) })
	got, _ := w.published(0, 100)
	due.Body, due.Sent, young.Sent = "", 1, 2
	same(t, "published", got, append([]event.Export{due, young}, noted...))
}

// sweeps runs a sweep that has n rows of a table to take, in parts.
func (w *world) sweeps(t *testing.T, table string, n int64, sweep func(tx store.Tx, limit int) (int64, error)) {
	t.Helper()
	rows := len(w.rows(table))
	for _, round := range []struct{ limit, want int64 }{{0, 0}, {n - 1, n - 1}, {100, 1}, {100, 0}} {
		var took int64
		w.update(func(tx store.Tx) (err error) {
			took, err = sweep(tx, int(round.limit))
			return err
		})
		if took != round.want {
			t.Errorf("a sweep of up to %d took %d, want %d", round.limit, took, round.want)
		}
		rows -= int(round.want)
		if table != "" {
			same(t, "rows", len(w.rows(table)), rows)
		}
	}
}
