package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testReadOnly(t *testing.T, w *world, k turn.Key) {
	before := w.dump()
	ctx, segment := w.ctx(), w.session(k).Segment
	said := turn.Turn{ID: w.newID(), Seq: 99, Role: turn.User, Form: turn.FormText, Kind: turn.KindTurn, Content: turn.Text{Text: "x"}, CreatedAt: noon}
	for name, write := range map[string]func(turn.Rows, dialogue.Rows) error{
		"InsertSession": func(r turn.Rows, _ dialogue.Rows) error {
			_, err := r.InsertSession(ctx, blank(w.key("new"), noon))
			return err
		},
		"LockSession": func(r turn.Rows, _ dialogue.Rows) error {
			_, err := r.LockSession(ctx, k)
			return err
		},
		"LockLease": func(r turn.Rows, _ dialogue.Rows) error {
			_, err := r.LockLease(ctx, k)
			return err
		},
		"UpdateSession": func(r turn.Rows, _ dialogue.Rows) error { return r.UpdateSession(ctx, blank(k, noon)) },
		"Advance":       func(r turn.Rows, _ dialogue.Rows) error { return r.Advance(ctx, k, 99, noon) },
		"InsertBookmark": func(r turn.Rows, _ dialogue.Rows) error {
			return r.InsertBookmark(ctx, k, turn.Bookmark{Name: "b", At: noon})
		},
		"SetLease": func(r turn.Rows, _ dialogue.Rows) error {
			return r.SetLease(ctx, k, turn.Lease{Token: "t", Until: noon})
		},
		"InsertTurns": func(r turn.Rows, _ dialogue.Rows) error {
			return r.InsertTurns(ctx, k.Tenant, segment, turn.Row{Turn: said, Encoded: turn.EncodedAs(`{"text":"x"}`)})
		},
		"InsertOpenCall": func(r turn.Rows, _ dialogue.Rows) error {
			return r.InsertOpenCall(ctx, k.Tenant, segment, turn.OpenCall{ID: "c", Name: "n", Unit: 1})
		},
		"DeleteOpenCall": func(r turn.Rows, _ dialogue.Rows) error {
			_, err := r.DeleteOpenCall(ctx, k.Tenant, segment, "open")
			return err
		},
		"InsertCompletedFlow": func(r turn.Rows, _ dialogue.Rows) error {
			return r.InsertCompletedFlow(ctx, k.Tenant, segment, "f", 1)
		},
		"PutBlob": func(r turn.Rows, _ dialogue.Rows) error {
			return r.PutBlob(ctx, k.Tenant, turn.Blob{SHA256: "00", Size: 1, Data: []byte{1}}, noon, segment, 1)
		},
		"SweepBlobs": func(r turn.Rows, _ dialogue.Rows) error {
			_, err := r.SweepBlobs(ctx, noon, nil)
			return err
		},
		"InsertRevision": func(_ turn.Rows, r dialogue.Rows) error {
			return r.InsertRevision(ctx, k.Tenant, segment, dialogue.RevisionRow{Number: 9, State: `{"stack":[]}`, At: noon})
		},
		"InsertFlowTurns": func(_ turn.Rows, r dialogue.Rows) error {
			return r.InsertFlowTurns(ctx, k.Tenant, segment, 1, []dialogue.Pointer{{FlowID: "g", TurnID: "t"}})
		},
	} {
		err := w.View(ctx, func(tx store.Tx) error { return write(tx.Log(), tx.Dialogue()) })
		is(t, name, err, store.ErrReadOnly)
	}
	for _, writes := range []map[string]func(store.Tx) error{w.committedWrites(k, segment), w.promptWrites(k, segment), w.compressWrites(k, segment), w.exchangeWrites(k), w.servedWrites(k)} {
		for name, write := range writes {
			is(t, name, w.View(ctx, write), store.ErrReadOnly)
		}
	}
	same(t, "rows", w.dump(), before)
}

func testEnded(t *testing.T, w *world, k turn.Key) {
	before := w.dump()
	along := []turn.Span{{Segment: w.session(k).Segment, From: 1, To: 9}}
	for name, begin := range map[string]func(func(store.Tx) error){"view": w.view, "update": w.update} {
		var kept store.Tx
		begin(func(tx store.Tx) error {
			kept = tx
			return nil
		})
		if _, err := kept.Log().Session(w.ctx(), k); err == nil {
			t.Errorf("%s: a session was read after its end", name)
		}
		if err := kept.Log().Advance(w.ctx(), k, 99, noon); err == nil {
			t.Errorf("%s: a session was written after its end", name)
		}
		if _, err := kept.Dialogue().RevisionAt(w.ctx(), k.Tenant, along, 9); err == nil || errors.Is(err, dialogue.ErrNotFound) {
			t.Errorf("%s: a revision was looked for after its end: %v", name, err)
		}
		var last error
		for _, err := range kept.Dialogue().Revisions(w.ctx(), k.Tenant, along) {
			last = err
		}
		if last == nil {
			t.Errorf("%s: revisions were read after its end", name)
		}
		last = nil
		for _, err := range kept.Dialogue().Pointers(w.ctx(), k.Tenant, along) {
			last = err
		}
		if last == nil {
			t.Errorf("%s: pointers were read after its end", name)
		}
		for _, calls := range []map[string]func(store.Tx) error{
			w.committedWrites(k, along[0].Segment), w.promptWrites(k, along[0].Segment), w.compressWrites(k, along[0].Segment),
			w.committedReads(k, along), w.promptReads(k, along), w.compressReads(k, along), w.exchangeWrites(k), w.exchangeReads(k),
			w.servedWrites(k), w.servedReads(k),
		} {
			for what, call := range calls {
				if err := call(kept); err == nil || missing(err) {
					t.Errorf("%s: %s was called after its end: %v", name, what, err)
				}
			}
		}
	}
	same(t, "rows", w.dump(), before)
}

// missing reports whether an error says that something was looked for and is not there.
func missing(err error) bool {
	return slices.ContainsFunc([]error{
		memory.ErrNotFound, event.ErrNotFound, prompt.ErrNotFound, compress.ErrNotFound, snapshot.ErrNotFound, access.ErrUnknownKey,
	}, func(sentinel error) bool { return errors.Is(err, sentinel) })
}
