package storetest

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

func (w *world) trace(tenant string, parts ...trace.Part) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		return tx.Trace().InsertParts(w.ctx(), tenant, parts...)
	})
}

func (w *world) parts(tenant, turnID string) (parts []trace.Part) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		parts, err = tx.Trace().Parts(w.ctx(), tenant, turnID)
		return err
	})
	return parts
}

func testTraces(t *testing.T, w *world) {
	one, two := w.create(w.key("one")).Segment, w.create(w.key("two")).Segment
	first, second := w.newID(), w.newID()
	for _, name := range []string{"one", "two"} {
		for _, id := range []string{first, second} {
			w.append(w.key(name), turn.Draft{ID: id, Role: turn.User, Content: turn.Text{Text: "traced"}})
		}
	}
	part := func(turnID string, segment int64) trace.Part {
		id := w.newID()
		return trace.Part{TurnID: turnID, Segment: segment, ID: id, At: noon.Add(time.Second), Body: `{"part":"` + id + ` 東京"}`}
	}
	a, b, c, copied, other := part(first, one), part(second, one), part(first, one), part(first, two), part(second, two)
	early := part(first, two)
	w.trace(w.tenant, other, c, copied, early, b, a)

	w.run("the parts of a turn come by segment and id", func(t *testing.T) {
		same(t, "first turn", w.parts(w.tenant, first), []trace.Part{a, c, copied, early})
		same(t, "second turn", w.parts(w.tenant, second), []trace.Part{b, other})
		same(t, "unknown turn", w.parts(w.tenant, w.newID()), []trace.Part(nil))
		same(t, "other tenant", w.parts("other", first), []trace.Part(nil))
	})

	w.run("the parts of a segment come by turn and id", func(t *testing.T) {
		of := func(tenant string, segment int64) (parts []trace.Part) {
			w.view(func(tx store.Tx) (err error) {
				parts, err = tx.Trace().PartsOf(w.ctx(), tenant, segment)
				return err
			})
			return parts
		}
		same(t, "one", of(w.tenant, one), []trace.Part{a, c, b})
		same(t, "two", of(w.tenant, two), []trace.Part{copied, early, other})
		same(t, "other tenant", of("other", one), []trace.Part(nil))
	})

	w.run("many parts are added at once, but for those that are there", func(t *testing.T) {
		third := w.newID()
		parts := make([]trace.Part, 37)
		for i := range parts {
			parts[i] = part(third, one)
		}
		w.trace(w.tenant, parts[20])
		w.trace(w.tenant, parts...)
		same(t, "parts", w.parts(w.tenant, third), parts)
	})

	w.run("a part that is there stays as it is", func(t *testing.T) {
		again := a
		again.Body, again.At, again.Segment = `{}`, noon, two
		fresh := a
		fresh.ID = w.newID()
		w.trace(w.tenant, again, fresh)
		same(t, "parts", w.parts(w.tenant, first), []trace.Part{a, c, fresh, copied, early})
	})
}
