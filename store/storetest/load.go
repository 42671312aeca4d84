package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testLoad(t *testing.T, open opener) {
	original := newWorld(t, open)
	fill(original)
	rows := original.rows()

	t.Run("a copy is the same and goes on by itself", func(t *testing.T) {
		w := newWorld(t, open)
		w.ids.Store(1 << 32)
		w.load(rows)
		same(t, "rows", w.dump(), original.dump())

		for _, k := range []turn.Key{w.key("zeta"), w.key("alpha"), w.key("mid"), w.key("leaf"), {Tenant: "zoo", Session: "other"}} {
			same(t, k.Session, w.session(k), original.session(k))
			same(t, "turns of "+k.Session, w.log(k), original.log(k))
		}
		for _, tenant := range []string{turn.DefaultTenant, "zoo"} {
			same(t, "sessions of "+tenant, w.sessions(tenant), original.sessions(tenant))
		}
		for range 2 {
			same(t, "search", seqs(w.query(w.key("leaf"), turn.Query{Text: "ways"}).Turns), []int64{5})
			if err := w.IndexText(w.ctx()); err != nil {
				t.Fatal(err)
			}
		}
		same(t, "seq goes on", seqs(w.append(w.key("leaf"), says(2)...)), []int64{6, 7})
		same(t, "open calls can be closed", seqs(w.append(w.key("alpha"), returned("a"), returned("z"))), []int64{5, 6})
		again := said(turn.System, "so far")
		again.Kind, again.Covers, again.MessageID, again.IdempotencyKey = turn.KindSummary, turn.Range{From: 1, To: 5}, "m", "once"
		same(t, "keys are known", seqs(w.append(w.key("zeta"), again)), []int64{6})

		taken := make(map[int64]bool)
		for _, row := range w.rows("sessions") {
			taken[row.Values[2].(int64)] = true
		}
		if info := w.create(w.key("new")); taken[info.Segment] {
			t.Errorf("the new session was given segment %d again", info.Segment)
		}
		w.append(w.key("new"), says(1)...)
		same(t, "the original stays what it was", original.rows(), rows)
	})

	t.Run("what every earlier version gave out is loaded", func(t *testing.T) {
		for version := 1; version <= store.SchemaVersion; version++ {
			lines := goldenRows(t, version)
			var rows []store.Row
			var want []string
			for _, text := range lines {
				row, err := parseLine(text)
				if err != nil {
					t.Fatalf("version %d: %q: %v", version, text, err)
				}
				rows = append(rows, row)
				want = append(want, text+strings.Repeat(" -", len(columns(row.Table))-len(row.Values)))
			}
			w := newWorld(t, open)
			w.load(rows)
			same(t, fmt.Sprintf("rows of version %d", version), w.dump(), want)
		}
	})

	t.Run("reminders", func(t *testing.T) { testLoadedReminders(t, open) })

	t.Run("what waits and what is found goes on in a copy", func(t *testing.T) {
		w := newWorld(t, open)
		w.ids.Store(1 << 32)
		w.load(rows)
		testLoadedCommits(t, w, original)
	})

	t.Run("a store with a session is refused and stays what it is", func(t *testing.T) {
		w := newWorld(t, open)
		w.create(w.key("here-first"))
		before := w.dump()
		is(t, "load", w.Load(w.ctx(), sequence(rows)), store.ErrNotEmpty)
		same(t, "rows", w.dump(), before)
	})

	t.Run("a load that goes wrong leaves nothing, and can be tried again", func(t *testing.T) {
		w := newWorld(t, open)
		boom := errors.New("boom")
		broken := func(yield func(store.Row, error) bool) {
			for _, row := range rows[:len(rows)/2] {
				if !yield(row, nil) {
					return
				}
			}
			yield(store.Row{}, boom)
		}
		is(t, "broken source", w.Load(w.ctx(), broken), boom)
		for what, bad := range map[string]store.Row{
			"unknown table": {Table: "nonsense", Values: []any{"x"}},
			"too few":       {Table: "leases", Values: []any{"default", "s"}},
			"too many":      {Table: "leases", Values: []any{"default", "s", "t", int64(1), nil}},
			"wrong type":    {Table: "leases", Values: []any{"default", "s", int64(1), int64(1)}},
			"null":          {Table: "leases", Values: []any{"default", "s", nil, int64(1)}},
		} {
			if err := w.Load(w.ctx(), sequence(append(slices.Clone(rows), bad))); err == nil {
				t.Fatalf("a row with %s was loaded", what)
			}
			same(t, "rows after "+what, w.dump(), []string(nil))
		}
		for i, row := range rows {
			if i > 0 && rows[i-1].Table == row.Table {
				continue
			}
			if err := w.Load(w.ctx(), sequence(slices.Insert(slices.Clone(rows), i, row))); err == nil {
				t.Fatalf("a row of %s was loaded twice", row.Table)
			}
			same(t, "rows after a double of "+row.Table, w.dump(), []string(nil))
		}
		w.load(rows)
		same(t, "rows", w.dump(), original.dump())
	})

	t.Run("an empty load is no error", func(t *testing.T) {
		w := newWorld(t, open)
		w.load(nil)
		same(t, "rows", w.dump(), []string(nil))
		w.append(w.create(w.key("s")).Key, says(1)...)
	})
}

// testLoadedCommits reads a copy through what is derived from its rows.
func testLoadedCommits(t *testing.T, w, original *world) {
	zeta, leaf := w.session(w.key("zeta")), w.session(w.key("leaf"))
	for _, live := range []bool{true, false} {
		for _, s := range []turn.SessionInfo{zeta, leaf} {
			spans := s.Spans(s.Head)
			same(t, "intentions of "+s.Session, w.newest(s.Tenant, spans, live), original.newest(s.Tenant, spans, live))
		}
	}
	for range 2 {
		for _, f := range []memory.Filter{
			{}, {Terms: words.Set("flying")}, {Terms: words.Set("東京")}, {Tags: []string{"trip"}}, {Lowest: true, Archived: true},
		} {
			f.Tenant, f.Limit, f.Now = zeta.Tenant, 9, noon
			same(t, fmt.Sprintf("items of %+v", f), w.items(f), original.items(f))
		}
		w.indexText()
	}
	_, last := w.published(0, 0)
	same(t, "last number", last, int64(2))
	same(t, "bus", w.bus(), "nats")
	noted := w.publishOn("nats", 10)
	if len(noted) != 1 || noted[0].Last != 6 || noted[0].Sent != 3 {
		t.Errorf("published %+v, want the second of zeta as number 3", noted)
	}
	for _, s := range []turn.SessionInfo{zeta, leaf} {
		for end := range int64(8) {
			spans := s.Spans(end)
			same(t, "last epoch of "+s.Session, w.lastEpoch(s.Tenant, spans), original.lastEpoch(s.Tenant, spans))
			spans = s.Spans(s.Head)
			same(t, "last call of "+s.Session, w.lastCall(s.Tenant, spans, end), original.lastCall(s.Tenant, spans, end))
		}
	}
	for _, s := range []turn.SessionInfo{zeta, leaf} {
		for end := range int64(8) {
			spans := s.Spans(end)
			same(t, "last checkpoint of "+s.Session, w.lastNumber(s.Tenant, spans), original.lastNumber(s.Tenant, spans))
			same(t, "snapshots of "+s.Session, w.snapshots(s.Tenant, spans, "", 9), original.snapshots(s.Tenant, spans, "", 9))
		}
	}
	w.announce(w.happened("zeta", event.SessionEnded, ""))
	w.place(zeta.Tenant)
	same(t, "last place after the load", w.lastPlace(zeta.Tenant), int64(2))
	same(t, "events after the load", sessionsOf(w.events(zeta.Tenant, "", 1, 9)), []string{"zeta"})
	w.compress(zeta, compressed(2, 2, 5), compressed(3, 1, 5))
	same(t, "last checkpoint after the load", w.lastNumber(zeta.Tenant, zeta.Spans(5)), int64(3))
	next := compiled(5, 5, 2)
	w.compile(zeta, next)
	same(t, "call after the load", w.lastCall(zeta.Tenant, zeta.Spans(zeta.Head), 6), next)
	is(t, "version that is there", w.Update(w.ctx(), func(tx store.Tx) error {
		return tx.Cortex().InsertVersion(w.ctx(), zeta.Tenant, zeta.Segment, intend("trip", 2, 6, true))
	}), cortex.ErrStale)
}

func (w *world) sessions(tenant string) (list []turn.SessionInfo) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		list, err = tx.Log().Sessions(w.ctx(), turn.SessionFilter{Tenant: tenant, Limit: 100})
		return err
	})
	return list
}
