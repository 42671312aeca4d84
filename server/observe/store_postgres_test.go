package observe_test

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/server/observe"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// A database that takes no updates is not ready, although it can be read.
func TestADatabaseThatTakesNoUpdates(t *testing.T) {
	address := pgtest.URL(t)
	under, err := postgres.Open(t.Context(), address, postgres.Config{RetryFor: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	first := under
	admin, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	execute := func(sql string) {
		t.Helper()
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	ready := func(want error) {
		t.Helper()
		for range 3 {
			if err := observe.NewStore(under).Ready(t.Context()); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
	}
	ready(nil)
	execute(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$`)
	execute(`CREATE TRIGGER refuse BEFORE INSERT ON leases FOR EACH ROW EXECUTE FUNCTION refuse()`)
	ready(store.ErrFull)
	execute(`DROP TRIGGER refuse ON leases`)
	ready(nil)
	// As at a standby, or where an administrator says so.
	reading, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := reading.Query()
	query.Set("default_transaction_read_only", "on")
	reading.RawQuery = query.Encode()
	if under, err = postgres.Open(t.Context(), reading.String(), postgres.Config{}); err != nil {
		t.Fatal(err)
	}
	ready(store.ErrReadOnly)
	if err := errors.Join(first.Close(), under.Close(), admin.Close(t.Context())); err != nil {
		t.Error(err)
	}
}
