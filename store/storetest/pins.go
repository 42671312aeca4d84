package storetest

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func (w *world) pins(tenant string, spans []turn.Span) (rows []prompt.PinRow) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		rows, err = tx.Prompt().Pins(w.ctx(), tenant, spans)
		return err
	})
	return rows
}

func testPins(t *testing.T, w *world) {
	s := w.create(w.key("pins"))
	one, two, three := pin(1, 2, 1, true), pin(2, 4, 3, true), pin(3, 4, 1, false)

	w.run("all rows along the span are there, by number", func(t *testing.T) {
		same(t, "none", w.pins(s.Tenant, upTo(s.Segment, 9)), []prompt.PinRow(nil))
		w.pin(s, two, three, one)
		same(t, "all", w.pins(s.Tenant, upTo(s.Segment, 4)), []prompt.PinRow{one, two, three})
		same(t, "some", w.pins(s.Tenant, upTo(s.Segment, 3)), []prompt.PinRow{one})
		same(t, "no spans", w.pins(s.Tenant, nil), []prompt.PinRow(nil))
		same(t, "another tenant", w.pins("other", upTo(s.Segment, 9)), []prompt.PinRow(nil))
	})

	w.run("a number that the segment has is stale, and the update may go on", func(t *testing.T) {
		next := pin(4, 5, 5, true)
		w.update(func(tx store.Tx) error {
			is(t, "taken", tx.Prompt().InsertPin(w.ctx(), s.Tenant, s.Segment, pin(2, 5, 5, true)), prompt.ErrStale)
			return tx.Prompt().InsertPin(w.ctx(), s.Tenant, s.Segment, next)
		})
		same(t, "pins", w.pins(s.Tenant, upTo(s.Segment, 9)), []prompt.PinRow{one, two, three, next})
	})

	w.run("a fork has those of its parent up to the fork point, and its own", func(t *testing.T) {
		root, child := w.create(w.key("root")).Key, w.key("child")
		w.append(root, says(4)...)
		w.pin(w.session(root), one)
		w.fork(root, 3, child)
		w.append(child, says(1)...)
		w.pin(w.session(root), two, three)
		w.pin(w.session(child), pin(2, 4, 4, true))
		info := w.session(child)
		same(t, "of the fork", w.pins(root.Tenant, info.Spans(4)), []prompt.PinRow{one, pin(2, 4, 4, true)})
		whole := []turn.Span{{Segment: w.session(root).Segment, To: 9}, {Segment: info.Segment, To: 9}}
		same(t, "of both segments", w.pins(root.Tenant, whole), []prompt.PinRow{one, two, pin(2, 4, 4, true), three})
	})
}

func testMaterials(t *testing.T, w *world) {
	text := "You are kind."
	read := func(tenant, sha256 string) (text string, err error) {
		w.view(func(tx store.Tx) error {
			text, err = tx.Prompt().Material(w.ctx(), tenant, sha256)
			return none(err)
		})
		return text, err
	}
	put := func(tenant, sha256, text string, at time.Time) {
		w.update(func(tx store.Tx) error { return tx.Prompt().PutMaterial(w.ctx(), tenant, sha256, text, at) })
	}
	_, err := read(w.tenant, hashOf(text))
	is(t, "before it is there", err, prompt.ErrNotFound)
	put(w.tenant, hashOf(text), text, noon)
	put(w.tenant, hashOf(""), "", noon)
	for hash, want := range map[string]string{hashOf(text): text, hashOf(""): ""} {
		got, err := read(w.tenant, hash)
		if got != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	_, err = read("other", hashOf(text))
	is(t, "another tenant's", err, prompt.ErrNotFound)
	before := w.dump()
	put(w.tenant, hashOf(text), text, noon.Add(time.Hour))
	same(t, "rows after it was put again", w.dump(), before)
}

func testCalibrations(t *testing.T, w *world) {
	read := func(tenant, model string) (c budget.CalibrationRow, ok bool) {
		for _, begin := range []func(func(store.Tx) error){w.view, w.update} {
			begin(func(tx store.Tx) (err error) {
				c, ok, err = tx.Budget().Calibration(w.ctx(), tenant, model)
				return err
			})
		}
		return c, ok
	}
	list := func(tenant string) (rows []budget.CalibrationRow) {
		w.view(func(tx store.Tx) (err error) {
			rows, err = tx.Budget().Calibrations(w.ctx(), tenant)
			return err
		})
		return rows
	}
	put := func(rows ...budget.CalibrationRow) {
		w.update(func(tx store.Tx) error {
			for _, r := range rows {
				if err := tx.Budget().PutCalibration(w.ctx(), w.tenant, r); err != nil {
					return err
				}
			}
			return nil
		})
	}

	w.run("a model has none before it is written", func(t *testing.T) {
		if c, ok := read(w.tenant, "m"); ok || c != (budget.CalibrationRow{}) {
			t.Errorf("got %+v, %v", c, ok)
		}
		same(t, "all", list(w.tenant), []budget.CalibrationRow(nil))
	})

	w.run("the last one written is the model's", func(t *testing.T) {
		for i, doc := range []string{`{"factor":1.25}`, `{}`} {
			want := budget.CalibrationRow{Model: "m", Doc: doc, At: noon.Add(time.Duration(i) * time.Microsecond)}
			put(want)
			got, ok := read(w.tenant, "m")
			if !ok {
				t.Error("there is none")
			}
			same(t, "calibration", got, want)
		}
	})

	w.run("all are listed by the bytes of their names, each tenant's apart", func(t *testing.T) {
		put(learned("é", `{}`), learned("a", `{}`), learned("Z", `{}`))
		var names []string
		for _, c := range list(w.tenant) {
			names = append(names, c.Model)
		}
		same(t, "names", names, []string{"Z", "a", "m", "é"})
		same(t, "another tenant", list("other"), []budget.CalibrationRow(nil))
		if c, ok := read("other", "m"); ok {
			t.Errorf("another tenant has %+v", c)
		}
	})
}
