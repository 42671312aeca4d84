package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/store/storetest"
)

func TestSuite(t *testing.T) {
	storetest.Run(t, func(t testing.TB) store.Store { return openNew(t, sqlite.Config{}) })
}

func TestSuiteWithoutGroupCommit(t *testing.T) {
	alone(t)
	storetest.Run(t, func(t testing.TB) store.Store { return openNew(t, sqlite.Config{GroupCommit: 1}) })
}

func TestTwoStoresOnOneFile(t *testing.T) {
	storetest.RunShared(t, func(t testing.TB) (store.Store, store.Store) {
		path := litetest.File(t, filepath.Join(t.TempDir(), "test.db"))
		return open(t, path, sqlite.Config{}), open(t, path, sqlite.Config{})
	})
}

func TestSchema(t *testing.T) {
	storetest.CompareSchema(t, openNew(t, sqlite.Config{}))
}
