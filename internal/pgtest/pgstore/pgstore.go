// Package pgstore is the PostgreSQL store that most tests want: one with tables and without rows.
package pgstore

import (
	"context"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// URL returns where a store is that has its tables and no rows, as [pgtest.Reused] says.
func URL(t testing.TB) string {
	t.Helper()
	return pgtest.Reused(t, func(url string) error {
		s, err := postgres.Open(context.WithoutCancel(t.Context()), url, postgres.Config{})
		if err != nil {
			return err
		}
		return s.Close()
	})
}
