package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// writePrompts writes a row of every table that compiling a prompt writes to, and changes those that change.
func (w *world) writePrompts(tx store.Tx, info turn.SessionInfo) error {
	ctx, n := w.ctx(), int64(w.ids.Add(1))
	text := fmt.Sprintf("material %d", n)
	return errors.Join(
		tx.Prompt().InsertEpoch(ctx, info.Tenant, info.Segment, opened(n, 1)),
		tx.Prompt().InsertCall(ctx, info.Tenant, info.Segment, compiled(n, 1, n)),
		tx.Prompt().InsertPin(ctx, info.Tenant, info.Segment, pin(n, 1, 1, true)),
		tx.Prompt().PutMaterial(ctx, info.Tenant, hashOf(text), text, noon),
		tx.Budget().PutCalibration(ctx, info.Tenant, learned(text, `{}`)),
		tx.Budget().PutCalibration(ctx, info.Tenant, learned(text, `{"again":true}`)),
	)
}

// promptWrites are all methods that write what prompts need, by name.
func (w *world) promptWrites(k turn.Key, segment int64) map[string]func(store.Tx) error {
	ctx := w.ctx()
	return map[string]func(store.Tx) error{
		"InsertEpoch":    func(tx store.Tx) error { return tx.Prompt().InsertEpoch(ctx, k.Tenant, segment, opened(1, 1)) },
		"InsertCall":     func(tx store.Tx) error { return tx.Prompt().InsertCall(ctx, k.Tenant, segment, compiled(1, 1, 1)) },
		"InsertPin":      func(tx store.Tx) error { return tx.Prompt().InsertPin(ctx, k.Tenant, segment, pin(1, 1, 1, true)) },
		"PutMaterial":    func(tx store.Tx) error { return tx.Prompt().PutMaterial(ctx, k.Tenant, hashOf("x"), "x", noon) },
		"PutCalibration": func(tx store.Tx) error { return tx.Budget().PutCalibration(ctx, k.Tenant, learned("m", `{}`)) },
	}
}

// promptReads are all methods that read it, by name.
func (w *world) promptReads(k turn.Key, along []turn.Span) map[string]func(store.Tx) error {
	ctx := w.ctx()
	return map[string]func(store.Tx) error{
		"LastEpoch":    func(tx store.Tx) error { return second(tx.Prompt().LastEpoch(ctx, k.Tenant, along)) },
		"Epoch":        func(tx store.Tx) error { return second(tx.Prompt().Epoch(ctx, k.Tenant, along, 1)) },
		"Epochs":       func(tx store.Tx) error { return second(tx.Prompt().Epochs(ctx, k.Tenant, along, 0, 1)) },
		"LastCall":     func(tx store.Tx) error { return second(tx.Prompt().LastCall(ctx, k.Tenant, along, 9)) },
		"Calls":        func(tx store.Tx) error { return second(tx.Prompt().Calls(ctx, k.Tenant, along, 0, 1)) },
		"Pins":         func(tx store.Tx) error { return second(tx.Prompt().Pins(ctx, k.Tenant, along)) },
		"Material":     func(tx store.Tx) error { return second(tx.Prompt().Material(ctx, k.Tenant, hashOf("x"))) },
		"Calibration":  func(tx store.Tx) error { return third(tx.Budget().Calibration(ctx, k.Tenant, "m")) },
		"Calibrations": func(tx store.Tx) error { return second(tx.Budget().Calibrations(ctx, k.Tenant)) },
	}
}

// testExactPrompts reads strange texts, times and numbers back from every table that prompts need.
func testExactPrompts(t *testing.T, w *world) {
	info := w.create(w.key("strange"))
	spans := []turn.Span{{Segment: info.Segment, To: 1<<63 - 1}}
	times := []time.Time{noon, time.UnixMicro(-1).UTC(), time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)}
	n := int64(0)
	for name, text := range strangeTexts {
		n++
		at, number := times[n%int64(len(times))], n<<50
		e := prompt.EpochRow{Number: number, AfterSeq: 1 << 60, Doc: text, At: at}
		c := prompt.CallRow{Number: number, End: number, Epoch: 1 << 60, Doc: text, SHA256: name, At: at}
		p := prompt.PinRow{Number: number, AfterSeq: 1 << 60, Seq: 1 << 59, Pinned: n%2 == 0, At: at}
		m := budget.CalibrationRow{Model: name, Doc: text, At: at}
		w.update(func(tx store.Tx) error {
			return errors.Join(
				tx.Prompt().InsertEpoch(w.ctx(), w.tenant, info.Segment, e), tx.Prompt().InsertCall(w.ctx(), w.tenant, info.Segment, c),
				tx.Prompt().InsertPin(w.ctx(), w.tenant, info.Segment, p), tx.Prompt().PutMaterial(w.ctx(), w.tenant, name, text, at),
				tx.Budget().PutCalibration(w.ctx(), w.tenant, m))
		})
		w.view(func(tx store.Tx) error {
			gotEpoch, err1 := tx.Prompt().LastEpoch(w.ctx(), w.tenant, spans)
			gotCall, err2 := tx.Prompt().LastCall(w.ctx(), w.tenant, spans, 1<<63-1)
			pins, err3 := tx.Prompt().Pins(w.ctx(), w.tenant, spans)
			gotText, err4 := tx.Prompt().Material(w.ctx(), w.tenant, name)
			gotModel, _, err5 := tx.Budget().Calibration(w.ctx(), w.tenant, name)
			same(t, "epoch of "+name, gotEpoch, e)
			same(t, "call of "+name, gotCall, c)
			same(t, "pin of "+name, pins[len(pins)-1], p)
			same(t, "material of "+name, gotText, text)
			same(t, "calibration of "+name, gotModel, m)
			return errors.Join(err1, err2, err3, err4, err5)
		})
	}
}
