package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

func lightKey(session string) dialogue.LightKey {
	return dialogue.LightKey{Tenant: "default", Session: session}
}

// Any bytes come back as they were, and null is not the empty string.
func TestLightKeepsBytes(t *testing.T) {
	alone(t)
	l := open(t, pgstore.URL(t), postgres.Config{}).Light()
	for i, c := range []dialogue.LightContext{
		{PendingFields: []string{}},
		{LastIntent: new(""), PendingFields: []string{""}},
		{LastIntent: new("a\x00b"), LastTaskID: new("\xff\xfe"), PendingFields: []string{"\x00", "ü", "{,}\"NULL\""}, LastUserMessage: new("\\x00 %s")},
	} {
		k := lightKey(fmt.Sprint(i))
		if err := l.Store(t.Context(), k, c); err != nil {
			t.Fatal(err)
		}
		got, ok, err := l.Retrieve(t.Context(), k)
		if err != nil || !ok {
			t.Fatalf("context %d: %v, %v", i, ok, err)
		}
		if diff := cmp.Diff(c, got); diff != "" {
			t.Errorf("context %d: %s", i, diff)
		}
	}
	var bad *dialogue.FieldError
	for _, session := range []string{"", "a\x00b", "\xff"} {
		if err := l.Store(t.Context(), lightKey(session), dialogue.LightContext{}); !errors.As(err, &bad) || bad.Name != "session" {
			t.Errorf("session %q: got %v, want an error that names the session", session, err)
		}
	}
}

// Processes with clocks of their own agree on when a context is over: the database's counts.
func TestLightExpiresByTheDatabasesClock(t *testing.T) {
	address := pgstore.URL(t)
	l := open(t, address, postgres.Config{LightTimeout: time.Hour}).Light()
	admin := connect(t, address)
	if err := l.Store(t.Context(), lightKey("s"), dialogue.LightContext{LastIntent: new("add")}); err != nil {
		t.Fatal(err)
	}
	left := ask[float64](t, admin, `SELECT expires_at / 1e6 - extract(epoch FROM clock_timestamp()) FROM light_contexts`)
	if left > 3600 || left < 3500 {
		t.Errorf("%v seconds are left of an hour", left)
	}
	execute(t, admin, `UPDATE light_contexts SET expires_at = expires_at - 3600 * 1000000::bigint`)
	if _, ok, err := l.Retrieve(t.Context(), lightKey("s")); ok || err != nil {
		t.Errorf("%v, %v; want nothing", ok, err)
	}
	if err := l.Store(t.Context(), lightKey("s"), dialogue.LightContext{LastIntent: new("again")}); err != nil {
		t.Fatal(err)
	}
	if c, ok, err := l.Retrieve(t.Context(), lightKey("s")); !ok || err != nil || *c.LastIntent != "again" {
		t.Errorf("%+v, %v, %v", c, ok, err)
	}
}

func TestLightExpiresByAGivenClock(t *testing.T) {
	now := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	l := open(t, pgstore.URL(t), postgres.Config{Clock: func() time.Time { return now }}).Light()
	if err := l.Store(t.Context(), lightKey("s"), dialogue.LightContext{}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		ok    bool
	}{{dialogue.LightTimeout - time.Microsecond, true}, {time.Microsecond, false}} {
		now = now.Add(step.after)
		if _, ok, err := l.Retrieve(t.Context(), lightKey("s")); ok != step.ok || err != nil {
			t.Errorf("at %v: %v, %v; want %v", now, ok, err, step.ok)
		}
	}
}

// What is heard leaves the rest as it is, but brings nothing back whose time is over.
func TestLightHearsByAGivenClock(t *testing.T) {
	now := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	s := open(t, pgstore.URL(t), postgres.Config{Clock: func() time.Time { return now }})
	if err := s.Light().Store(t.Context(), lightKey("s"), dialogue.LightContext{LastIntent: new("add"), LastTaskID: new("7"), PendingFields: []string{"due"}}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after  time.Duration
		fields int
	}{{dialogue.LightTimeout - time.Microsecond, 1}, {dialogue.LightTimeout, 0}} {
		now = now.Add(step.after)
		err := s.Update(t.Context(), func(tx store.Tx) error { return tx.Light().HearLight(t.Context(), lightKey("s"), "it") })
		if err != nil {
			t.Fatal(err)
		}
		c, ok, err := s.Light().Retrieve(t.Context(), lightKey("s"))
		if err != nil || !ok || len(c.PendingFields) != step.fields || (c.LastIntent != nil) != (step.fields > 0) || (c.LastTaskID != nil) != (step.fields > 0) || *c.LastUserMessage != "it" {
			t.Errorf("at %v: %+v, %v, %v", now, c, ok, err)
		}
	}
}

// Rows of sessions that nobody comes back to do not stay.
func TestLightIsSwept(t *testing.T) {
	address := pgstore.URL(t)
	l := open(t, address, postgres.Config{}).Light()
	admin := connect(t, address)
	execute(t, admin, `INSERT INTO light_contexts (tenant, session_id, pending_fields, expires_at)
		SELECT 'default', 'old-' || n, '{}', n FROM generate_series(1, 100) n`)
	for i := range 65 {
		if err := l.Store(t.Context(), lightKey(fmt.Sprint(i)), dialogue.LightContext{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := ask[int](t, admin, `SELECT count(*) FROM light_contexts`); n != 65 {
		t.Errorf("%d contexts, want 65", n)
	}
}

// The follow-up context costs no wait for the disk and survives no crash, which it need not.
func TestLightIsUnlogged(t *testing.T) {
	alone(t)
	address := pgstore.URL(t)
	open(t, address, postgres.Config{})
	if kind := ask[string](t, connect(t, address), `SELECT relpersistence::text FROM pg_class WHERE oid = 'light_contexts'::regclass`); kind != "u" {
		t.Errorf("the table's persistence is %q, want u", kind)
	}
}

func TestLightGoesOnAfterALostConnection(t *testing.T) {
	line, address := newProxy(t, pgstore.URL(t))
	l := open(t, address, postgres.Config{}).Light()
	for i := range 3 {
		if err := l.Store(t.Context(), lightKey("s"), dialogue.LightContext{LastTaskID: new(strings.Repeat("x", i))}); err != nil {
			t.Fatal(err)
		}
		line.hangUp()
		c, ok, err := l.Retrieve(t.Context(), lightKey("s"))
		if err != nil || !ok || len(*c.LastTaskID) != i {
			t.Errorf("%+v, %v, %v", c, ok, err)
		}
		line.hangUp()
	}
}
