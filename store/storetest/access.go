package storetest

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/store"
)

// keyed makes a key of the world's tenant; its name says which.
func (w *world) keyed(name string) access.Key {
	k := access.Key{ID: w.newID(), Tenant: w.tenant, Name: name, Scopes: access.Everything(), CreatedAt: noon}
	copy(k.Hash[:], "the hash of the secret of "+name)
	return k
}

func (w *world) addKeys(keys ...access.Key) {
	w.Helper()
	for _, k := range keys {
		w.update(func(tx store.Tx) error { return tx.Access().InsertKey(w.ctx(), k) })
	}
}

func (w *world) keys(tenant string) (keys []access.Key) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		keys, err = tx.Access().Keys(w.ctx(), tenant)
		return err
	})
	return keys
}

func (w *world) accessKey(id string) (k access.Key, err error) {
	w.Helper()
	err = w.View(w.ctx(), func(tx store.Tx) (err error) {
		k, err = tx.Access().Key(w.ctx(), id)
		return err
	})
	return k, err
}

func (w *world) revoke(tenant, id string, at time.Time) error {
	return w.Update(w.ctx(), func(tx store.Tx) error { return tx.Access().RevokeKey(w.ctx(), tenant, id, at) })
}

func testAccess(t *testing.T, w *world) {
	a, b, theirs := w.keyed("a"), w.keyed("b"), w.keyed("theirs")
	b.Scopes, b.Hash[31] = mustScopes(t, access.Write), 0xff
	theirs.Tenant = w.tenant + "-other"
	w.addKeys(b, a, theirs)

	w.run("keys are of a tenant, by id, and found by id alone", func(t *testing.T) {
		same(t, "ours", w.keys(w.tenant), []access.Key{a, b})
		same(t, "theirs", w.keys(theirs.Tenant), []access.Key{theirs})
		same(t, "nobody's", w.keys("nobody-has-keys"), []access.Key(nil))
		for _, want := range []access.Key{a, b, theirs} {
			got, err := w.accessKey(want.ID)
			same(t, want.Name, got, want)
			if err != nil {
				t.Error(err)
			}
		}
		_, err := w.accessKey(w.newID())
		is(t, "a key that is not there", err, access.ErrUnknownKey)
	})

	w.run("one key of any tenant is enough", func(t *testing.T) {
		w.view(func(tx store.Tx) error {
			keyed, err := tx.Access().Keyed(w.ctx())
			if !keyed {
				t.Error("nobody has a key")
			}
			return err
		})
	})

	w.run("an id is given once, whatever the tenant", func(t *testing.T) {
		again := w.keyed("again")
		for _, tenant := range []string{w.tenant, theirs.Tenant} {
			again.ID, again.Tenant = a.ID, tenant
			is(t, "taken id", w.Update(w.ctx(), func(tx store.Tx) error { return tx.Access().InsertKey(w.ctx(), again) }), access.ErrExists)
		}
		same(t, "ours", w.keys(w.tenant), []access.Key{a, b})
	})

	w.run("a key is revoked once, by its own tenant", func(t *testing.T) {
		is(t, "by another", w.revoke(theirs.Tenant, a.ID, noon), access.ErrUnknownKey)
		is(t, "one that is not there", w.revoke(w.tenant, w.newID(), noon), access.ErrUnknownKey)
		same(t, "ours", w.keys(w.tenant), []access.Key{a, b})
		for _, at := range []time.Time{noon.Add(time.Hour), noon.Add(2 * time.Hour)} {
			if err := w.revoke(w.tenant, a.ID, at); err != nil {
				t.Fatal(err)
			}
		}
		a.RevokedAt = noon.Add(time.Hour)
		same(t, "ours", w.keys(w.tenant), []access.Key{a, b})
	})

	w.run("strange names and times come back", func(t *testing.T) {
		for name, text := range strangeTexts {
			k := w.keyed(name)
			k.Name, k.CreatedAt, k.RevokedAt = text, time.UnixMicro(-1).UTC(), time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
			w.addKeys(k)
			got, err := w.accessKey(k.ID)
			same(t, name, got, k)
			if err != nil {
				t.Error(err)
			}
		}
	})
}

func mustScopes(t *testing.T, scopes ...access.Scope) access.Scopes {
	t.Helper()
	set, err := access.ScopesOf(scopes...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func testSharedAccess(t *testing.T, a, b *world) {
	k := a.keyed("shared")
	a.addKeys(k)
	if got, err := b.accessKey(k.ID); err != nil || got != k {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := b.revoke(b.tenant, k.ID, noon); err != nil {
		t.Fatal(err)
	}
	k.RevokedAt = noon
	same(t, "the key", a.keys(a.tenant), []access.Key{k})
}
