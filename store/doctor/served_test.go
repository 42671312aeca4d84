package doctor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// serveIn adds what a server writes: a second event with a place, two keys and two links of session "a".
func serveIn(ctx context.Context, st store.Store) error {
	now := time.UnixMicro(0).UTC()
	key := access.Key{ID: turngen.ID(1), Tenant: turn.DefaultTenant, Scopes: access.Everything(), CreatedAt: now}
	theirs := key
	theirs.ID, theirs.Tenant = turngen.ID(2), "other"
	link := chain.Link{Tenant: turn.DefaultTenant, Session: "a", Seq: 4, At: now}
	other := link
	other.Hash[0], other.Seq = 1, 6
	return st.Update(ctx, func(tx store.Tx) error {
		return errors.Join(
			tx.Outbox().InsertEvent(ctx, event.Event{ID: turngen.ID(9), Tenant: turn.DefaultTenant, Session: "a", Kind: event.SessionEnded, Data: `{}`, At: now}),
			tx.Outbox().PlaceEvents(ctx, turn.DefaultTenant),
			tx.Access().InsertKey(ctx, key), tx.Access().InsertKey(ctx, theirs),
			tx.Chains().PutLink(ctx, link), tx.Chains().PutLink(ctx, other),
		)
	})
}

func TestEveryBrokenRuleOfAServerIsFound(t *testing.T) {
	for _, c := range []struct {
		name, table string
		row         int
		column      string
		value       any
		want        string
	}{
		{"place twice", "events", 1, "place", int64(1), "events of default/a: event " + turngen.ID(9) + " has place 1, which is no place of its own"},
		{"place zero", "events", 0, "place", int64(0), "has place 0"},
		{"key's id", "access_keys", 0, "key_id", "x", "access_keys: key x: its id is not a ULID"},
		{"key twice", "access_keys", 1, "key_id", turngen.ID(1), "another tenant has one of that id"},
		{"no scopes", "access_keys", 0, "scopes", "", `"" are no scopes`},
		{"scopes", "access_keys", 0, "scopes", "root", `"root" are no scopes`},
		{"hash", "access_keys", 0, "hash", []byte{1}, "its hash has 1 bytes"},
		{"link's session", "chain_links", 0, "session_id", "gone", "chain_links of default/gone: there is no such session"},
		{"link's hash", "chain_links", 0, "hash", "abc", `"abc" is not a hash`},
		{"link beyond the end", "chain_links", 0, "seq", int64(7), "a link leads to turn 7 of 6"},
		{"link before the beginning", "chain_links", 0, "seq", int64(0), "a link leads to turn 0 of 6"},
	} {
		p := healthy(t)
		p.set(c.table, c.row, c.column, c.value)
		findings, _ := examine(t, p)
		if !slices.ContainsFunc(findings, func(f string) bool { return strings.Contains(f, c.want) }) {
			t.Errorf("%s: %q", c.name, findings)
		}
	}
}
