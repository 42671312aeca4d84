package sqlite_test

import (
	"context"
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// Items that are not indexed yet are read once for all types. Whoever writes, or asks for others, gets what is there by then.
func TestTheLeastImportantAfterEachChange(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	row := func(n int, kind memory.Type) memory.Row {
		return memory.Row{Tenant: "acme", ID: fmt.Sprint("i", n), Segment: 1 + int64(n)/6, Session: "s", Type: kind, Importance: int64(100 * n), Created: noon, Text: "x"}
	}
	changing(t, s, func(ctx context.Context, rows memory.Rows) error {
		find := func(change string, f memory.Filter, want ...string) {
			t.Helper()
			f.Tenant, f.Lowest, f.Limit, f.Now = "acme", true, 10, noon
			found, err := rows.Items(ctx, f)
			if diff := gocmp.Diff(want, idsOf(found)); err != nil || diff != "" {
				t.Errorf("%s, %s of %d: %v\n%s", change, f.Type, f.Segment, err, diff)
			}
		}
		events, errs := memory.Filter{Segment: 1, Type: memory.Event}, memory.Filter{Segment: 1, Type: memory.Error}
		if _, err := rows.InsertItems(ctx, []memory.Row{row(3, memory.Event), row(2, memory.Error), row(1, memory.Event), row(7, memory.Event)}); err != nil {
			return err
		}
		find("inserted", events, "i1", "i3")
		find("inserted", errs, "i2")
		find("inserted", memory.Filter{Segment: 2, Type: memory.Event}, "i7")
		find("inserted", memory.Filter{Segment: 1, Type: memory.Event, MinImportance: 200}, "i3")
		if _, err := rows.InsertItems(ctx, []memory.Row{row(0, memory.Event)}); err != nil {
			return err
		}
		find("one more", events, "i0", "i1", "i3")
		if err := rows.ArchiveItems(ctx, "acme", []string{"i1"}, noon); err != nil {
			return err
		}
		find("archived", events, "i0", "i3")
		archived := events
		archived.Archived = true
		find("archived", archived, "i0", "i1", "i3")
		if _, err := rows.DeleteItems(ctx, "acme", []string{"i2"}); err != nil {
			return err
		}
		find("deleted", errs)
		return nil
	})
}
