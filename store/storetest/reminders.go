package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// testReminders holds that actions are named from their times on, those of all tenants, and no more once that is said.
func testReminders(t *testing.T, w *world, one, two turn.SessionInfo) {
	set := func(s turn.SessionInfo, id string, at time.Time) {
		w.Helper()
		w.update(func(tx store.Tx) error { return tx.Cortex().SetReminder(w.ctx(), s.Tenant, s.Segment, id, at) })
	}
	names := func(s turn.SessionInfo, id string) cortex.Due {
		return cortex.Due{Tenant: s.Tenant, Session: s.Session, ID: id}
	}
	set(one, "later", noon.Add(time.Microsecond))
	set(one, "first", noon.Add(time.Hour))
	set(one, "first", noon.Add(-time.Hour)) // in the place of the other
	set(two, "first", noon)
	set(one, "second", noon.Add(-time.Minute))
	due := []cortex.Due{names(one, "first"), names(one, "second"), names(two, "first")}
	for limit := range 5 {
		same(t, "due", w.dueReminders(noon, limit), slices.Concat(due[:min(limit, 3)]))
	}
	boom := errors.New("boom")
	is(t, "update", w.Update(w.ctx(), func(tx store.Tx) error {
		return errors.Join(tx.Cortex().SetReminder(w.ctx(), one.Tenant, one.Segment, "first", time.Time{}), boom)
	}), boom)
	set(one, "second", time.Time{})
	set(one, "unknown", time.Time{})
	same(t, "due", w.dueReminders(noon, 9), []cortex.Due{due[0], due[2]})
	same(t, "due later", len(w.dueReminders(noon.Add(time.Hour), 9)), 3)
}

func (w *world) dueReminders(now time.Time, limit int) (due []cortex.Due) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		due, err = tx.Cortex().DueReminders(w.ctx(), now, limit)
		return err
	})
	return due
}

// testLoadedReminders loads a reminder that was sent, one that was answered and what a fork inherited: those that were
// sent are looked at at once, wherever they are seen.
func testLoadedReminders(t *testing.T, open opener) {
	w := newWorld(t, open)
	root, child := w.create(w.key("root")).Key, w.key("child")
	w.append(root, says(2)...)
	segment := w.session(root).Segment
	status := func(id string, version, afterSeq int64, status string, live bool) cortex.Row {
		r := intend(id, version, afterSeq, live)
		r.Kind, r.Doc = cortex.KindAction, `{"id":"`+id+`","type":"reminder","status":"`+status+`"}`
		return r
	}
	w.intend(root.Tenant, segment, status("asked", 1, 1, "sent", true), status("answered", 1, 1, "sent", true),
		status("answered", 2, 2, "done", false), status("planned", 1, 1, "scheduled", true))
	w.fork(root, 2, child)
	copied := newWorld(t, open)
	copied.load(w.rows())
	due := copied.dueReminders(noon, 9)
	for _, want := range []cortex.Due{
		{Tenant: root.Tenant, Session: root.Session, ID: "asked"},
		{Tenant: root.Tenant, Session: child.Session, ID: "asked"}, {Tenant: root.Tenant, Session: child.Session, ID: "answered"},
	} {
		if !slices.Contains(due, want) {
			t.Errorf("%+v is not due; %+v is", want, due)
		}
	}
	same(t, "due", len(due), 3)
}
