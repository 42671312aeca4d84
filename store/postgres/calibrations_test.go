package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// Who has read what is known about a model keeps out others who write it, also where there is nothing yet
// and also those who did not read. Other models and tenants are not kept waiting.
func TestACalibrationIsKeptFromOthers(t *testing.T) {
	alone(t)
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	admin := connect(t, address)
	put := func(tx store.Tx, tenant, model, doc string) error {
		return tx.Budget().PutCalibration(t.Context(), tenant, budget.CalibrationRow{Model: model, Doc: doc, At: time.UnixMicro(0)})
	}
	alone := func(tenant, model, doc string) error {
		return s.Update(t.Context(), func(tx store.Tx) error { return put(tx, tenant, model, doc) })
	}
	other := make(chan error, 1)
	err := s.Update(t.Context(), func(tx store.Tx) error {
		if _, ok, err := tx.Budget().Calibration(t.Context(), "default", "m"); ok || err != nil {
			t.Errorf("found before anything was written: %v, %v", ok, err)
		}
		if err := errors.Join(alone("default", "n", `{}`), alone("zoo", "m", `{}`)); err != nil {
			return err
		}
		go func() { other <- alone("default", "m", `{"second":true}`) }()
		await(t, admin, 1, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
		return put(tx, "default", "m", `{"first":true}`)
	})
	if err := errors.Join(err, <-other); err != nil {
		t.Fatal(err)
	}
	err = s.View(t.Context(), func(tx store.Tx) error {
		c, _, err := tx.Budget().Calibration(t.Context(), "default", "m")
		if c.Doc != `{"second":true}` {
			t.Errorf("known is %s", c.Doc)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
