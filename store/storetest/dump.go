package storetest

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

//go:embed testdata/dump.golden
var golden embed.FS

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
	begin(turn.SessionInfo{Key: w.key("alpha")})
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
}

func testDump(t *testing.T, open opener) {
	w := newWorld(t, open)
	fill(w)

	w.run("the same work gives the same rows on every store", func(t *testing.T) {
		want, err := golden.ReadFile("testdata/dump.golden")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "rows", w.dump(), strings.Split(strings.TrimSuffix(string(want), "\n"), "\n"))
	})

	w.run("rows are of the schema, table by table, in the order of their keys", func(t *testing.T) {
		at := 0
		var before []any
		for _, row := range w.rows() {
			for store.Schema[at].Name != row.Table {
				before = nil
				if at++; at == len(store.Schema) {
					t.Fatalf("table %s is unknown or out of order", row.Table)
				}
			}
			table := store.Schema[at]
			for i, c := range table.Columns {
				if !fits(row.Values[i], c) {
					t.Errorf("%s.%s: %T in a column of %s", table.Name, c.Name, row.Values[i], c.Type)
				}
			}
			key := keyOf(table, row)
			if before != nil && compareValues(before, key) >= 0 {
				t.Errorf("%s: key %v after %v", table.Name, key, before)
			}
			before = key
		}
	})

	w.run("a row is the receiver's until it returns", func(t *testing.T) {
		err := w.Dump(w.ctx(), func(row store.Row) error {
			for _, v := range row.Values {
				if b, ok := v.([]byte); ok {
					clear(b)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if data := w.rows("blobs")[0].Values[3].([]byte); data[2] != 0xff {
			t.Errorf("a receiver changed the store's bytes: %v", data)
		}
	})

	w.run("an error of the receiver ends the dump and is returned", func(t *testing.T) {
		boom := errors.New("boom")
		for after := range len(w.rows()) {
			n := 0
			err := w.Dump(w.ctx(), func(store.Row) error {
				if n++; n > after {
					return boom
				}
				return nil
			})
			is(t, "dump", err, boom)
			if n != after+1 {
				t.Errorf("%d rows after the error", n-after-1)
			}
		}
	})

	w.run("a dump is one state while writers append", func(t *testing.T) {
		stop, stopped := make(chan struct{}), make(chan error, 1)
		go func() {
			for {
				select {
				case <-stop:
					stopped <- nil
					return
				default:
				}
				if _, err := w.try(w.key("zeta"), says(3)...); err != nil {
					stopped <- err
					return
				}
			}
		}()
		for range 5 {
			head, last := int64(-1), int64(0)
			for _, row := range w.rows("sessions", "turns") {
				switch {
				case row.Table == "sessions" && row.Values[1] == "zeta":
					head = row.Values[10].(int64)
				case row.Table == "turns" && row.Values[0] == turn.DefaultTenant && row.Values[1] == int64(1):
					last = row.Values[2].(int64)
				}
			}
			if head != last {
				t.Errorf("the session's head is %d, its last turn %d", head, last)
			}
		}
		close(stop)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

func fits(v any, c store.Column) bool {
	switch v.(type) {
	case nil:
		return c.Null
	case int64:
		return c.Type == store.Int
	case string:
		return c.Type == store.Text
	case []byte:
		return c.Type == store.Bytes
	}
	return false
}

func keyOf(table store.Table, row store.Row) (key []any) {
	for _, name := range table.Key {
		i := slices.IndexFunc(table.Columns, func(c store.Column) bool { return c.Name == name })
		key = append(key, row.Values[i])
	}
	return key
}

// compareValues compares keys: numbers as numbers, text by its bytes.
func compareValues(a, b []any) int {
	for i := range a {
		var c int
		switch x := a[i].(type) {
		case int64:
			y := b[i].(int64)
			c = int(min(max(x-y, -1), 1))
		case string:
			c = strings.Compare(x, b[i].(string))
		default:
			panic(fmt.Sprintf("%T in a key", x))
		}
		if c != 0 {
			return c
		}
	}
	return 0
}
