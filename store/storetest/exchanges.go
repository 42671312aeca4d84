package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// streamed makes an open exchange; its texts name it.
func streamed(name string) turn.OpenExchange {
	return turn.OpenExchange{
		ExportID: "export of " + name, Opened: "input of " + name, Reply: "reply of " + name, Model: "m-1",
		Content: `{"text":"東京, ` + name + `"}`, Started: noon, Changed: noon.Add(250 * time.Millisecond),
	}
}

// fillExchanges leaves exchanges open.
func fillExchanges(w *world) {
	w.Helper()
	other := turn.Key{Tenant: "zoo", Session: "other"}
	begun := turn.OpenExchange{ExportID: "e", Opened: "t", Started: noon, Changed: noon}
	w.open(map[turn.Key]turn.OpenExchange{w.key("zeta"): streamed("zeta"), w.key("alpha"): begun, other: streamed("other")})
}

func (w *world) open(exchanges map[turn.Key]turn.OpenExchange) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for k, e := range exchanges {
			if err := tx.Log().PutExchange(w.ctx(), k, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// exchange returns what is open in a session, the zero value where nothing is.
func (w *world) exchange(k turn.Key) (e turn.OpenExchange) {
	w.Helper()
	w.view(func(tx store.Tx) error {
		found, ok, err := tx.Log().Exchange(w.ctx(), k)
		if ok != (found != turn.OpenExchange{}) {
			w.Errorf("ok is %t for %+v", ok, found)
		}
		e = found
		return err
	})
	return e
}

// writeExchanges writes an open exchange, changes it and deletes another.
func (w *world) writeExchanges(tx store.Tx, k turn.Key) error {
	ctx, log := w.ctx(), tx.Log()
	return errors.Join(
		log.PutExchange(ctx, k, streamed("first")), log.PutExchange(ctx, k, streamed("then")),
		log.PutExchange(ctx, w.key("another"), streamed("gone")), log.DeleteExchange(ctx, w.key("another")),
	)
}

// exchangeWrites and exchangeReads are all methods of open exchanges, by name.
func (w *world) exchangeWrites(k turn.Key) map[string]func(store.Tx) error {
	return map[string]func(store.Tx) error{
		"PutExchange":    func(tx store.Tx) error { return tx.Log().PutExchange(w.ctx(), k, streamed("x")) },
		"DeleteExchange": func(tx store.Tx) error { return tx.Log().DeleteExchange(w.ctx(), k) },
	}
}

func (w *world) exchangeReads(k turn.Key) map[string]func(store.Tx) error {
	return map[string]func(store.Tx) error{
		"Exchange":      func(tx store.Tx) error { return third(tx.Log().Exchange(w.ctx(), k)) },
		"LeftExchanges": func(tx store.Tx) error { return second(tx.Log().LeftExchanges(w.ctx(), turn.Key{}, noon, 1)) },
	}
}

func testExchanges(t *testing.T, w *world) {
	one, two, elsewhere := w.create(w.key("one")).Key, w.create(w.key("two")).Key, w.create(w.elsewhere("other", "one")).Key

	w.run("a session has one at most, of its own", func(t *testing.T) {
		same(t, "none", w.exchange(one), turn.OpenExchange{})
		begun := turn.OpenExchange{ExportID: "e", Opened: "t", Started: noon, Changed: noon}
		w.open(map[turn.Key]turn.OpenExchange{one: begun, two: streamed("two"), elsewhere: streamed("elsewhere")})
		same(t, "begun", w.exchange(one), begun)
		w.open(map[turn.Key]turn.OpenExchange{one: streamed("one")})
		same(t, "streaming", w.exchange(one), streamed("one"))
		w.open(map[turn.Key]turn.OpenExchange{one: begun})
		same(t, "all of it is replaced", w.exchange(one), begun)
		same(t, "the other session's", w.exchange(two), streamed("two"))
		same(t, "the other tenant's", w.exchange(elsewhere), streamed("elsewhere"))
	})

	w.run("one that is ended is gone, and the others stay", func(t *testing.T) {
		for range 2 {
			w.update(func(tx store.Tx) error { return tx.Log().DeleteExchange(w.ctx(), one) })
			same(t, "ended", w.exchange(one), turn.OpenExchange{})
		}
		same(t, "the other session's", w.exchange(two), streamed("two"))
		same(t, "the other tenant's", w.exchange(elsewhere), streamed("elsewhere"))
	})

	w.run("those are left whose lease nobody holds", func(t *testing.T) {
		after := turn.Key{Tenant: w.tenant}
		left := func(now time.Time, limit int) (keys []turn.Key) {
			w.view(func(tx store.Tx) (err error) {
				keys, err = tx.Log().LeftExchanges(w.ctx(), after, now, limit)
				return err
			})
			return slices.DeleteFunc(keys, func(k turn.Key) bool { return !strings.HasPrefix(k.Tenant, w.tenant) })
		}
		idle := w.create(w.key("idle")).Key
		w.open(map[turn.Key]turn.OpenExchange{one: streamed("one")})
		w.update(func(tx store.Tx) error {
			return errors.Join(
				tx.Log().SetLease(w.ctx(), one, turn.Lease{Token: "a", Until: noon}),
				tx.Log().SetLease(w.ctx(), idle, turn.Lease{Token: "b", Until: noon}),
			)
		})
		same(t, "while it is held", left(noon.Add(-time.Microsecond), 9), []turn.Key{two, elsewhere})
		same(t, "when it ran out", left(noon, 9), []turn.Key{one, two, elsewhere})
		same(t, "the first", left(noon, 1), []turn.Key{one})
		after = one
		same(t, "behind it", left(noon, 1), []turn.Key{two})
		after = two
		same(t, "behind the tenant's last", left(noon, 9), []turn.Key{elsewhere})
		after = turn.Key{Tenant: w.tenant}
		same(t, "no room", len(left(noon, 0)), 0)
	})

	w.run("strange texts and times come back", func(t *testing.T) {
		for name, text := range strangeTexts {
			e := streamed(name)
			e.Content, e.Model, e.Started, e.Changed = text, text, time.UnixMicro(-1).UTC(), time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
			w.open(map[turn.Key]turn.OpenExchange{one: e})
			same(t, name, w.exchange(one), e)
		}
	})
}
