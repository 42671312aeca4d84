package postgres_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/storetest"
)

func TestStoreKeepsTheRulesOfTheSocket(t *testing.T) {
	storetest.Run(t, func(t testing.TB) store.Store { return open(t, pgstore.URL(t), postgres.Config{}) })
}

func TestTwoStoresShareADatabase(t *testing.T) {
	storetest.RunShared(t, func(t testing.TB) (a, b store.Store) {
		url := pgstore.URL(t)
		return open(t, url, postgres.Config{}), open(t, url, postgres.Config{})
	})
}

func TestSchemaIsTheSame(t *testing.T) {
	storetest.CompareSchema(t, open(t, pgstore.URL(t), postgres.Config{}))
}
