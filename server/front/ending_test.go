package front_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/turn"
)

// A server that does not wait for a reply any longer ends it: the exchange is committed as interrupted, and the client, who
// is still there, is told in the words of its API. It would take an answer of nothing for the whole.
func TestServerEndsInMidReply(t *testing.T) {
	combinations(t, func(t *testing.T, api, upstream front.Kind, stream bool) {
		arrived, over := make(chan struct{}), make(chan struct{})
		defer close(over)
		script := newScripted(t, upstream)
		script.oblige = func(*asked) answer {
			close(arrived)
			<-over
			return says("too late")
		}
		w := newWorld(t, script)
		f, err := front.New(front.Config{
			Engine:   func(*http.Request) (*turnstone.Engine, error) { return w.engine, nil },
			Upstream: front.Upstream{URL: script.url(), Kind: script.kind},
		})
		if err != nil {
			t.Fatal(err)
		}
		base, end := context.WithCancelCause(t.Context())
		server := httptest.NewUnstartedServer(f.Handler())
		server.Config.BaseContext = func(net.Listener) context.Context { return base }
		server.Start()
		t.Cleanup(server.Close)
		chat := w.talk(api, stream)
		chat.url, chat.history = server.URL, []m{user("hi")}
		go func() {
			<-arrived
			for list, err := []turn.SessionInfo(nil), error(nil); len(list) == 0 && err == nil; { // the server is asked before that is on disk
				list, err = w.engine.Sessions(t.Context(), turn.SessionFilter{})
			}
			end(errors.New("the server is ending"))
		}()
		r := chat.call(t.Context())
		if !strings.Contains(r.failure, "the server is being stopped") {
			t.Errorf("status %d: %q", r.status, r.body)
		}
		if r.status != http.StatusServiceUnavailable {
			t.Errorf("status %d", r.status)
		}
		if state := w.ended(); state != commit.Interrupted {
			t.Errorf("it ended as %s", state)
		}
	})
}
