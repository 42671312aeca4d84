package store_test

import (
	"os"
	"path/filepath"
	"testing"

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
