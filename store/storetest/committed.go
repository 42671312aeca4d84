package storetest

import (
	"errors"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// writeCommitted writes, changes and deletes a row of every table that a turn commit and what follows
// it write to.
func (w *world) writeCommitted(tx store.Tx, info turn.SessionInfo, now time.Time) error {
	ctx := w.ctx()
	kept, gone := w.remembered(info.Segment, "kept of everything", 5), w.remembered(info.Segment, "gone", 5)
	_, insert := tx.Memory().InsertItems(ctx, []memory.Row{kept, gone})
	_, remove := tx.Memory().DeleteItems(ctx, info.Tenant, []string{gone.ID})
	e := w.exported(info, 1, 1)
	d := w.deferred(e.ID, "memory", now)
	return errors.Join(insert, remove,
		tx.Cortex().InsertVersion(ctx, info.Tenant, info.Segment, intend("every-"+kept.ID, 1, 1, true)),
		tx.Scratch().PutObservation(ctx, info.Tenant, info.Segment, noticed("every-"+kept.ID, scratch.Active)),
		tx.Memory().ArchiveItems(ctx, info.Tenant, []string{kept.ID}, now),
		tx.Memory().PutDigest(ctx, info.Tenant, info.Segment, memory.DigestRow{ThroughSeq: 1, Doc: `{}`, At: now}),
		tx.Outbox().InsertExport(ctx, e),
		tx.Outbox().SetExportStatus(ctx, info.Tenant, e.ID, "complete_with_errors"),
		tx.Outbox().PutDeferral(ctx, d),
		tx.Outbox().DeleteDeferral(ctx, info.Tenant, e.ID, "memory"),
		tx.Outbox().PutDeferral(ctx, d),
		tx.Outbox().InsertEvent(ctx, event.Event{ID: w.newID(), Tenant: info.Tenant, Session: info.Session, Kind: event.SessionEnded, Data: `{}`, At: now}),
		tx.Outbox().PlaceEvents(ctx, info.Tenant),
		tx.Outbox().PutMark(ctx, event.Mark{Daemon: "every-" + kept.ID, Through: 1}),
		tx.Outbox().InsertLetter(ctx, event.Letter{Tenant: info.Tenant, Daemon: "d", ExportID: e.ID, Session: info.Session, TurnID: e.TurnID, Tries: 1, Error: "no", At: now}),
		tx.Trace().InsertParts(ctx, info.Tenant, trace.Part{TurnID: e.TurnID, Segment: info.Segment, ID: w.newID(), At: now, Body: `{}`}),
	)
}

// committedWrites are all methods that write what turn commits do, by name.
func (w *world) committedWrites(k turn.Key, segment int64) map[string]func(store.Tx) error {
	ctx := w.ctx()
	return map[string]func(store.Tx) error{
		"InsertVersion": func(tx store.Tx) error {
			return tx.Cortex().InsertVersion(ctx, k.Tenant, segment, intend("g", 1, 1, true))
		},
		"SetReminder": func(tx store.Tx) error { return tx.Cortex().SetReminder(ctx, k.Tenant, segment, "a", noon) },
		"PutObservation": func(tx store.Tx) error {
			return tx.Scratch().PutObservation(ctx, k.Tenant, segment, noticed("o", scratch.Active))
		},
		"ExpiredObservations": func(tx store.Tx) error { return second(tx.Scratch().ExpiredObservations(ctx, noon, 1)) },
		"SweepObservations":   func(tx store.Tx) error { return second(tx.Scratch().SweepObservations(ctx, noon, 1)) },
		"InsertItems": func(tx store.Tx) error {
			_, err := tx.Memory().InsertItems(ctx, []memory.Row{w.remembered(segment, "x", 1)})
			return err
		},
		"ArchiveItems": func(tx store.Tx) error { return tx.Memory().ArchiveItems(ctx, k.Tenant, []string{"i"}, noon) },
		"DeleteItems": func(tx store.Tx) error {
			_, err := tx.Memory().DeleteItems(ctx, k.Tenant, []string{"i"})
			return err
		},
		"SweepItems": func(tx store.Tx) error { return second(tx.Memory().SweepItems(ctx, noon, 1)) },
		"PutDigest": func(tx store.Tx) error {
			return tx.Memory().PutDigest(ctx, k.Tenant, segment, memory.DigestRow{Doc: `{}`, At: noon})
		},
		"InsertExport": func(tx store.Tx) error {
			return tx.Outbox().InsertExport(ctx, w.exported(turn.SessionInfo{Key: k, Segment: segment}, 1, 1))
		},
		"SetExportStatus": func(tx store.Tx) error { return tx.Outbox().SetExportStatus(ctx, k.Tenant, "e", "failed") },
		"SweepExports":    func(tx store.Tx) error { return second(tx.Outbox().SweepExports(ctx, noon, 1)) },
		"PutDeferral":     func(tx store.Tx) error { return tx.Outbox().PutDeferral(ctx, w.deferred("e", "t", noon)) },
		"DeleteDeferral":  func(tx store.Tx) error { return tx.Outbox().DeleteDeferral(ctx, k.Tenant, "e", "t") },
		"SweepDeferrals":  func(tx store.Tx) error { return second(tx.Outbox().SweepDeferrals(ctx, noon, 1)) },
		"InsertEvent": func(tx store.Tx) error {
			return tx.Outbox().InsertEvent(ctx, event.Event{ID: "e", Tenant: k.Tenant, At: noon})
		},
		"PlaceEvents": func(tx store.Tx) error { return tx.Outbox().PlaceEvents(ctx, k.Tenant) },
		"SweepEvents": func(tx store.Tx) error { return second(tx.Outbox().SweepEvents(ctx, k.Tenant, noon, 1)) },
		"PutMark":     func(tx store.Tx) error { return tx.Outbox().PutMark(ctx, event.Mark{Daemon: "d"}) },
		"DeleteMark":  func(tx store.Tx) error { return tx.Outbox().DeleteMark(ctx, "d") },
		"InsertLetter": func(tx store.Tx) error {
			return tx.Outbox().InsertLetter(ctx, event.Letter{Tenant: k.Tenant, At: noon})
		},
		"SweepLetters": func(tx store.Tx) error { return second(tx.Outbox().SweepLetters(ctx, k.Tenant, noon, 1)) },
		"InsertParts":  func(tx store.Tx) error { return tx.Trace().InsertParts(ctx, k.Tenant, trace.Part{At: noon}) },
		"SweepParts":   func(tx store.Tx) error { return second(tx.Trace().SweepParts(ctx, noon, 1)) },
		"Savepoint":    func(tx store.Tx) error { return tx.Savepoint(ctx, func() error { return nil }) },
	}
}

// committedReads are all methods that read it, by name.
func (w *world) committedReads(k turn.Key, along []turn.Span) map[string]func(store.Tx) error {
	ctx, segment := w.ctx(), along[0].Segment
	return map[string]func(store.Tx) error{
		"Newest":       func(tx store.Tx) error { return second(tx.Cortex().Newest(ctx, k.Tenant, along, true)) },
		"Versions":     func(tx store.Tx) error { return second(tx.Cortex().Versions(ctx, k.Tenant, along, "goal", "g")) },
		"DueReminders": func(tx store.Tx) error { return second(tx.Cortex().DueReminders(ctx, noon, 1)) },
		"Observation":  func(tx store.Tx) error { return third(tx.Scratch().Observation(ctx, k.Tenant, segment, "o")) },
		"Observations": func(tx store.Tx) error { return second(tx.Scratch().Observations(ctx, k.Tenant, segment, noon, true)) },
		"Item":         func(tx store.Tx) error { return second(tx.Memory().Item(ctx, k.Tenant, "i")) },
		"ItemsByID":    func(tx store.Tx) error { return second(tx.Memory().ItemsByID(ctx, k.Tenant, []string{"i"})) },
		"Items": func(tx store.Tx) error {
			return second(tx.Memory().Items(ctx, memory.Filter{Tenant: k.Tenant, Limit: 1}))
		},
		"LiveItems":      func(tx store.Tx) error { return second(tx.Memory().LiveItems(ctx, k.Tenant, segment, noon)) },
		"Digest":         func(tx store.Tx) error { return third(tx.Memory().Digest(ctx, k.Tenant, segment)) },
		"Export":         func(tx store.Tx) error { return second(tx.Outbox().Export(ctx, k.Tenant, "e")) },
		"ExportsOf":      func(tx store.Tx) error { return second(tx.Outbox().ExportsOf(ctx, k.Tenant, "t")) },
		"Published":      func(tx store.Tx) error { return second(tx.Outbox().Published(ctx, 0, 1)) },
		"PublishedOf":    func(tx store.Tx) error { return second(tx.Outbox().PublishedOf(ctx, k.Tenant, 0, 1)) },
		"SweptThrough":   func(tx store.Tx) error { return second(tx.Outbox().SweptThrough(ctx)) },
		"LastPublished":  func(tx store.Tx) error { return second(tx.Outbox().LastPublished(ctx)) },
		"Deferral":       func(tx store.Tx) error { return third(tx.Outbox().Deferral(ctx, k.Tenant, "e", "t")) },
		"Deferrals":      func(tx store.Tx) error { return second(tx.Outbox().Deferrals(ctx, k.Tenant)) },
		"CountDeferrals": func(tx store.Tx) error { return second(tx.Outbox().CountDeferrals(ctx)) },
		"DueDeferrals":   func(tx store.Tx) error { return second(tx.Outbox().DueDeferrals(ctx, noon, 1)) },
		"Events":         func(tx store.Tx) error { return second(tx.Outbox().Events(ctx, k.Tenant, "", 0, 1)) },
		"LastPlace":      func(tx store.Tx) error { return second(tx.Outbox().LastPlace(ctx, k.Tenant)) },
		"Mark":           func(tx store.Tx) error { return third(tx.Outbox().Mark(ctx, "d")) },
		"Marks":          func(tx store.Tx) error { return second(tx.Outbox().Marks(ctx)) },
		"Letters":        func(tx store.Tx) error { return second(tx.Outbox().Letters(ctx, k.Tenant, "", 1)) },
		"Parts":          func(tx store.Tx) error { return second(tx.Trace().Parts(ctx, k.Tenant, "t")) },
		"PartsOf":        func(tx store.Tx) error { return second(tx.Trace().PartsOf(ctx, k.Tenant, segment)) },
	}
}

func second[V any](_ V, err error) error { return err }

func third[V any](_ V, _ bool, err error) error { return err }
