package storetest

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

func testDaemons(t *testing.T, open opener) {
	w := newWorld(t, open)
	w.run("marks", func(t *testing.T) { testMarks(t, w) })
	w.run("dead letters", func(t *testing.T) { testLetters(t, w) })
}

func testMarks(t *testing.T, w *world) {
	mark := func(daemon string) (m event.Mark, ok bool) {
		for _, begin := range []func(func(store.Tx) error){w.view, w.update} {
			begin(func(tx store.Tx) (err error) {
				m, ok, err = tx.Outbox().Mark(w.ctx(), daemon)
				return err
			})
		}
		return m, ok
	}
	marks := func() (list []event.Mark) {
		w.view(func(tx store.Tx) (err error) {
			list, err = tx.Outbox().Marks(w.ctx())
			return err
		})
		return list
	}
	put := func(m event.Mark) {
		w.update(func(tx store.Tx) error {
			if _, _, err := tx.Outbox().Mark(w.ctx(), m.Daemon); err != nil {
				return err
			}
			return tx.Outbox().PutMark(w.ctx(), m)
		})
	}
	if m, ok := mark("indexer"); ok {
		t.Errorf("found %+v", m)
	}
	same(t, "none", marks(), []event.Mark(nil))
	held := event.Mark{Daemon: "indexer", Through: 3, Holder: "host-1", Until: noon}
	free := event.Mark{Daemon: "audit"}
	put(held)
	put(free)
	same(t, "by name", marks(), []event.Mark{free, held})
	got, ok := mark("indexer")
	if !ok {
		t.Error("it is not there")
	}
	same(t, "mark", got, held)
	moved := event.Mark{Daemon: "indexer", Through: 9}
	put(moved)
	same(t, "moved and let go", marks(), []event.Mark{free, moved})
	for range 2 {
		w.update(func(tx store.Tx) error { return tx.Outbox().DeleteMark(w.ctx(), "audit") })
		same(t, "deleted", marks(), []event.Mark{moved})
	}
}

func testLetters(t *testing.T, w *world) {
	letters := func(tenant, daemon string, limit int) (list []event.Letter) {
		w.view(func(tx store.Tx) (err error) {
			list, err = tx.Outbox().Letters(w.ctx(), tenant, daemon, limit)
			return err
		})
		return list
	}
	put := func(letters ...event.Letter) {
		w.update(func(tx store.Tx) error {
			for _, l := range letters {
				if err := tx.Outbox().InsertLetter(w.ctx(), l); err != nil {
					return err
				}
			}
			return nil
		})
	}
	letter := func(tenant, daemon, export string, at time.Duration) event.Letter {
		return event.Letter{
			Tenant: tenant, Daemon: daemon, ExportID: export, Session: "s", TurnID: w.newID(), Tries: 4,
			Error: "東京 is far", At: noon.Add(at),
		}
	}
	x, y := w.newID(), w.newID()
	a, b := letter(w.tenant, "indexer", y, 0), letter(w.tenant, "audit", y, time.Second)
	c, d := letter(w.tenant, "indexer", x, 0), letter(w.tenant, "audit", x, 0)
	other := letter("zoo", "indexer", y, 0)
	put(a, b, c, d, other)
	same(t, "newest first, then by export and daemon", letters(w.tenant, "", 10), []event.Letter{b, d, c, a})
	same(t, "of one daemon", letters(w.tenant, "indexer", 10), []event.Letter{c, a})
	same(t, "the newest", letters(w.tenant, "", 1), []event.Letter{b})
	same(t, "unknown daemon", letters(w.tenant, "nobody", 10), []event.Letter(nil))
	same(t, "other tenant", letters("zoo", "", 10), []event.Letter{other})
	again := a
	again.Error, again.Tries, again.At = "again", 9, noon.Add(time.Hour)
	put(again)
	same(t, "one that is there stays", letters(w.tenant, "indexer", 10), []event.Letter{c, a})
}
