package replay_test

import (
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

func (w *world) nextID() string {
	w.ids++
	return turngen.ID(w.ids)
}

// locked runs an update of a session.
func (w *world) locked(k turn.Key, fn func(tx store.Tx, info turn.SessionInfo) error) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().LockSession(w.ctx, k)
		if err != nil {
			return err
		}
		return fn(tx, info)
	})
}

// intend changes goals and actions after the last turn.
func (w *world) intend(k turn.Key, ch cortex.Changes) {
	w.Helper()
	w.locked(k, func(tx store.Tx, info turn.SessionInfo) error {
		spans := info.Lineage(info.Head)
		state, err := cortex.Load(w.ctx, tx.Cortex(), k.Tenant, spans, true)
		if err != nil {
			return err
		}
		staged := state.Stage(ch, tx.Now(), w.nextID)
		if len(staged.Refused) > 0 {
			return fmt.Errorf("refused: %+v", staged.Refused)
		}
		return cortex.Write(w.ctx, tx.Cortex(), k.Tenant, info.Segment, info.Head, staged)
	})
}

// notice changes the scratch page.
func (w *world) notice(k turn.Key, ch scratch.Changes) {
	w.Helper()
	w.locked(k, func(tx store.Tx, info turn.SessionInfo) error {
		page, err := scratch.Load(w.ctx, tx.Scratch(), k.Tenant, info.Segment, tx.Now())
		if err != nil {
			return err
		}
		staged := page.Stage(ch, tx.Now(), w.nextID)
		if len(staged.Refused) > 0 {
			return fmt.Errorf("refused: %+v", staged.Refused)
		}
		return scratch.Write(w.ctx, tx.Scratch(), k.Tenant, info.Segment, staged)
	})
}

// remember adds items; an id and a time are theirs where they have none.
func (w *world) remember(k turn.Key, items ...memory.Episode) []string {
	w.Helper()
	var ids []string
	w.locked(k, func(tx store.Tx, info turn.SessionInfo) error {
		rows := make([]memory.Row, len(items))
		for i, e := range items {
			if e.ID == "" {
				e.ID = w.nextID()
			}
			if e.Created.IsZero() {
				e.Created = tx.Now()
			}
			if err := e.Check(); err != nil {
				return err
			}
			ids = append(ids, e.ID)
			rows[i] = e.Row(memory.Owner{Tenant: k.Tenant, Segment: info.Segment, Session: k.Session, User: info.User})
		}
		_, err := tx.Memory().InsertItems(w.ctx, rows)
		return err
	})
	return ids
}

func (w *world) archive(k turn.Key, ids ...string) {
	w.Helper()
	w.update(func(tx store.Tx) error { return tx.Memory().ArchiveItems(w.ctx, k.Tenant, ids, tx.Now()) })
}

// summarise folds a summary of the exchange up to the last turn into the digest.
func (w *world) summarise(k turn.Key, turnID string, s memory.Summary) {
	w.Helper()
	w.locked(k, func(tx store.Tx, info turn.SessionInfo) error {
		var d memory.Digest
		row, ok, err := tx.Memory().Digest(w.ctx, k.Tenant, info.Segment)
		if ok {
			d, err = memory.DecodeDigest(row.Doc)
		}
		if err != nil {
			return err
		}
		d = memory.NewManager(memory.ManagerConfig{}).Fold(d, info.Head, s, func(string) (int64, string) { return info.Head, turnID })
		return tx.Memory().PutDigest(w.ctx, k.Tenant, info.Segment, d.Row(tx.Now()))
	})
}

// traceOf writes a part of a turn's trace.
func (w *world) traceOf(k turn.Key, turnID, note string) {
	w.Helper()
	w.locked(k, func(tx store.Tx, info turn.SessionInfo) error {
		rec := trace.NewRecorder(k.Session, turnID, tx.Now)
		rec.Begin("select")
		rec.Note(trace.Decision, note)
		rec.End(nil)
		t := rec.Take("", "complete")
		return tx.Trace().InsertParts(w.ctx, k.Tenant, trace.Part{
			TurnID: turnID, Segment: info.Segment, ID: w.nextID(), At: tx.Now(), Body: string(t.AppendJSON(nil)),
		})
	})
}

// healthy has the doctor look at the store.
func (w *world) healthy() {
	w.Helper()
	if _, err := doctor.Examine(w.ctx, w.Store, func(f doctor.Finding) { w.Errorf("doctor: %+v", f) }, func(int64) {}); err != nil {
		w.Errorf("doctor: %v", err)
	}
}

func ptr[T any](v T) *T { return &v }

// plan makes a session with everything that version 2 of the format added. The golden bundles are
// made of it: it must stay as it is for as long as they do.
func (w *world) plan() turn.Key {
	w.Helper()
	k := w.create("plan")
	// Goals there may be before the first turn.
	w.intend(k, cortex.Changes{Goals: []cortex.GoalChange{{ID: "garden", By: cortex.ActorUser, Title: ptr("Lay out a “garden”")}}})
	first := w.say(k, text(turn.User, "A garden, please.\nWith a pond."), text(turn.Agent, "How large?"))
	w.intend(k, cortex.Changes{
		Goals: []cortex.GoalChange{{
			ID: "garden", TurnID: first[1].ID, Why: "asked for <a pond>", Priority: ptr(cortex.PriorityHigh),
			AddMilestones: []cortex.Milestone{{Description: "Measure"}, {Description: "Dig", Status: cortex.MilestoneInProgress}},
			AddDecisions:  []cortex.Decision{{Description: "A pond", Rationale: "said so\nat once", Locked: true}},
			AddArtifacts:  []cortex.Artifact{{Path: "garden.svg", Action: cortex.ArtifactCreated}},
			NextSteps:     &[]string{"ask for the size"},
		}, {Title: ptr("Find stones"), Parent: ptr("garden")}},
		Actions: []cortex.ActionChange{{ID: "measure", Type: ptr(cortex.AgentTask), Title: ptr("Measure the plot"), GoalID: ptr("garden")}},
	})
	w.notice(k, scratch.Changes{Put: []scratch.Change{
		{ID: "slope", Type: ptr("fact"), Content: ptr("It slopes to the south."), Tags: &[]string{"plot"}, Confidence: ptr(0.75)},
		{Type: ptr(scratch.FlowInsight), Content: ptr("wants fish"), ContextRefs: &[]string{scratch.FlowRef("pond")}},
		{ID: "old", Type: ptr("fact"), Content: ptr("Rain on Monday")},
	}})
	w.notice(k, scratch.Changes{Archive: []string{"old"}})
	items := w.remember(k,
		memory.Episode{Type: memory.UserData, Text: "Wants a pond,\nwith fish.", Importance: 0.95, Tags: []string{"pond"},
			Links: memory.Links{Turns: []string{first[0].ID}}, Provenance: memory.Provenance{TurnID: first[0].ID, Source: memory.FromUser}},
		memory.Episode{Type: memory.ToolResult, Data: "{\n \"m2\": 120.50}", Importance: 0.5, Expires: w.clock.now().AddDate(0, 1, 0)},
	)
	w.remember(k, memory.Episode{
		Type: "lesson", Text: "Ponds need shade.", Data: ` [1.0, "\u0000"] `, Importance: 0.123456, Expires: w.clock.now().AddDate(0, 0, 7),
		Links: memory.Links{Items: []string{items[0], turngen.ID(7_000_000), items[1]}},
		Provenance: memory.Provenance{
			ExportID: turngen.ID(8_000_000), Source: memory.FromAgent, Notes: []string{"made up"},
			Inputs: memory.Inputs{Goals: 0.25, Novelty: 1},
		},
	})
	w.archive(k, items[1])
	w.summarise(k, first[0].ID, memory.Summary{Line: "A garden with a pond", Topics: []string{"garden", "pond"}, Decided: []string{"A “pond”"}})
	w.traceOf(k, first[0].ID, "kept “two” of 3")

	second := w.say(k, text(turn.User, "Ten by twelve."), text(turn.Agent, "Noted."))
	w.intend(k, cortex.Changes{
		Goals:   []cortex.GoalChange{{ID: "garden", TurnID: second[0].ID, SetMilestones: []cortex.Milestone{{Description: "Measure", Status: cortex.MilestoneCompleted}}}},
		Actions: []cortex.ActionChange{{ID: "measure", Status: ptr(cortex.ActionInProgress), AddEvidence: []string{second[0].ID}}},
	})
	w.traceOf(k, first[0].ID, "published later")
	w.traceOf(k, second[0].ID, "nothing to keep")
	w.say(k, text(turn.User, "And stones?"), text(turn.Agent, "Granite."), text(turn.User, "Good."), text(turn.Agent, "Done."))
	w.intend(k, cortex.Changes{
		Goals:   []cortex.GoalChange{{ID: "garden", By: cortex.ActorUser, Status: ptr(cortex.GoalAbandoned), Why: "moves away"}},
		Actions: []cortex.ActionChange{{ID: "measure", Status: ptr(cortex.ActionDone)}},
	})
	w.summarise(k, second[0].ID, memory.Summary{Line: "Ten by twelve", Topics: []string{"garden"}})
	return k
}

// otherPlan makes a fork of the plan after turn 4, before the goal was given up, and changes it.
func (w *world) otherPlan(plan turn.Key) turn.Key {
	w.Helper()
	k := w.fork(plan, 4, "other-plan")
	w.intend(k, cortex.Changes{Goals: []cortex.GoalChange{{ID: "garden", AddDecisions: []cortex.Decision{{Description: "No fish"}}}}})
	turns := w.say(k, text(turn.User, "No fish, then."), text(turn.Agent, "As you wish."))
	w.intend(k, cortex.Changes{Goals: []cortex.GoalChange{{ID: "garden", By: cortex.ActorUser, Status: ptr(cortex.GoalPaused)}}})
	w.notice(k, scratch.Changes{Put: []scratch.Change{{ID: "slope", Type: ptr("fact"), Content: ptr("The fork's own page.")}}})
	w.remember(k, memory.Episode{Type: memory.UserData, Text: "Wants no fish.", Importance: 1, Created: w.clock.now().Add(time.Millisecond)})
	w.traceOf(k, turns[0].ID, "the fork's own")
	return k
}
