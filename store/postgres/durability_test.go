package postgres_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// Acknowledged means on disk, whatever the role is set to.
func TestCommitsWaitForTheDisk(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	admin := connect(t, address)
	role := ask[string](t, admin, `SELECT current_schema()::text`) + "_hasty"
	execute(t, admin, `CREATE ROLE `+role+` LOGIN SUPERUSER PASSWORD 'hasty'`)
	defer execute(t, admin, `DROP ROLE `+role)
	execute(t, admin, `ALTER ROLE `+role+` SET synchronous_commit = off`)
	open(t, address, postgres.Config{}) // the tables are not the role's
	hasty := with(t, address, func(u *url.URL) { u.User = url.UserPassword(role, "hasty") })
	for _, test := range []struct{ name, url, want string }{
		{"by default", hasty, "on"},
		{"on a replica too", with(t, hasty, parameter("synchronous_commit", "remote_apply")), "remote_apply"},
		{"by options", with(t, hasty, parameter("options", "-csynchronous_commit=off")), "on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, test.url, postgres.Config{})
			mustAppend(t, s, create(t, s, strings.ReplaceAll(test.name, " ", "-")), said("hello"))
			if err := s.IndexText(t.Context()); err != nil {
				t.Fatal(err)
			}
			err := s.Update(t.Context(), func(tx store.Tx) error {
				tx.SyncLater()
				how, err := postgres.Synchronous(t.Context(), tx)
				if how != "off" {
					t.Errorf("an update that nobody waits for is committed with %q", how)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			err = s.Connection(t.Context(), func(c *pgx.Conn) error {
				if got := ask[string](t, c, `SHOW synchronous_commit`); got != test.want {
					t.Errorf("synchronous_commit is %s, want %s", got, test.want)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
