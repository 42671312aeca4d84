package doctor_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// streamIn leaves an exchange of session "a" in the middle of its reply, and one of "b" before it.
func streamIn(ctx context.Context, st store.Store, opened string) error {
	now := time.UnixMicro(0).UTC()
	begun := turn.OpenExchange{ExportID: opened, Opened: opened, Started: now, Changed: now}
	streamed := begun
	streamed.Reply, streamed.Content = opened, `{"text":"so f"}`
	return st.Update(ctx, func(tx store.Tx) error {
		if err := tx.Log().PutExchange(ctx, turn.Key{Tenant: turn.DefaultTenant, Session: "b"}, begun); err != nil {
			return err
		}
		return tx.Log().PutExchange(ctx, turn.Key{Tenant: turn.DefaultTenant, Session: "a"}, streamed)
	})
}

func TestEveryBrokenExchangeIsFound(t *testing.T) {
	for _, c := range []struct {
		name, column string
		value        any
		want         string
	}{
		{"session", "session_id", "gone", "there is no such session"},
		{"export", "export_id", "x", `drafts of default/a: export_id "x" of the exchange that is under way is not a ULID`},
		{"input", "turn_id", "", `turn_id "" of the exchange that is under way is not a ULID`},
		{"reply", "reply_id", "x", `reply_id "x" of the exchange that is under way is not a ULID`},
		{"reply without an id", "reply_id", "", "do not go together"},
		{"reply without a text", "content", "", "do not go together"},
		{"text", "content", `{`, "what there is of reply"},
	} {
		p := healthy(t)
		p.set("drafts", 0, c.column, c.value)
		findings, _ := examine(t, p)
		if !slices.ContainsFunc(findings, func(f string) bool { return strings.Contains(f, c.want) }) {
			t.Errorf("%s: %q", c.name, findings)
		}
	}
}
