package storetest

import (
	"errors"
	"time"

	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// fillServed adds what a server writes: places of events, keys and links.
func fillServed(w *world) {
	w.Helper()
	ours, theirs, revoked := w.keyed("web"), w.keyed("Küche"), w.keyed("")
	theirs.Tenant, revoked.RevokedAt = "zoo", noon.Add(time.Hour)
	w.addKeys(ours, theirs, revoked)
	elsewhere := w.linked("hello", "other", 2, noon)
	elsewhere.Tenant = "zoo"
	w.link(w.linked("hello", "zeta", 5, noon.Add(time.Second)), w.linked("hello", "alpha", 1, noon), w.linked("so far", "zeta", 6, noon), elsewhere)
	w.update(func(tx store.Tx) error { return tx.Outbox().PlaceEvents(w.ctx(), w.tenant) })
}

// writeServed writes a row of each table that a server writes to.
func (w *world) writeServed(tx store.Tx, k turn.Key, now time.Time) error {
	key := w.keyed("every")
	return errors.Join(
		tx.Access().InsertKey(w.ctx(), key), tx.Access().RevokeKey(w.ctx(), w.tenant, key.ID, now),
		tx.Chains().PutLink(w.ctx(), w.linked("every "+key.ID, k.Session, 1, now)),
	)
}

// servedWrites and servedReads are all methods of keys and links, by name.
func (w *world) servedWrites(k turn.Key) map[string]func(store.Tx) error {
	return map[string]func(store.Tx) error{
		"InsertKey": func(tx store.Tx) error { return tx.Access().InsertKey(w.ctx(), w.keyed("x")) },
		"RevokeKey": func(tx store.Tx) error { return tx.Access().RevokeKey(w.ctx(), k.Tenant, "x", noon) },
		"PutLink":   func(tx store.Tx) error { return tx.Chains().PutLink(w.ctx(), w.linked("x", k.Session, 1, noon)) },
	}
}

func (w *world) servedReads(k turn.Key) map[string]func(store.Tx) error {
	return map[string]func(store.Tx) error{
		"Key":   func(tx store.Tx) error { return second(tx.Access().Key(w.ctx(), "x")) },
		"Keyed": func(tx store.Tx) error { return second(tx.Access().Keyed(w.ctx())) },
		"Keys":  func(tx store.Tx) error { return second(tx.Access().Keys(w.ctx(), k.Tenant)) },
		"Linked": func(tx store.Tx) error {
			return second(tx.Chains().Linked(w.ctx(), k.Tenant, []chain.Hash{conversation("x")}))
		},
		"Links": func(tx store.Tx) error { return second(tx.Chains().Links(w.ctx(), k.Tenant, conversation("x"), 1)) },
	}
}
