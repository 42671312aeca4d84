package scratch_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnstone-dev/turnstone/scratch"
)

func write(t *testing.T, rows *memory, s scratch.Staged) {
	t.Helper()
	if err := scratch.Write(context.Background(), rows, tenant, segment, s); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, rows *memory, now time.Time) *scratch.Page {
	t.Helper()
	p, err := scratch.Load(context.Background(), rows, tenant, segment, now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWriteAndLoad(t *testing.T) {
	rows := &memory{}
	s := staged(t, &scratch.Page{}, scratch.Changes{Put: []scratch.Change{note("a"), note("b"), insight("c", "f")}, Archive: []string{"b"}}, start.Add(123456789))
	write(t, rows, s)
	if len(rows.rows) != 3 || rows.rows[0].tenant != tenant || rows.rows[0].segment != segment {
		t.Errorf("wrote %+v", rows.rows)
	}
	if diff := cmp.Diff(load(t, rows, start), s.Next, cmp.AllowUnexported(scratch.Page{}), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if p := load(t, rows, start.Add(25*time.Hour)); len(p.Observations()) != 0 {
		t.Errorf("expired, but live: %v", p.Observations())
	}
}

func TestArchivedNeverComesBack(t *testing.T) {
	ctx := context.Background()
	rows := &memory{}
	write(t, rows, staged(t, &scratch.Page{}, scratch.Changes{Put: []scratch.Change{note("a"), note("b"), note("c")}, Archive: []string{"a", "b"}}, start))
	ch := scratch.Changes{Put: []scratch.Change{note("a"), note("new"), note(""), note("c")}, Archive: []string{"a", "c"}, Clear: []string{"b"}}
	live := load(t, rows, start)
	page, err := live.Including(ctx, rows, tenant, segment, ch, start)
	if err != nil || rows.asked != 3 {
		t.Fatalf("%v after %d questions", err, rows.asked)
	}
	s := page.Stage(ch, start, counter())
	if len(s.Refused) != 2 || s.Refused[0].Reason != `id: observation "a" is archived and never comes back; put another` ||
		s.Refused[1].Reason != `clear: not resolved: "b" (archived); none was cleared; resolve them first, or leave them out` {
		t.Errorf("refused %+v", s.Refused)
	}
	if s := live.Stage(puts(note("a")), start, nil); len(s.Refused) > 0 {
		t.Errorf("the page itself was changed: %v", s.Refused)
	}
	if _, ok := page.Observation("a"); ok || len(page.Observations()) != 1 || len(live.Observations()) != 1 {
		t.Error("what is archived is on the page")
	}
	if len(s.Next.Observations()) != 2 {
		t.Errorf("live: %+v", s.Next.Observations())
	}
	// One whose day is over is archived as well.
	if page, err = load(t, rows, start.Add(25*time.Hour)).Including(ctx, rows, tenant, segment, ch, start.Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if s := page.Stage(puts(note("c")), start.Add(25*time.Hour), nil); len(s.Refused) != 1 {
		t.Errorf("it came back: %+v", s.Rows)
	}
	// Once swept, or due to be, the id is free again, whenever the page was read.
	if s := page.Stage(puts(note("a")), start.Add(scratch.ArchivedRetention), nil); len(s.Refused) > 0 {
		t.Errorf("its week is over: %v", s.Refused)
	}
	later := start.Add(scratch.LiveRetention + scratch.ArchivedRetention)
	if page, err = live.Including(ctx, rows, tenant, segment, ch, later); err != nil || page != live {
		t.Errorf("included what has expired, %v", err)
	}
}

func TestPageHandsOutCopies(t *testing.T) {
	tagged := insight("i", "f")
	tagged.Tags = &[]string{"x"}
	page := staged(t, &scratch.Page{}, puts(tagged), start).Next
	one, _ := page.Observation("i")
	for _, o := range []scratch.Observation{one, page.Observations()[0], scratch.Insights(page, "f")[0]} {
		o.ContextRefs[0], o.ContextRefs[1], o.Tags[0] = "x", "y", "z"
	}
	if now, _ := page.Observation("i"); now.Flow() != "f" || now.ContextRefs[0] != "turn:1" || now.Tags[0] != "x" {
		t.Errorf("the page was written to: %+v", now)
	}
}

func TestFailuresOfTheStore(t *testing.T) {
	ctx := context.Background()
	down := errors.New("down")
	rows := &memory{failure: down}
	s := staged(t, &scratch.Page{}, puts(note("a")), start)
	_, loading := scratch.Load(ctx, rows, tenant, segment, start)
	_, including := (&scratch.Page{}).Including(ctx, rows, tenant, segment, puts(note("a")), start)
	for name, err := range map[string]error{"load": loading, "including": including, "write": scratch.Write(ctx, rows, tenant, segment, s)} {
		if !errors.Is(err, down) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoadRefusesWhatItCannotRead(t *testing.T) {
	ctx := context.Background()
	good := staged(t, &scratch.Page{}, puts(note("a")), start).Rows[0]
	for name, edit := range map[string]func(*scratch.Row){
		"document":       func(r *scratch.Row) { r.Doc = "{}" },
		"another id":     func(r *scratch.Row) { r.ID = "b" },
		"another status": func(r *scratch.Row) { r.Status = scratch.Resolved },
	} {
		row := good
		edit(&row)
		rows := &memory{rows: []memoryRow{{tenant, segment, row}}}
		if _, err := scratch.Load(ctx, rows, tenant, segment, start); err == nil {
			t.Errorf("%s: read", name)
		}
		row.Status, row.ID = scratch.Archived, "z"
		rows = &memory{rows: []memoryRow{{tenant, segment, row}}}
		if _, err := (&scratch.Page{}).Including(ctx, rows, tenant, segment, puts(note("z")), start); err == nil {
			t.Errorf("%s: included", name)
		}
	}
}

func ids(list []scratch.Observation) (ids []string) {
	for _, o := range list {
		ids = append(ids, o.ID+" "+string(o.Status))
	}
	return ids
}

// What is archived is found among what is kept, for a week, whether somebody archived it or its day was over.
func TestKept(t *testing.T) {
	rows := &memory{}
	write(t, rows, staged(t, &scratch.Page{}, scratch.Changes{Put: []scratch.Change{insight("d", "f"), note("b"), note("c")}, Archive: []string{"c"}}, start))
	write(t, rows, staged(t, &scratch.Page{}, scratch.Changes{Put: []scratch.Change{insight("a", "f"), insight("e", "g")}, Archive: []string{"a"}}, start.Add(time.Hour)))
	for _, test := range []struct {
		after         time.Duration
		kept, all, of []string
	}{
		{
			after: 2 * time.Hour,
			kept:  []string{"a archived", "b active", "c archived", "d active", "e active"},
			all:   []string{"d active", "a archived", "e active"}, of: []string{"d active", "a archived"},
		},
		{
			after: scratch.LiveRetention,
			kept:  []string{"a archived", "b archived", "c archived", "d archived", "e active"},
			all:   []string{"d archived", "a archived", "e active"}, of: []string{"d archived", "a archived"},
		},
		{after: scratch.ArchivedRetention, kept: []string{"a archived", "b archived", "d archived", "e archived"},
			all: []string{"d archived", "a archived", "e archived"}, of: []string{"d archived", "a archived"}},
		{after: scratch.ArchivedRetention + 25*time.Hour},
	} {
		p, err := scratch.LoadKept(context.Background(), rows, tenant, segment, start.Add(test.after))
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []struct {
			name      string
			got, want []string
		}{
			{"kept", ids(p.Kept()), test.kept}, {"insights", ids(scratch.KeptInsights(p, "")), test.all}, {"of the flow", ids(scratch.KeptInsights(p, "f")), test.of},
		} {
			if diff := cmp.Diff(list.want, list.got); diff != "" {
				t.Errorf("%s after %s: %s", list.name, test.after, diff)
			}
		}
	}
}
