package commit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/turn"
)

// What a session would refuse is refused in the same words where there is none yet, and not for want of one: nobody makes it for that.
func TestWhatIsRefusedNeedsNoSession(t *testing.T) {
	call := func(id string) turn.Draft {
		return turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: id, Name: "ls", Arguments: `{}`}}}}
	}
	result := func(name, id string) turn.Draft {
		return turn.Draft{Role: turn.System, Content: turn.Result{Name: name, CallID: id, Status: turn.CallOK, Result: `1`}}
	}
	keyed := func(text, key string) turn.Draft {
		return turn.Draft{Role: turn.User, Content: turn.Text{Text: text}, IdempotencyKey: key}
	}
	hash := strings.Repeat("0", 64)
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		for name, test := range map[string]struct {
			turns []turn.Draft
			says  string
		}{
			"two results of a call":  {[]turn.Draft{call("c"), result("ls", "c"), result("ls", "c")}, "turns[2].content.call_id: "},
			"a call that is open":    {[]turn.Draft{call("c"), call("c")}, "turns[1].content.tool_calls[0].id: "},
			"a result of no call":    {[]turn.Draft{call("c"), result("ls", "d")}, "turns[1].content.call_id: "},
			"a result by another":    {[]turn.Draft{call("c"), result("rm", "c")}, "turns[1].content.name: "},
			"two turns of a key":     {[]turn.Draft{keyed("a", "k"), keyed("b", "k")}, "turns[1].idempotency_key: "},
			"a key that is no UTF-8": {[]turn.Draft{keyed("a", "\xff")}, "turns[0].idempotency_key: "},
			"a key with a NUL":       {[]turn.Draft{keyed("a", "a\x00b")}, "turns[0].idempotency_key: "},
			"bytes that nobody has": {[]turn.Draft{{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{SHA256: hash, Size: 3}}}},
				"turns[0].content.sha256: "},
			"a summary of what comes": {[]turn.Draft{{
				Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: "s"}, Covers: turn.Range{From: 5, To: 9},
			}}, "turns[0].covers: "},
		} {
			for _, session := range []string{"none", key.Session} {
				_, err := w.pipeline.Commit(t.Context(), turn.Key{Tenant: key.Tenant, Session: session}, commit.Exchange{Turns: test.turns})
				if err == nil || errors.Is(err, turn.ErrNotFound) || !strings.Contains(err.Error(), ": "+test.says) {
					t.Errorf("%s, session %s: %v", name, session, err)
				}
			}
		}
		_, err := w.pipeline.Commit(t.Context(), turn.Key{Tenant: key.Tenant, Session: "none"}, commit.Exchange{Opened: w.say("hello").ID, Turns: talk("", "hi").Turns[1:]})
		if err == nil || errors.Is(err, turn.ErrNotFound) || !strings.Contains(err.Error(), ": turn_id: ") {
			t.Errorf("a turn of no session: %v", err)
		}
		fine := []turn.Draft{keyed("a", "k"), call("c"), result("ls", "c"), call("c"), result("ls", "c")}
		if _, err := w.pipeline.Commit(t.Context(), turn.Key{Tenant: key.Tenant, Session: "none"}, commit.Exchange{Turns: fine}); !errors.Is(err, turn.ErrNotFound) {
			t.Errorf("what a session would take: %v", err)
		}
	})
}
