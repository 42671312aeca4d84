package storetest

import (
	"testing"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// testLimits asks for none, and for less: databases think differently about a limit below 0.
func testLimits(t *testing.T, open opener) {
	w := newWorld(t, open)
	s := w.create(w.key("s"))
	w.append(s.Key, turn.Draft{Role: turn.User, Content: turn.Text{Text: "alpha"}})
	w.indexText()
	s = w.session(s.Key)
	w.export(w.exported(s, 1, 1))
	w.publish(1)
	w.putOff(w.deferred(w.newID(), "memory", noon))
	w.update(func(tx store.Tx) error {
		return tx.Outbox().InsertLetter(w.ctx(), event.Letter{Tenant: w.tenant, Daemon: "d", ExportID: w.newID(), Session: "s", TurnID: w.newID(), At: noon})
	})
	span := turn.Span{Segment: s.Segment, From: 1, To: 1}
	for name, ask := range map[string]func(tx store.Tx, limit int) (int, error){
		"sessions": func(tx store.Tx, limit int) (int, error) {
			return counted(tx.Log().Sessions(w.ctx(), turn.SessionFilter{Tenant: w.tenant, Limit: limit}))
		},
		"turns": func(tx store.Tx, limit int) (int, error) {
			return counted(tx.Log().Scan(w.ctx(), w.tenant, span, turn.RowFilter{}, limit))
		},
		"text": func(tx store.Tx, limit int) (int, error) {
			return counted(tx.Log().TextHits(w.ctx(), w.tenant, span, words.Terms("alpha"), turn.RowFilter{}, limit))
		},
		"published": func(tx store.Tx, limit int) (int, error) { return counted(tx.Outbox().Published(w.ctx(), 0, limit)) },
		"published of": func(tx store.Tx, limit int) (int, error) {
			return counted(tx.Outbox().PublishedOf(w.ctx(), w.tenant, 0, limit))
		},
		"deferrals": func(tx store.Tx, limit int) (int, error) {
			return counted(tx.Outbox().DueDeferrals(w.ctx(), noon, limit))
		},
		"letters": func(tx store.Tx, limit int) (int, error) {
			return counted(tx.Outbox().Letters(w.ctx(), w.tenant, "", limit))
		},
		"letters of": func(tx store.Tx, limit int) (int, error) {
			return counted(tx.Outbox().Letters(w.ctx(), w.tenant, "d", limit))
		},
	} {
		w.run(name, func(t *testing.T) {
			for limit, want := range map[int]int{1: 1, 0: 0, -1: 0} {
				if limit == 1 && name == "text" {
					continue // not every store has an index
				}
				var n int
				err := w.View(w.ctx(), func(tx store.Tx) (err error) {
					n, err = ask(tx, limit)
					return err
				})
				if err != nil || n != want {
					t.Errorf("up to %d: %d, %v", limit, n, err)
				}
			}
		})
	}
}

func counted[R any](rows []R, err error) (int, error) { return len(rows), err }
