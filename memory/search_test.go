package memory_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/memory"
)

func TestSearchCompile(t *testing.T) {
	since := noon.Add(-day).Add(time.Nanosecond)
	s := memory.Search{
		Text: "Migrated sessions", Tags: []string{"CI", "ci"}, Type: memory.Error, User: "ada", Since: since, Until: noon,
		MinImportance: .5, Archived: true, Order: memory.MostImportant, Limit: 7,
	}
	got, err := s.Compile("acme", 3, noon)
	if err != nil {
		t.Fatal(err)
	}
	want := memory.Filter{
		Tenant: "acme", Segment: 3, User: "ada", Type: memory.Error, Tags: []string{"ci"}, Terms: []string{"migrat", "session"},
		Since: noon.Add(-day).Add(time.Microsecond), Until: noon, MinImportance: 500000, Archived: true, ByImportance: true, Limit: 7, Now: noon,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, err = memory.Search{}.Compile("acme", 0, noon)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(memory.Filter{Tenant: "acme", Terms: []string{}, Limit: 50, Now: noon}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSearchCursor(t *testing.T) {
	page := []memory.Row{{ID: "01JC0000000000000000000002", Importance: 700000}, {ID: itemID, Importance: 600000}}
	for _, order := range []memory.Order{memory.Newest, memory.MostImportant} {
		s := memory.Search{Order: order, Limit: 2}
		f, err := s.Compile("acme", 0, noon)
		if err != nil {
			t.Fatal(err)
		}
		if next := f.Next(page[:1]); next != "" {
			t.Errorf("a page that is not full has a next one: %q", next)
		}
		s.Cursor = f.Next(page)
		next, err := s.Compile("acme", 0, noon)
		if err != nil {
			t.Fatal(err)
		}
		want := f
		want.After = itemID
		if order == memory.MostImportant {
			want.AfterImportance = 600000
		}
		if diff := cmp.Diff(want, next); diff != "" {
			t.Error(diff)
		}
		other := memory.Search{Order: memory.Newest, Cursor: s.Cursor}
		if order == memory.Newest {
			other.Order = memory.MostImportant
		}
		_, err = other.Compile("acme", 0, noon)
		wantField(t, err, "cursor")
	}
}

func TestSearchRefuses(t *testing.T) {
	tests := []struct {
		search memory.Search
		field  string
	}{
		{memory.Search{Text: "?!"}, "text"},
		{memory.Search{Text: "\xff"}, "text"},
		{memory.Search{Tags: []string{""}}, "tags[0]"},
		{memory.Search{Type: memory.Type(strings.Repeat("x", 129))}, "type"},
		{memory.Search{User: strings.Repeat("x", 129)}, "user"},
		{memory.Search{Since: noon, Until: noon}, "until"},
		{memory.Search{MinImportance: math.NaN()}, "min_importance"},
		{memory.Search{MinImportance: 1.1}, "min_importance"},
		{memory.Search{Order: "oldest"}, "order"},
		{memory.Search{Limit: -1}, "limit"},
		{memory.Search{Limit: 1001}, "limit"},
		{memory.Search{Cursor: "x"}, "cursor"},
		{memory.Search{Cursor: "bm90IGFuIGlkIGJ1dCBsb25nIGVub3VnaCE"}, "cursor"},
		{memory.Search{Cursor: "!"}, "cursor"},
	}
	for _, tt := range tests {
		_, err := tt.search.Compile("acme", 0, noon)
		wantField(t, err, tt.field)
	}
}
