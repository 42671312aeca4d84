package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// testExactRows reads strange texts and times back from every table that commits write.
func testExactRows(t *testing.T, w *world) {
	info := w.create(w.key("strange"))
	spans := []turn.Span{{Segment: info.Segment, From: 1, To: 9}}
	times := []time.Time{
		noon, time.UnixMicro(1).UTC(), time.UnixMicro(-1).UTC(), time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC),
	}
	var found []memory.Row // with the words to find them by
	n := 0
	for name, text := range strangeTexts {
		at := times[n%len(times)]
		n++
		item := w.remembered(info.Segment, text, int64(n))
		item.Data, item.About, item.Session, item.User, item.Type = text, `{"note":"`+name+`"}`, name, name, memory.Type(name)
		item.Created, item.Expires, item.Archived = at, time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), at
		if len(words.Set(text)) > 0 {
			found = append(found, item)
		}
		goal := cortex.Row{Kind: cortex.KindGoal, ID: name, Version: 1, Live: true, Doc: text, Change: text, At: at}
		note := scratch.Row{ID: name, Type: name, Status: scratch.Active, Doc: text, At: at, Expires: times[4]}
		digest := memory.DigestRow{ThroughSeq: 1 << 50, Doc: text, At: at}
		e := w.exported(info, 1, 1<<50)
		e.Body, e.Status, e.At = text, name, at
		d := event.Deferral{Tenant: w.tenant, Session: name, ExportID: e.ID, Target: name, Payload: text, Tries: 1 << 30, Next: at, Error: text, At: at, Escalated: at}
		l := event.Letter{Tenant: w.tenant, Daemon: name, ExportID: e.ID, Session: name, TurnID: e.TurnID, Tries: 1 << 30, Error: text, At: at}
		part := trace.Part{TurnID: e.TurnID, Segment: info.Segment, ID: w.newID(), At: at, Body: text}
		happened := event.Event{ID: w.newID(), Tenant: w.tenant, Session: name, Kind: event.Kind(name), TurnID: name, Data: text, At: at}
		w.update(func(tx store.Tx) error {
			_, insert := tx.Memory().InsertItems(w.ctx(), []memory.Row{item})
			return errors.Join(insert,
				tx.Cortex().InsertVersion(w.ctx(), w.tenant, info.Segment, goal),
				tx.Scratch().PutObservation(w.ctx(), w.tenant, info.Segment, note),
				tx.Memory().PutDigest(w.ctx(), w.tenant, info.Segment, digest),
				tx.Outbox().InsertExport(w.ctx(), e), tx.Outbox().PutDeferral(w.ctx(), d), tx.Outbox().InsertLetter(w.ctx(), l),
				tx.Outbox().InsertEvent(w.ctx(), happened), tx.Trace().InsertParts(w.ctx(), w.tenant, part),
			)
		})
		w.view(func(tx store.Tx) error {
			gotItem, err1 := tx.Memory().Item(w.ctx(), w.tenant, item.ID)
			gotNote, _, err2 := tx.Scratch().Observation(w.ctx(), w.tenant, info.Segment, name)
			gotDigest, _, err3 := tx.Memory().Digest(w.ctx(), w.tenant, info.Segment)
			gotExport, err4 := tx.Outbox().Export(w.ctx(), w.tenant, e.ID)
			gotDeferral, _, err5 := tx.Outbox().Deferral(w.ctx(), w.tenant, e.ID, name)
			letters, err6 := tx.Outbox().Letters(w.ctx(), w.tenant, name, 9)
			events, err7 := tx.Outbox().Events(w.ctx(), w.tenant, name, 0, 9)
			same(t, "item of "+name, gotItem, item)
			same(t, "observation of "+name, gotNote, note)
			same(t, "digest of "+name, gotDigest, digest)
			same(t, "export of "+name, gotExport, e)
			same(t, "deferral of "+name, gotDeferral, d)
			same(t, "letters of "+name, letters, []event.Letter{l})
			same(t, "events of "+name, events, []event.Event{happened})
			return errors.Join(err1, err2, err3, err4, err5, err6, err7)
		})
		same(t, "goal of "+name, w.versions(w.tenant, spans, cortex.KindGoal, name), []cortex.Row{goal})
		same(t, "trace of "+name, w.parts(w.tenant, e.TurnID), []trace.Part{part})
	}
	for _, state := range []string{"before", "after"} {
		for _, item := range found {
			terms := words.Set(item.Text)
			hits := w.items(memory.Filter{Tenant: w.tenant, Terms: terms[:min(len(terms), 5)], Archived: true, Limit: 100, Now: noon})
			if !slices.ContainsFunc(hits, func(hit memory.Row) bool { return hit.ID == item.ID }) {
				t.Errorf("%s indexing, %.40q is not found by its words %q", state, item.Text, terms[:min(len(terms), 5)])
			}
		}
		w.indexText()
	}
}
