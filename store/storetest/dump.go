package storetest

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// golden holds what fill wrote under every version of the schema: dump-1.golden under the first. They
// are kept for ever, since a store must load what any of its predecessors gave out.
//
//go:embed testdata/dump-*.golden
var golden embed.FS

// goldenRows returns the rows of a version of the schema as lines of text.
func goldenRows(t testing.TB, version int) []string {
	t.Helper()
	text, err := golden.ReadFile(fmt.Sprintf("testdata/dump-%d.golden", version))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func testDump(t *testing.T, open opener) {
	w := newWorld(t, open)
	begin := w.now()
	fill(w)

	w.run("the same work gives the same rows on every store", func(t *testing.T) {
		var lines []string
		for _, row := range w.rows() {
			if row.Table == "exports" {
				w.sentAtNoon(row, begin)
			}
			lines = append(lines, line(row))
		}
		same(t, "rows", lines, goldenRows(t, store.SchemaVersion))
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

// sentAtNoon has an export be sent at noon that was sent since begin, by the store's own clock.
func (w *world) sentAtNoon(row store.Row, begin time.Time) {
	w.Helper()
	i := slices.IndexFunc(columns(row.Table), func(c store.Column) bool { return c.Name == "sent_at" })
	at, sent := row.Values[i].(int64)
	if !sent {
		return
	}
	if at < begin.UnixMicro() || at > w.now().UnixMicro() {
		w.Errorf("sent at %d, between %d and now", at, begin.UnixMicro())
	}
	row.Values[i] = noon.UnixMicro()
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
