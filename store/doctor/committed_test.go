package doctor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

var noon = time.Date(2024, 2, 29, 12, 0, 0, 123456000, time.UTC)

// commitTo adds what commits leave: session "a" has a goal of two versions, of which the fork "b"
// writes the third, and an exchange; the turns of b's exchange were put off.
func commitTo(ctx context.Context, st store.Store, opener string) error {
	goal := func(version int64) cortex.Row {
		g := cortex.Goal{ID: "g", Title: "Trip", Priority: cortex.PriorityMedium, Status: cortex.GoalActive, CreatedAt: noon, UpdatedAt: noon, Version: version}
		return cortex.Row{Kind: cortex.KindGoal, ID: "g", Version: version, AfterSeq: version, Live: true, Doc: string(g.AppendJSON(nil)), Change: `[]`, At: noon}
	}
	task := cortex.PendingAction{
		ID: "x", Type: cortex.AgentTask, Owner: cortex.OwnerAgent, Title: "Call", Status: cortex.ActionDone, CreatedAt: noon, UpdatedAt: noon, Version: 1,
	}
	action := cortex.Row{Kind: cortex.KindAction, ID: "x", Version: 1, AfterSeq: 5, Doc: string(task.AppendJSON(nil)), Change: `[]`, At: noon}
	note := scratch.Observation{ID: "o", Type: "note", Content: "hm", Status: scratch.Active, Confidence: 0.5, CreatedAt: noon, UpdatedAt: noon, ExpiresAt: noon.Add(time.Hour)}
	old := note
	old.ID, old.Status = "p", scratch.Archived
	digest := memory.Digest{ThroughSeq: 4}
	return st.Update(ctx, func(tx store.Tx) error {
		a, err := tx.Log().Session(ctx, turn.Key{Tenant: turn.DefaultTenant, Session: "a"})
		if err != nil {
			return err
		}
		b, err := tx.Log().Session(ctx, turn.Key{Tenant: turn.DefaultTenant, Session: "b"})
		if err != nil {
			return err
		}
		e := memory.Episode{
			ID: turngen.ID(1), Type: memory.UserData, Text: "Ana flies", Importance: 0.5, Created: noon,
			Provenance: memory.Provenance{ExportID: turngen.ID(2), TurnID: opener, Source: memory.FromUser},
		}
		owner := memory.Owner{Tenant: a.Tenant, Segment: a.Segment, Session: a.Session}
		_, insert := tx.Memory().InsertItems(ctx, []memory.Row{e.Row(owner)})
		exported := func(id string, s turn.SessionInfo, turnID string, last int64) error {
			part := trace.Part{TurnID: turnID, Segment: s.Segment, ID: turngen.ID(9), At: noon, Body: `{}`}
			return errors.Join(
				tx.Trace().InsertParts(ctx, s.Tenant, part),
				tx.Outbox().InsertExport(ctx, event.Export{
					Tenant: s.Tenant, Session: s.Session, Segment: s.Segment, ID: id, TurnID: turnID, First: 1, Last: last, Status: "complete", Body: `{}`, At: noon,
				}))
		}
		deferred := func(id string, s turn.SessionInfo, target string) error {
			return tx.Outbox().PutDeferral(ctx, event.Deferral{
				Tenant: s.Tenant, Session: s.Session, ExportID: id, Target: target, Payload: `{}`, Tries: 1, Next: noon.AddDate(1000, 0, 0), Error: "no", At: noon,
			})
		}
		put := turngen.ID(8) // a turn that is not in the log yet
		return errors.Join(insert,
			tx.Cortex().InsertVersion(ctx, a.Tenant, a.Segment, goal(1)),
			tx.Cortex().InsertVersion(ctx, a.Tenant, a.Segment, goal(2)),
			tx.Cortex().InsertVersion(ctx, b.Tenant, b.Segment, action),
			tx.Cortex().InsertVersion(ctx, b.Tenant, b.Segment, later(goal(3), 5)),
			tx.Scratch().PutObservation(ctx, a.Tenant, a.Segment, scratch.Row{
				ID: "o", Type: "note", Status: scratch.Active, Doc: string(note.AppendJSON(nil)), At: noon, Expires: noon.Add(time.Hour),
			}),
			tx.Scratch().PutObservation(ctx, a.Tenant, a.Segment, scratch.Row{
				ID: "p", Type: "note", Status: scratch.Archived, Doc: string(old.AppendJSON(nil)), At: noon, Expires: noon.Add(time.Hour),
			}),
			tx.Memory().PutDigest(ctx, a.Tenant, a.Segment, memory.DigestRow{ThroughSeq: 4, Doc: string(digest.AppendJSON(nil)), At: noon}),
			exported(turngen.ID(2), a, opener, 4), exported(turngen.ID(3), b, put, 5), exported(turngen.ID(4), b, opener, 5),
			deferred(turngen.ID(2), a, "memory"), deferred(turngen.ID(3), b, "history"),
			tx.Outbox().InsertEvent(ctx, event.Event{ID: turngen.ID(7), Tenant: a.Tenant, Session: a.Session, Kind: event.SessionEnded, Data: `{}`, At: noon}),
			tx.Outbox().SetBus(ctx, "nats"),
			tx.Outbox().PutMark(ctx, event.Mark{Daemon: "audit", Through: 2}),
			tx.Outbox().InsertLetter(ctx, event.Letter{Tenant: a.Tenant, Daemon: "audit", ExportID: turngen.ID(2), Session: a.Session, TurnID: opener, Tries: 4, Error: "no", At: noon}),
		)
	})
}

func later(r cortex.Row, after int64) cortex.Row {
	r.AfterSeq = after
	return r
}

func publishAll(ctx context.Context, st store.Store) error {
	_, err := st.Publish(ctx, 100, store.Publication{
		Bus:  "nats",
		Send: func(_ context.Context, exports []event.Export) (int, error) { return len(exports), nil },
	})
	return err
}

func TestEveryBrokenRuleOfACommitIsFound(t *testing.T) {
	diagnose(t, []illness{
		{"intention's segment", func(p *patient) { p.set("intentions", 0, "segment", int64(77)) }, "intentions: segment 77 belongs to no session"},
		{"version lost", func(p *patient) { p.drop("intentions", 0) }, "the first version of goal g is 2"},
		{"version gap", func(p *patient) { p.set("intentions", 1, "version", int64(4)) }, "version 4 of goal g after turn 2 follows version 1 after turn 1"},
		{"version twice", func(p *patient) { p.repeat("intentions", 1) }, "version 2 of goal g after turn 2 follows version 2"},
		{"version backwards", func(p *patient) { p.set("intentions", 1, "after_seq", int64(0)) }, "version 2 of goal g after turn 0 follows version 1 after turn 1"},
		{"inherited version lost", func(p *patient) { p.drop("intentions", 1) }, "intentions of default/b: version 3 of goal g follows version 1 that it inherits"},
		{"version after the fork", func(p *patient) { p.set("intentions", 1, "after_seq", int64(4)) }, "version 3 of goal g follows version 1 that it inherits"},
		{"fork begins anew", func(p *patient) { p.set("intentions", 3, "version", int64(1)) }, "version 1 of goal g follows version 2 that it inherits"},
		{"version too late", func(p *patient) { p.set("intentions", 1, "after_seq", int64(70)) }, "version 2 of goal g comes after turn 70 of 0–6"},
		{"version before its fork", func(p *patient) { p.set("intentions", 3, "after_seq", int64(3)) }, "version 3 of goal g comes after turn 3 of 4–5"},
		{"kind of intention", func(p *patient) { p.set("intentions", 0, "kind", "wish") }, `"wish" is neither a goal nor an action`},
		{"goal", func(p *patient) { p.set("intentions", 0, "doc", `{"id":"g"`) }, "version 1 of goal g: "},
		{"action", func(p *patient) { p.set("intentions", 2, "doc", `{"id":"x"}`) }, "version 1 of action x: "},
		{"version of the document", func(p *patient) {
			p.set("intentions", 1, "doc", p.find("intentions", 0).Values[7])
		}, "version 2 of goal g holds version 1 of g"},
		{"id of the document", func(p *patient) { p.set("intentions", 2, "id", "y") }, "version 1 of action y holds version 1 of x"},
		{"live", func(p *patient) { p.set("intentions", 0, "live", int64(0)) }, "version 1 of goal g is live as a row or as a document, not as both"},
		{"not live", func(p *patient) { p.set("intentions", 2, "live", int64(1)) }, "version 1 of action x is live"},
		{"observation's segment", func(p *patient) { p.set("observations", 0, "tenant", "other") }, "observations: segment 1 belongs to no session"},
		{"observation", func(p *patient) { p.set("observations", 0, "doc", `{}x`) }, "observation o: "},
		{"observation's id", func(p *patient) { p.set("observations", 0, "observation_id", "p") }, "observation p, note and active, holds o"},
		{"observation's status", func(p *patient) { p.set("observations", 0, "status", "resolved") }, "observation o, note and resolved, holds o, note and active"},
		{"too many observations", func(p *patient) {
			for range scratch.MaxLive {
				p.repeat("observations", 0)
			}
		}, "observations of default/a: 101 were live at 2024-02-29T12:00:00Z, 100 may be"},
		{"item's segment", func(p *patient) { p.set("memory_items", 0, "segment", int64(77)) }, "memory_items: segment 77 belongs to no session"},
		{"item's session", func(p *patient) { p.set("memory_items", 0, "session_id", "b") }, `names session "b"`},
		{"importance too high", func(p *patient) { p.set("memory_items", 0, "importance", int64(1_000_001)) }, "importance 1000001 is not from 0 to 1000000"},
		{"importance too low", func(p *patient) { p.set("memory_items", 0, "importance", int64(-1)) }, "importance -1 is not from"},
		{"item", func(p *patient) { p.set("memory_items", 0, "about", `[]`) }, "memory item " + turngen.ID(1)},
		{"item that ends before it begins", func(p *patient) { p.set("memory_items", 0, "expires_at", int64(1)) }, "expires_at"},
		{"digest's segment", func(p *patient) { p.set("digests", 0, "segment", int64(77)) }, "digests: segment 77 belongs to no session"},
		{"digest too far", func(p *patient) { p.set("digests", 0, "through_seq", int64(7)) }, "tells of turns up to 7 of 6"},
		{"digest of its document", func(p *patient) { p.set("digests", 0, "through_seq", int64(3)) }, "up to 3 as a row, up to 4 as a document"},
		{"digest", func(p *patient) { p.set("digests", 0, "doc", `{"v":9}`) }, "digests of default/a: "},
		{"export's segment", func(p *patient) { p.set("exports", 0, "segment", int64(77)) }, "exports: segment 77 belongs to no session"},
		{"export's session", func(p *patient) { p.set("exports", 0, "session_id", "b") }, `names session "b"`},
		{"export too far", func(p *patient) { p.set("exports", 0, "last_seq", int64(7)) }, "tells of turns 1–7 of 6"},
		{"export backwards", func(p *patient) { p.set("exports", 0, "first_seq", int64(5)) }, "tells of turns 5–4 of 6"},
		{"export of no turn", func(p *patient) { p.set("exports", 0, "turn_id", turngen.ID(99)) }, "is of turn " + turngen.ID(99) + ", which is not in the log"},
		{"history not put off", func(p *patient) { p.set("deferrals", 1, "target", "cortex") }, "exports of default/b: export " + turngen.ID(3) + " is of turn " + turngen.ID(8)},
		{"export's body", func(p *patient) { p.set("exports", 0, "body", `{"export":`) }, "is no JSON: nobody can be sent it"},
		{"export's body of no UTF-8", func(p *patient) { p.set("exports", 0, "body", "{\"export\":{\"agent_id\":\"bot\xff\"}}") }, "is no JSON: nobody can be sent it"},
		{"deferral's payload", func(p *patient) { p.set("deferrals", 0, "payload", `{`) }, "has to write is no JSON"},
		{"body of a trace", func(p *patient) { p.set("trace_parts", 0, "body", `x`) }, "part " + turngen.ID(9) + " is no JSON"},
		{"number twice", func(p *patient) { p.set("exports", 0, "sent_number", int64(2)) }, "published as number 2, which is no number of its own"},
		{"a time without a number", func(p *patient) {
			p.set("exports", 0, "sent_number", nil)
			p.set("exports", 0, "sent_at", int64(1))
		}, "was sent and has no number"},
		{"number zero", func(p *patient) { p.set("exports", 0, "sent_number", int64(0)) }, "published as number 0"},
		{"deferral of no export", func(p *patient) { p.set("deferrals", 0, "export_id", turngen.ID(99)) }, "deferrals of default/a: memory: there is no export " + turngen.ID(99)},
		{"deferral of no session", func(p *patient) { p.set("deferrals", 0, "session_id", "gone") }, "deferrals of default/gone: there is no such session"},
		{"event of no session", func(p *patient) { p.set("events", 0, "session_id", "gone") }, "events of default/gone: there is no such session"},
		{"daemon too far", func(p *patient) { p.set("daemons", 0, "through", int64(4)) }, "daemon audit has come further than what was published"},
		{"bus's tenant", func(p *patient) { p.set("buses", 0, "tenant", "default") }, "bus nats belongs to a tenant"},
		{"daemon's tenant", func(p *patient) { p.set("daemons", 0, "tenant", "default") }, "daemon audit belongs to a tenant"},
		{"letter of no export", func(p *patient) { p.set("dead_letters", 0, "export_id", turngen.ID(99)) }, "letter to audit: there is no export " + turngen.ID(99)},
		{"letter of no session", func(p *patient) { p.set("dead_letters", 0, "session_id", "gone") }, "dead_letters of default/gone: there is no such session"},
		{"part's segment", func(p *patient) { p.set("trace_parts", 0, "segment", int64(77)) }, "trace_parts: segment 77 belongs to no session"},
		{"part of no turn", func(p *patient) { p.set("trace_parts", 0, "turn_id", turngen.ID(99)) }, "is of turn " + turngen.ID(99) + ", which is not in the log"},
	})
}

func TestObservationsThatExpiredOrWereArchivedAreNotCounted(t *testing.T) {
	p := healthy(t)
	for range scratch.MaxLive {
		p.repeat("observations", 1)
		p.repeat("observations", 0)
		p.set("observations", 0, "expires_at", noon.UnixMicro())
	}
	if findings, _ := examine(t, p); len(findings) != 0 {
		t.Errorf("findings:\n%s", strings.Join(findings, "\n"))
	}
}
