package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/store"
)

// CompareSchema holds the tables that a database says it has against [store.Schema]: the same
// tables, columns, types, nulls and keys. Beyond them there may only be what is made anew from them
// or ends by itself: the indexes over turns, intentions and memory items (turn_text, turn_places, intention_places,
// intention_heads, reminders, memory_…, and what the database adds to their names), their marks, where prompts ended, the last places of events,
// what is being published and was published together, and the follow-up context.
func CompareSchema(t testing.TB, s interface {
	Tables(ctx context.Context) ([]store.Table, error)
}) {
	t.Helper()
	tables, err := s.Tables(t.Context())
	if err != nil {
		t.Fatalf("tables: %v", err)
	}
	have := make(map[string]store.Table)
	for _, table := range tables {
		have[table.Name] = sorted(table)
	}
	for _, want := range store.Schema {
		got, there := have[want.Name]
		if !there {
			t.Errorf("there is no table %s", want.Name)
			continue
		}
		delete(have, want.Name)
		same(t, "table "+want.Name, got, sorted(want))
		if want.Key[0] != "tenant" {
			t.Errorf("table %s: the first column of the key is %s, not tenant", want.Name, want.Key[0])
		}
	}
	derived := []string{"text_marks", "light_contexts", "turn_text", "turn_places", "intention_places", "intention_heads", "reminders", "memory_", "outbox_claims", "relay", "publications", "prompt_ends", "event_places"}
	for name := range have {
		if !slices.ContainsFunc(derived, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			t.Errorf("table %s is in no schema", name)
		}
	}
}

// sorted brings columns into the order of their names: theirs in the database is a matter of
// migrations.
func sorted(table store.Table) store.Table {
	table.Columns = slices.SortedFunc(slices.Values(table.Columns), func(a, b store.Column) int { return strings.Compare(a.Name, b.Name) })
	return table
}
