package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/store"
)

func TestSchemaVersionCountsTheMigrationsOfBothStores(t *testing.T) {
	for _, folder := range []string{"sqlite", "postgres"} {
		files, err := os.ReadDir(filepath.Join(folder, "migrations"))
		if err != nil || len(files) != store.SchemaVersion {
			t.Errorf("%s: %d migrations, %v; want %d", folder, len(files), err, store.SchemaVersion)
		}
	}
}

func TestTenantIsTheFirstColumnOfEveryKey(t *testing.T) {
	for _, table := range store.Schema {
		if table.Key[0] != "tenant" || table.Columns[0].Name != "tenant" {
			t.Errorf("%s: key %v, first column %s", table.Name, table.Key, table.Columns[0].Name)
		}
	}
}

func TestCompletedRows(t *testing.T) {
	table := store.Table{Columns: []store.Column{{"tenant", store.Text, false}, {"old", store.Int, true}, {"new", store.Text, true}, {"newest", store.Int, true}}}
	room := []any{"t", int64(1), "kept", "kept"}
	for _, test := range []struct{ given, want []any }{
		{[]any{"t", int64(1), "n", int64(2)}, []any{"t", int64(1), "n", int64(2)}},
		{room[:2], []any{"t", int64(1), nil, nil}},
		{[]any{"t"}, []any{"t", nil, nil, nil}},
		{nil, nil},
		{[]any{"t", nil, nil, nil, nil}, nil},
	} {
		got, err := table.Complete(test.given)
		if diff := cmp.Diff(test.want, got); diff != "" || (err == nil) != (test.want != nil) {
			t.Errorf("%v: %v\n%s", test.given, err, diff)
		}
	}
	if room[2] != "kept" {
		t.Errorf("the caller's values became %v", room)
	}
}
