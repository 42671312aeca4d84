package scratch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/scratch"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

func sweep(t *testing.T, rows *memory, now time.Time, archived, deleted int64) {
	t.Helper()
	a, d, err := scratch.Sweep(context.Background(), rows, now, 10)
	if err != nil || a != archived || d != deleted {
		t.Fatalf("archived %d, deleted %d, %v; want %d and %d", a, d, err, archived, deleted)
	}
}

// What is over is over at its time, whenever a sweep comes by: in the week after its day nobody can tell whether one did.
func TestSweepChangesNothingThatIsSeen(t *testing.T) {
	ctx := context.Background()
	changes := scratch.Changes{Put: []scratch.Change{note("a"), note("b"), note("new")}, Archive: []string{"a", "b"}, Clear: []string{"a"}}
	for _, at := range []time.Duration{day - time.Microsecond, day, day + week - time.Microsecond, day + week, day + 2*week} {
		now := start.Add(at)
		var seen []string
		for _, when := range []time.Duration{0, day, at} { // of a sweep; the first has nothing to do
			rows := &memory{}
			write(t, rows, staged(t, &scratch.Page{}, puts(note("a"), insight("b", "f")), start))
			old := load(t, rows, start)
			if _, _, err := scratch.Sweep(ctx, rows, start.Add(min(when, at)), 10); err != nil {
				t.Fatal(err)
			}
			kept, err := scratch.LoadKept(ctx, rows, tenant, segment, now)
			if err != nil {
				t.Fatal(err)
			}
			story := text(load(t, rows, now).Observations()) + text(scratch.Found(kept))
			for _, page := range []*scratch.Page{load(t, rows, now), old, old.At(now)} {
				page, err := page.Including(ctx, rows, tenant, segment, changes, now)
				if err != nil {
					t.Fatal(err)
				}
				s := page.Stage(changes, now, counter())
				for _, r := range s.Refused {
					story += r.ID + ": " + r.Reason + "\n"
				}
				story += text(s.Next.Observations())
			}
			seen = append(seen, story)
		}
		if seen[0] != seen[1] || seen[0] != seen[2] {
			t.Errorf("after %v: %s", at, cmp.Diff(seen[0], seen[2])+cmp.Diff(seen[0], seen[1]))
		}
	}
}

func TestSweep(t *testing.T) {
	rows := &memory{}
	write(t, rows, staged(t, &scratch.Page{}, scratch.Changes{Put: []scratch.Change{note("a"), note("b")}, Archive: []string{"b"}}, start))
	damaged := rows.rows[0]
	damaged.ID, damaged.Doc = "c", "{}"
	rows.rows = append(rows.rows, damaged)
	sweep(t, rows, start.Add(day-time.Microsecond), 0, 0)
	sweep(t, rows, start.Add(day+time.Hour), 2, 0)
	if _, err := scratch.LoadKept(t.Context(), rows, tenant, segment, start.Add(day+time.Hour)); err != nil {
		t.Errorf("what is damaged keeps the rest from being read: %v", err)
	}
	sweep(t, rows, start.Add(week), 0, 1)
	slices.SortFunc(rows.rows, func(a, b memoryRow) int { return a.Expires.Compare(b.Expires) })
	for i, id := range []string{"a", "c"} {
		if r := rows.rows[i]; r.ID != id || r.tenant != tenant || r.segment != segment || r.Status != scratch.Archived || !r.Expires.Equal(start.Add(day+week)) || !r.At.Equal(start) {
			t.Errorf("%+v", r)
		}
	}
	if o, err := scratch.DecodeObservation(rows.rows[0].Doc); err != nil || o.Status != scratch.Archived || !o.ExpiresAt.Equal(start.Add(day+week)) || o.Content != "about a" {
		t.Errorf("%+v, %v", o, err)
	}
	sweep(t, rows, start.Add(day+week-time.Microsecond), 0, 0)
	sweep(t, rows, start.Add(day+week), 0, 2)

	down := errors.New("down")
	if _, _, err := scratch.Sweep(t.Context(), &memory{failure: down}, start, 1); !errors.Is(err, down) {
		t.Error(err)
	}
}

// What a flow found out is there for a summary after its day too, but not what somebody was done with.
func TestFound(t *testing.T) {
	rows := &memory{}
	var first scratch.Changes
	for _, id := range []string{"f1", "f2", "f3", "f4"} {
		first.Put = append(first.Put, insight(id, "f"))
	}
	first.Put = append(first.Put, insight("done", "g"), note("none"))
	first.Archive = []string{"done"}
	write(t, rows, staged(t, &scratch.Page{}, first, start))
	later := start.Add(25 * time.Hour)
	write(t, rows, staged(t, load(t, rows, later), puts(insight("f0", "f"), insight("f00", "f"), insight("g1", "g")), later))
	for _, swept := range []bool{false, true} {
		if swept {
			sweep(t, rows, later, 5, 0)
		}
		page, err := scratch.LoadKept(t.Context(), rows, tenant, segment, later)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, o := range scratch.Found(page) {
			ids = append(ids, o.ID)
		}
		if diff := cmp.Diff([]string{"f2", "f3", "f4", "f0", "f00", "g1"}, ids); diff != "" {
			t.Error(diff)
		}
		if n := len(page.Observations()); n != 3 {
			t.Errorf("%d are live", n)
		}
	}
}

func TestFoundHasRoomForAFullScratchpad(t *testing.T) {
	rows := &memory{}
	for i := range scratch.MaxInsights + 1 {
		at := start.Add(time.Duration(i) * time.Hour)
		write(t, rows, staged(t, load(t, rows, at), puts(insight(fmt.Sprintf("i%03d", i), fmt.Sprint("f", i))), at))
	}
	page, err := scratch.LoadKept(t.Context(), rows, tenant, segment, start.Add(week))
	if err != nil {
		t.Fatal(err)
	}
	if found := scratch.Found(page); len(found) != scratch.MaxInsights || found[0].ID != "i001" {
		t.Errorf("found %d, the oldest %s", len(found), found[0].ID)
	}
}
