package server_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// A server ends the sessions that rest, also of tenants that nobody has asked for since it started.
func TestSessionsThatRestEnd(t *testing.T) {
	folder := t.TempDir()
	before, err := turnstone.Open(t.Context(), newStore(t, folder, sqlite.Config{}), turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := before.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	for _, eng := range []*turnstone.Engine{before, other} {
		if _, err := eng.Session(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	db := newStore(t, folder, sqlite.Config{})
	eng := openedOn(t, db, turnstone.Config{IdleAfter: time.Nanosecond})
	c := exposedWith(t, server.Config{Engine: eng, EndIdle: time.Millisecond, Guard: doorman{
		"own":   {Key: "a", Tenant: eng.Tenant(), Scopes: access.Everything()},
		"other": {Key: "b", Tenant: "other", Scopes: access.Everything()},
	}})
	for _, who := range []string{"other", "own"} {
		for status := ""; status != "ended"; pause.For(t.Context(), time.Millisecond) {
			var shown struct{ Status string }
			c.want(http.StatusOK, &shown, "GET", "/sessions/s", nil, "Authorization", "Bearer "+who)
			status = shown.Status
		}
	}
}
