package server_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// The clock jumps, forth and back, between requests and in the middle of replies. The order of turns and of events is
// that in which they came, what is said is answered or refused, and the session goes on.
func TestTheClockJumps(t *testing.T) {
	var ahead atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	db := newStore(t, t.TempDir(), sqlite.Config{Clock: clock})
	var meanwhile atomic.Int64 // how far the clock jumps while the model answers
	eng := openedOn(t, db, turnstone.Config{Clock: clock, Model: llmtest.Respond(func(llm.Request) llmtest.Reply {
		ahead.Add(meanwhile.Swap(0))
		return llmtest.Reply{Text: "Yes."}
	})})
	c, _ := exposed(t, eng, server.Limits{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"a"}`)
	looking := c.watch("/sessions/a/events")
	answered := 0
	var want []string
	for n, jump := range []time.Duration{time.Hour, -2 * time.Hour, 400 * 24 * time.Hour, -800 * 24 * time.Hour, 30 * time.Second, -30 * time.Second} {
		ahead.Add(int64(jump))
		name := fmt.Sprint(n)
		snap(t, eng, "a", name)
		want = append(want, "snapshot-created a/"+name)
		c.want(http.StatusOK, nil, "POST", "/sessions/s/say", `{"text":"Are you there?"}`)
		answered++
		// In the middle: a lease may have run out by the clock, which is refused then.
		meanwhile.Store(int64(jump))
		got := c.do("POST", "/sessions/s/say", `{"text":"And now?"}`)
		switch got.status {
		case http.StatusOK, http.StatusLocked:
		default:
			t.Errorf("after %v: %d %s", jump, got.status, got.body)
		}
		// It goes on.
		c.want(http.StatusOK, nil, "POST", "/sessions/s/say", `{"text":"Still there?"}`)
		answered++
	}
	if diff := cmp.Diff(want, looking.names(len(want))); diff != "" {
		t.Error(diff)
	}
	var shown struct {
		Items []struct {
			Seq  int
			ID   string `json:"turn_id"`
			Role string
		}
	}
	c.want(http.StatusOK, &shown, "GET", "/sessions/s/turns?limit=1000", nil)
	met, replies := make(map[string]bool), 0
	for i, turn := range shown.Items {
		if turn.Seq != i+1 || met[turn.ID] {
			t.Errorf("turn %+v in place %d", turn, i+1)
		}
		if met[turn.ID] = true; turn.Role == "agent" {
			replies++
		}
	}
	if replies < answered {
		t.Errorf("%d of %d replies are there", replies, answered)
	}
	if _, err := doctor.Examine(t.Context(), db, func(f doctor.Finding) { t.Error(f) }, nil); err != nil {
		t.Error(err)
	}
}
