package storetest

import (
	"errors"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// fill writes every kind of row, the same ones at the same times on every store.
func fill(w *world) {
	w.Helper()
	other := turn.Key{Tenant: "zoo", Session: "other"}
	step := 0
	do := func(fn func(tx store.Tx, now time.Time) error) {
		w.Helper()
		step++
		now := noon.Add(time.Duration(step) * time.Millisecond)
		w.update(func(tx store.Tx) error { return fn(tx, now) })
	}
	begin := func(info turn.SessionInfo) {
		w.Helper()
		do(func(tx store.Tx, now time.Time) error {
			info.Status, info.CreatedAt, info.LastActivity = turn.Active, now, now
			segment, err := tx.Log().InsertSession(w.ctx(), info)
			if err != nil {
				return err
			}
			_, err = dialogue.Start(w.ctx(), tx.Dialogue(), info.Tenant, segment, now)
			return err
		})
	}
	say := func(k turn.Key, drafts ...turn.Draft) {
		w.Helper()
		sealed, err := w.seal(drafts...)
		if err != nil {
			w.Fatal(err)
		}
		do(func(tx store.Tx, now time.Time) error {
			_, err := turn.Append(w.ctx(), tx.Log(), k, now, sealed...)
			return err
		})
	}
	begin(turn.SessionInfo{Key: w.key("zeta"), User: "ana", Title: "Über 東京", Model: "m-1", Mode: "chat"})
	begin(turn.SessionInfo{Key: w.key("alpha"), Files: `["/kept/default/alpha.bundle"]`})
	begin(turn.SessionInfo{Key: other})
	say(w.key("zeta"), said(turn.User, "hello"), called("c2", "c1"), returned("c1"), returned("c2"), said(turn.Agent, "there"))
	say(w.key("zeta"), turn.Draft{
		Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: "so far"}, Covers: turn.Range{From: 1, To: 5},
		MessageID: "m", IdempotencyKey: "once", Meta: turn.Meta{Tokens: 7, Model: "m-1", Latency: 1234 * time.Microsecond},
	})
	say(w.key("alpha"), picture(turn.Blob{Data: []byte{0, 1, 0xff}}), picture(turn.Blob{Data: []byte{0, 1, 0xff}}), called("z", "m", "a"), returned("m"))
	say(other, picture(turn.Blob{Data: []byte{0, 1, 0xff}}), said(turn.User, "only here"))
	do(func(tx store.Tx, now time.Time) error {
		_, err := turn.Fork(w.ctx(), tx.Log(), w.key("zeta"), 4, turn.SessionInfo{Key: w.key("mid")}, now)
		return err
	})
	say(w.key("mid"), said(turn.User, "another way"))
	do(func(tx store.Tx, now time.Time) error {
		child, err := turn.Fork(w.ctx(), tx.Log(), w.key("mid"), 5, turn.SessionInfo{Key: w.key("leaf")}, now)
		if err != nil {
			return err
		}
		ptrs := []dialogue.Pointer{{FlowID: "f", TurnID: "t2"}, {FlowID: "f", TurnID: "t1"}, {FlowID: "a", TurnID: "t2"}}
		return errors.Join(
			tx.Log().InsertBookmark(w.ctx(), w.key("zeta"), turn.Bookmark{Name: "start", Seq: 1, At: now}),
			tx.Log().InsertBookmark(w.ctx(), w.key("zeta"), turn.Bookmark{Name: "Ende", Seq: 5, At: now}),
			tx.Log().SetLease(w.ctx(), w.key("alpha"), turn.Lease{Token: "token", Until: now.Add(turn.LeaseTime)}),
			tx.Log().InsertCompletedFlow(w.ctx(), child.Tenant, child.Segment, "zf", 5),
			tx.Log().InsertCompletedFlow(w.ctx(), child.Tenant, child.Segment, "af", 5),
			tx.Dialogue().InsertRevision(w.ctx(), child.Tenant, child.Segment, dialogue.RevisionRow{Number: 1, AfterSeq: 5, State: `{"stack":[]}`, At: now}),
			tx.Dialogue().InsertFlowTurns(w.ctx(), child.Tenant, child.Segment, 5, ptrs),
		)
	})
	fillCommitted(w)
	fillPrompts(w)
	fillCompressed(w)
	fillExchanges(w)
	fillServed(w)
}

// fillCommitted adds what commits of the exchanges leave, and what follows them.
func fillCommitted(w *world) {
	w.Helper()
	zeta, leaf, other := w.session(w.key("zeta")), w.session(w.key("leaf")), w.session(turn.Key{Tenant: "zoo", Session: "other"})
	hello, only := w.log(zeta.Key)[0].ID, w.log(other.Key)[0].ID

	action := intend("call", 1, 5, true)
	action.Kind = cortex.KindAction
	w.intend(zeta.Tenant, zeta.Segment, intend("trip", 1, 0, true), intend("trip", 2, 5, false), action)
	w.intend(leaf.Tenant, leaf.Segment, intend("trip", 2, 5, true), intend("Zoo", 1, 5, true))
	w.intend(other.Tenant, other.Segment, intend("trip", 1, 2, true))
	w.notice(zeta.Tenant, zeta.Segment, noticed("b", scratch.Archived), noticed("a", scratch.Active))

	fact, result, theirs := w.remembered(zeta.Segment, "Ana flies to 東京", 1_000_000), w.remembered(zeta.Segment, "a result", 512_345), w.remembered(other.Segment, "only here", 0)
	fact.Session, fact.Type, fact.About = zeta.Session, memory.UserData, `{"tags":["Trip"]}`
	result.Session, result.Type, result.Data = zeta.Session, memory.ToolResult, "{ \"open\" : 9.0 }"
	result.Expires, result.Archived = noon.Add(30*24*time.Hour), noon.Add(time.Hour)
	theirs.Tenant, theirs.Session, theirs.User = other.Tenant, other.Session, ""
	w.remember(theirs, fact, result)

	// An export's id is not the order of its session.
	second, first, elsewhere := w.exported(zeta, 5, 6), w.exported(zeta, 1, 4), w.exported(other, 1, 2)
	first.TurnID, second.TurnID, elsewhere.TurnID = hello, w.log(zeta.Key)[4].ID, only
	first.Status, first.Body = "complete_with_errors", ""
	w.export(first)
	w.publish(1)
	w.export(elsewhere)
	w.publish(1)
	w.export(second)
	w.setBus("nats")

	waiting, given := w.deferred(first.ID, "memory", noon.Add(time.Second)), w.deferred(first.ID, "cortex", noon)
	waiting.Session, given.Session, given.Escalated = zeta.Session, zeta.Session, noon.Add(time.Hour)
	w.putOff(waiting, given)
	w.trace(zeta.Tenant, trace.Part{TurnID: hello, Segment: zeta.Segment, ID: w.newID(), At: noon, Body: `{"phase":"complete"}`},
		trace.Part{TurnID: hello, Segment: zeta.Segment, ID: w.newID(), At: noon.Add(time.Second), Body: `{"phase":"notify"}`})
	ctx, escalated, ended := w.ctx(), w.newID(), w.newID()
	w.update(func(tx store.Tx) error {
		return errors.Join(
			tx.Memory().PutDigest(ctx, zeta.Tenant, zeta.Segment, memory.DigestRow{ThroughSeq: 5, Doc: `{"topics":["東京"]}`, At: noon}),
			tx.Memory().PutDigest(ctx, other.Tenant, other.Segment, memory.DigestRow{Doc: `{}`, At: noon}),
			tx.Outbox().InsertEvent(ctx, event.Event{ID: escalated, Tenant: zeta.Tenant, Session: zeta.Session, Kind: event.CommitEscalated, TurnID: hello, Data: `{"target":"cortex"}`, At: noon}),
			tx.Outbox().InsertEvent(ctx, event.Event{ID: ended, Tenant: other.Tenant, Session: other.Session, Kind: event.SessionEnded, Data: `{}`, At: noon}),
			tx.Outbox().PutMark(ctx, event.Mark{Daemon: "indexer", Through: 1, Holder: "host-1", Until: noon}),
			tx.Outbox().PutMark(ctx, event.Mark{Daemon: "audit"}),
			tx.Outbox().InsertLetter(ctx, event.Letter{Tenant: zeta.Tenant, Daemon: "audit", ExportID: first.ID, Session: zeta.Session, TurnID: hello, Tries: 4, Error: "no", At: noon}),
		)
	})
}
