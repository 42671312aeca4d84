package storetest

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
)

func testLight(t *testing.T, w *world) {
	light := w.Light()
	k := dialogue.LightKey{Tenant: "default", Session: "s"}
	put := func(k dialogue.LightKey, c dialogue.LightContext) {
		t.Helper()
		if err := light.Store(w.ctx(), k, c); err != nil {
			t.Fatal(err)
		}
	}
	read := func(k dialogue.LightKey) *dialogue.LightContext {
		t.Helper()
		c, ok, err := light.Retrieve(w.ctx(), k)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return nil
		}
		return &c
	}
	none := (*dialogue.LightContext)(nil)
	whole := dialogue.LightContext{
		LastIntent: new("add 'that' — 🎉"), LastTaskID: new("42"), PendingFields: []string{"title", "", "due date"}, LastUserMessage: new("update\nit"),
	}

	w.run("nothing stored is nothing, without an error", func(t *testing.T) { same(t, "context", read(k), none) })

	w.run("what was stored comes back, last one first", func(t *testing.T) {
		put(k, dialogue.LightContext{LastIntent: new("first")})
		put(k, whole)
		same(t, "context", read(k), &whole)
	})

	w.run("null, empty and missing are kept apart", func(t *testing.T) {
		put(k, dialogue.LightContext{LastIntent: new("")})
		same(t, "context", read(k), &dialogue.LightContext{LastIntent: new("")})
		put(k, dialogue.LightContext{})
		same(t, "context", read(k), &dialogue.LightContext{})
	})

	w.run("what is stored and returned is shared with nobody", func(t *testing.T) {
		mine := dialogue.LightContext{PendingFields: []string{"a", "b"}, LastIntent: new("x")}
		put(k, mine)
		mine.PendingFields[0], *mine.LastIntent = "changed", "changed"
		got := read(k)
		got.PendingFields[1], *got.LastIntent = "changed", "changed"
		same(t, "context", read(k), &dialogue.LightContext{PendingFields: []string{"a", "b"}, LastIntent: new("x")})
	})

	w.run("an update keeps it with the rest, or not at all", func(t *testing.T) {
		put(k, whole)
		broken := errors.New("broken")
		err := w.Update(w.ctx(), func(tx store.Tx) error {
			if err := tx.Light().StoreLight(w.ctx(), k, dialogue.LightContext{LastIntent: new("lost")}); err != nil {
				return err
			}
			return errors.Join(tx.Light().HearLight(w.ctx(), k, "lost"), broken)
		})
		if !errors.Is(err, broken) {
			t.Error(err)
		}
		same(t, "context", read(k), &whole)
		w.update(func(tx store.Tx) error { return tx.Light().HearLight(w.ctx(), k, "heard \x00\xff") })
		heard := whole
		heard.LastUserMessage = new("heard \x00\xff")
		same(t, "context", read(k), &heard)
		w.update(func(tx store.Tx) error { return tx.Light().StoreLight(w.ctx(), k, whole) })
		same(t, "context", read(k), &whole)
		fresh := dialogue.LightKey{Tenant: "default", Session: "heard"}
		w.update(func(tx store.Tx) error { return tx.Light().HearLight(w.ctx(), fresh, "first") })
		same(t, "context", read(fresh), &dialogue.LightContext{LastUserMessage: new("first")})
		w.update(func(tx store.Tx) error {
			if tx.Light().HearLight(w.ctx(), dialogue.LightKey{}, "nobody") == nil {
				t.Error("nobody's is kept")
			}
			return nil
		})
		w.view(func(tx store.Tx) error {
			if err := tx.Light().HearLight(w.ctx(), k, "x"); !errors.Is(err, store.ErrReadOnly) {
				t.Error(err)
			}
			return nil
		})
	})

	w.run("sessions and tenants are kept apart, and cleared alone", func(t *testing.T) {
		others := []dialogue.LightKey{{Tenant: "default", Session: "t"}, {Tenant: "other", Session: "s"}}
		put(k, whole)
		for _, o := range others {
			same(t, "other", read(o), none)
			put(o, dialogue.LightContext{LastTaskID: new(o.Tenant + o.Session)})
		}
		for range 2 {
			if err := light.Clear(w.ctx(), k); err != nil {
				t.Fatal(err)
			}
		}
		same(t, "cleared", read(k), none)
		for _, o := range others {
			same(t, "other", read(o), &dialogue.LightContext{LastTaskID: new(o.Tenant + o.Session)})
		}
	})
}
