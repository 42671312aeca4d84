package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// opened makes an epoch; its document names it.
func opened(number, afterSeq int64) prompt.EpochRow {
	return prompt.EpochRow{
		Number: number, AfterSeq: afterSeq, Doc: fmt.Sprintf(`{"epoch":%d,"city":"東京"}`, number), At: noon.Add(time.Duration(number) * time.Microsecond),
	}
}

// compiled makes a call; its hash is that of its document.
func compiled(number, end, epoch int64) prompt.CallRow {
	doc := fmt.Sprintf(`{"call":%d,"city":"東京"}`, number)
	return prompt.CallRow{Number: number, End: end, Epoch: epoch, Doc: doc, SHA256: hashOf(doc), At: noon.Add(time.Duration(number) * time.Microsecond)}
}

func pin(number, afterSeq, seq int64, pinned bool) prompt.PinRow {
	return prompt.PinRow{Number: number, AfterSeq: afterSeq, Seq: seq, Pinned: pinned, At: noon.Add(time.Duration(number) * time.Microsecond)}
}

func learned(model, doc string) budget.CalibrationRow {
	return budget.CalibrationRow{Model: model, Doc: doc, At: noon}
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// openEpochs adds epochs.
func (w *world) openEpochs(s turn.SessionInfo, rows ...prompt.EpochRow) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for _, r := range rows {
			if err := tx.Prompt().InsertEpoch(w.ctx(), s.Tenant, s.Segment, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// compile adds calls.
func (w *world) compile(s turn.SessionInfo, rows ...prompt.CallRow) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for _, r := range rows {
			if err := tx.Prompt().InsertCall(w.ctx(), s.Tenant, s.Segment, r); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) pin(s turn.SessionInfo, rows ...prompt.PinRow) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for _, r := range rows {
			if err := tx.Prompt().InsertPin(w.ctx(), s.Tenant, s.Segment, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// fillPrompts adds what compiling prompts leaves.
func fillPrompts(w *world) {
	w.Helper()
	zeta, leaf, other := w.session(w.key("zeta")), w.session(w.key("leaf")), w.session(turn.Key{Tenant: "zoo", Session: "other"})
	w.openEpochs(zeta, opened(1, 0), opened(2, 5))
	w.openEpochs(leaf, opened(2, 5))
	w.openEpochs(other, opened(1, 0))
	w.compile(zeta, compiled(1, 1, 1), compiled(2, 6, 2), compiled(3, 5, 2), compiled(4, 6, 2))
	w.compile(leaf, compiled(2, 5, 2))
	w.compile(other, compiled(1, 2, 1))
	w.pin(zeta, pin(1, 5, 1, true), pin(2, 6, 1, false))
	w.pin(leaf, pin(1, 5, 5, true))
	ctx, text := w.ctx(), "You are kind.\n\t東京"
	w.update(func(tx store.Tx) error {
		return errors.Join(
			tx.Prompt().PutMaterial(ctx, zeta.Tenant, hashOf(text), text, noon),
			tx.Prompt().PutMaterial(ctx, zeta.Tenant, hashOf(""), "", noon.Add(time.Second)),
			tx.Prompt().PutMaterial(ctx, other.Tenant, hashOf(text), text, noon.Add(time.Second)),
			tx.Budget().PutCalibration(ctx, zeta.Tenant, learned("qwen3:8b", `{"factor":1.25}`)),
			tx.Budget().PutCalibration(ctx, zeta.Tenant, learned("Llama", `{}`)),
			tx.Budget().PutCalibration(ctx, other.Tenant, learned("qwen3:8b", `{}`)),
		)
	})
}
