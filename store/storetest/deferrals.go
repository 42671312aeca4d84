package storetest

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

func (w *world) deferred(export, target string, next time.Time) event.Deferral {
	return event.Deferral{
		Tenant: w.tenant, Session: "s", ExportID: export, Target: target, Payload: `{"city":"東京"}`, Tries: 3,
		Next: next, Error: "it was locked", At: noon,
	}
}

func (w *world) putOff(deferrals ...event.Deferral) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for _, d := range deferrals {
			if err := tx.Outbox().PutDeferral(w.ctx(), d); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) deferrals(tenant string) (list []event.Deferral) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		list, err = tx.Outbox().Deferrals(w.ctx(), tenant)
		return err
	})
	return list
}

func testDeferrals(t *testing.T, open opener) {
	w := newWorld(t, open)
	soon, later := noon.Add(time.Second), noon.Add(time.Minute)
	x, y := w.newID(), w.newID()
	a, b, c := w.deferred(x, "memory", later), w.deferred(x, "cortex", soon), w.deferred(y, "memory", soon.Add(time.Microsecond))
	c.At = noon.Add(-time.Hour)
	given := w.deferred(y, "scratch", noon)
	given.Escalated = noon.Add(time.Microsecond)
	other := w.deferred(x, "memory", noon)
	other.Tenant = "zoo"
	w.putOff(a, b, c, given, other)
	due := func(now time.Time, limit int) (list []event.Deferral) {
		w.view(func(tx store.Tx) (err error) {
			list, err = tx.Outbox().DueDeferrals(w.ctx(), now, limit)
			return err
		})
		return list
	}
	count := func() (n int64) {
		w.view(func(tx store.Tx) (err error) {
			n, err = tx.Outbox().CountDeferrals(w.ctx())
			return err
		})
		return n
	}
	one := func(tenant, export, target string) (d event.Deferral, ok bool) {
		w.view(func(tx store.Tx) (err error) {
			d, ok, err = tx.Outbox().Deferral(w.ctx(), tenant, export, target)
			return err
		})
		return d, ok
	}

	w.run("one is found by export and target", func(t *testing.T) {
		for _, want := range []event.Deferral{a, b, given, other} {
			got, ok := one(want.Tenant, want.ExportID, want.Target)
			if !ok {
				t.Errorf("%s of %s is not there", want.Target, want.ExportID)
			}
			same(t, "deferral", got, want)
		}
		if d, ok := one(w.tenant, y, "cortex"); ok {
			t.Errorf("found %+v", d)
		}
	})

	w.run("those of all tenants are counted, given up or not", func(t *testing.T) {
		if n := count(); n != 5 {
			t.Errorf("%d, want 5", n)
		}
	})

	w.run("those of a tenant come oldest first, given up or not", func(t *testing.T) {
		same(t, "ours", w.deferrals(w.tenant), []event.Deferral{c, b, a, given})
		same(t, "theirs", w.deferrals("zoo"), []event.Deferral{other})
		same(t, "nobody's", w.deferrals("nobody"), []event.Deferral(nil))
	})

	w.run("those of a session wait until they are given up, oldest first", func(t *testing.T) {
		waiting := func(tenant, session string, want []event.Deferral, targets []string) {
			t.Helper()
			w.view(func(tx store.Tx) error {
				got, err := tx.Outbox().WaitingDeferrals(w.ctx(), tenant, session)
				if err != nil {
					return err
				}
				same(t, "deferrals", got, want)
				of, err := tx.Outbox().WaitingTargets(w.ctx(), tenant, session)
				same(t, "targets", of, targets)
				return err
			})
		}
		waiting(w.tenant, "s", []event.Deferral{c, b, a}, []string{"cortex", "memory"})
		waiting("zoo", "s", []event.Deferral{other}, []string{"memory"})
		waiting(w.tenant, "t", nil, nil)
	})

	w.run("what is due comes the longest due first, of all tenants, never what was given up", func(t *testing.T) {
		same(t, "before", due(noon.Add(-time.Microsecond), 10), []event.Deferral(nil))
		same(t, "at noon", due(noon, 10), []event.Deferral{other})
		same(t, "soon", due(soon, 10), []event.Deferral{other, b})
		same(t, "much later", due(later.Add(time.Hour), 10), []event.Deferral{other, b, c, a})
		same(t, "two of them", due(later, 2), []event.Deferral{other, b})
	})

	w.run("the last write wins in every column", func(t *testing.T) {
		b = event.Deferral{
			Tenant: w.tenant, Session: "t", ExportID: x, Target: "cortex", Payload: `[]`, Tries: 4, Next: later.Add(time.Hour),
			Error: "still locked", At: noon.Add(-2 * time.Hour),
		}
		w.putOff(b)
		same(t, "ours", w.deferrals(w.tenant), []event.Deferral{b, c, a, given})
		same(t, "due", due(later, 10), []event.Deferral{other, c, a})
		b.Escalated = later
		w.putOff(b)
		same(t, "due", due(later.Add(2*time.Hour), 10), []event.Deferral{other, c, a})
	})

	w.run("deleted is gone, twice or never there is no error", func(t *testing.T) {
		for range 2 {
			w.update(func(tx store.Tx) error { return tx.Outbox().DeleteDeferral(w.ctx(), w.tenant, x, "memory") })
			same(t, "ours", w.deferrals(w.tenant), []event.Deferral{b, c, given})
			same(t, "theirs", w.deferrals("zoo"), []event.Deferral{other})
		}
		same(t, "due", due(later, 10), []event.Deferral{other, c})
		if n := count(); n != 4 {
			t.Errorf("%d are left, want 4", n)
		}
	})
}
