package postgres_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/storetest"
)

func TestSuite(t *testing.T) {
	storetest.Run(t, func(t testing.TB) store.Store { return open(t, pgtest.URL(t), postgres.Config{}) })
}

// open opens a store and closes it when the test ends, if the test did not.
func open(t testing.TB, url string, cfg postgres.Config) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}
