package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
)

const tenant, segment = "default", 7

var along = []span.Span{{Segment: segment, From: 1, To: 100}}

// rows runs fn in an update of an empty store.
func rows(t *testing.T, fn func(context.Context, snapshot.Rows)) {
	t.Helper()
	st := mem.New(mem.Config{})
	err := st.Update(t.Context(), func(tx store.Tx) error {
		fn(t.Context(), tx.Snapshot())
		return nil
	})
	if err := errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
}

// numbered is the snapshot of that number, which makes it newer than those of lower ones.
func numbered(n int, name string) snapshot.Snapshot {
	return snapshot.Snapshot{ID: fmt.Sprintf("01J%023d", n), Session: "talk", Name: name, Turn: int64(n), At: noon}
}

func TestTakeFindAndDelete(t *testing.T) {
	rows(t, func(ctx context.Context, rows snapshot.Rows) {
		take := func(s snapshot.Snapshot) error { return snapshot.Take(ctx, rows, tenant, segment, s) }
		first, second, other := numbered(1, "clean"), numbered(2, "clean"), numbered(3, "other")
		if err := errors.Join(take(first), take(second), take(other)); err != nil {
			t.Fatal(err)
		}
		if err := take(first); !errors.Is(err, snapshot.ErrExists) || !strings.Contains(err.Error(), first.ID) {
			t.Errorf("taken twice: %v", err)
		}
		var field *snapshot.FieldError
		if err := take(snapshot.Snapshot{ID: first.ID}); !errors.As(err, &field) {
			t.Errorf("no snapshot: %v", err)
		}
		find := func(what string, spans []span.Span, want snapshot.Snapshot, sentinel error) {
			t.Helper()
			got, err := snapshot.Find(ctx, rows, tenant, spans, what)
			if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, sentinel) {
				t.Errorf("%q: %v (-want +got)\n%s", what, err, diff)
			}
		}
		find(first.ID, along, first, nil)
		find("clean", along, second, nil)
		find("other", along, other, nil)
		find("clean", []span.Span{{Segment: segment, To: 1}}, first, nil)
		find("Clean", along, snapshot.Snapshot{}, snapshot.ErrNotFound)
		find("", along, snapshot.Snapshot{}, snapshot.ErrNotFound)
		find(numbered(9, "").ID, along, snapshot.Snapshot{}, snapshot.ErrNotFound)

		if err := snapshot.Delete(ctx, rows, tenant, segment, second.ID); err != nil {
			t.Error(err)
		}
		if err := snapshot.Delete(ctx, rows, tenant, segment, second.ID); !errors.Is(err, snapshot.ErrNotFound) || !strings.Contains(err.Error(), second.ID) {
			t.Errorf("deleted twice: %v", err)
		}
		find("clean", along, first, nil)
	})
}

// A name is found behind any number of others, and one that is damaged keeps nobody from the rest.
func TestFindAmongMany(t *testing.T) {
	rows(t, func(ctx context.Context, rows snapshot.Rows) {
		const many = 250
		for n := range many {
			s := numbered(n+1, "")
			if n == 0 {
				s.Name = "first"
			}
			s.Turn = 9
			row := s.Row()
			if n == 60 {
				row.Doc = "{"
			}
			if err := rows.InsertSnapshot(ctx, tenant, segment, row); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := snapshot.Find(ctx, rows, tenant, along, "first"); err != nil || found.ID != numbered(1, "").ID {
			t.Errorf("found %+v, %v", found, err)
		}
		if _, err := snapshot.Find(ctx, rows, tenant, along, numbered(61, "").ID); err == nil || errors.Is(err, snapshot.ErrNotFound) {
			t.Errorf("the damaged one: %v", err)
		}
		var pages int
		var before string
		var got []string
		for {
			list, err := snapshot.List(ctx, rows, tenant, along, before, 100)
			if damaged := err != nil; damaged != (pages == 1) || damaged && !strings.Contains(err.Error(), numbered(61, "").ID) {
				t.Errorf("page %d: %v", pages, err)
			}
			if len(list) == 0 {
				break
			}
			for _, s := range list {
				got = append(got, s.ID)
			}
			before = got[len(got)-1]
			pages++
		}
		var want []string
		for n := many; n > 0; n-- {
			if n != 61 {
				want = append(want, numbered(n, "").ID)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("listed (-want +got)\n%s", diff)
		}
	})
}

// Whatever a store answers besides is passed on.
func TestErrorsOfTheStore(t *testing.T) {
	boom := errors.New("boom")
	broken := brokenRows{err: boom}
	_, byID := snapshot.Find(t.Context(), broken, tenant, along, numbered(1, "").ID)
	_, byName := snapshot.Find(t.Context(), broken, tenant, along, "name")
	_, listed := snapshot.List(t.Context(), broken, tenant, along, "", 9)
	for name, err := range map[string]error{
		"take": snapshot.Take(t.Context(), broken, tenant, segment, numbered(1, "")), "by id": byID, "by name": byName, "list": listed,
		"delete": snapshot.Delete(t.Context(), broken, tenant, segment, "x"),
	} {
		if !errors.Is(err, boom) || !strings.HasPrefix(err.Error(), "snapshot") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// brokenRows fail whatever is asked of them.
type brokenRows struct {
	snapshot.Rows
	err error
}

func (r brokenRows) InsertSnapshot(context.Context, string, int64, snapshot.Row) error { return r.err }

func (r brokenRows) Snapshot(context.Context, string, []span.Span, string) (snapshot.Row, error) {
	return snapshot.Row{}, r.err
}

func (r brokenRows) Snapshots(context.Context, string, []span.Span, string, int) ([]snapshot.Row, error) {
	return nil, r.err
}

func (r brokenRows) DeleteSnapshot(context.Context, string, int64, string) error { return r.err }
