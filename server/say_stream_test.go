package server_test

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// listener is a client that notes when something came to it.
type listener struct {
	*httptest.ResponseRecorder
	began time.Time
	first time.Duration
	gone  time.Duration // from when on it takes nothing, 0 for never
}

func (l *listener) SetWriteDeadline(time.Time) error { return nil }

func (l *listener) WriteHeader(status int) {
	l.first = time.Since(l.began)
	l.ResponseRecorder.WriteHeader(status)
}

func (l *listener) Write(b []byte) (int, error) {
	if l.gone > 0 && time.Since(l.began) >= l.gone {
		return 0, http.ErrHandlerTimeout
	}
	return l.ResponseRecorder.Write(b)
}

// failing is a model that cannot be reached, which takes it a while to find out.
type failing struct{ after time.Duration }

func (m failing) Stream(ctx context.Context, _ llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		select {
		case <-time.After(m.after):
			yield(llm.Chunk{}, &llm.Error{Kind: llm.ErrUnreachable})
		case <-ctx.Done():
			yield(llm.Chunk{}, llm.Ended(ctx))
		}
	}
}

// hearing says something to a model in a world without a network, whose time costs nothing, and returns what came of it.
func hearing(t *testing.T, model llm.Model, gone time.Duration, inspect func(*testing.T, *listener, *turnstone.Engine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{Model: model, ModelName: "llama3.2"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := eng.Close(); err != nil {
				t.Error(err)
			}
		}()
		s, err := server.New(server.Config{Engine: eng})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/api/v1/sessions/s/say?create=true", strings.NewReader(`{"text":"Hello."}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "text/event-stream")
		r.RemoteAddr = "127.0.0.1:1"
		l := &listener{ResponseRecorder: httptest.NewRecorder(), began: time.Now(), gone: gone}
		s.Handler().ServeHTTP(l, r)
		inspect(t, l, eng)
	})
}

// A model that thinks for long is no reason for a proxy to hang up.
func TestAReplyThatTakesLongShowsThatItIsAlive(t *testing.T) {
	model := llmtest.Replies(llmtest.Reply{Text: "One two.", Delay: 40 * time.Second, Usage: llm.Usage{Prompt: 30, Answer: 2}})
	hearing(t, model, 0, func(t *testing.T, l *listener, _ *turnstone.Engine) {
		var kinds []string
		for line := range strings.Lines(l.Body.String()) {
			if name, isEvent := strings.CutPrefix(line, "event: "); isEvent || strings.HasPrefix(line, ":") {
				kinds = append(kinds, strings.TrimSpace(name))
			}
		}
		const want = ": alive,: alive,text,: alive,: alive,text,: alive,: alive,reply"
		if got := strings.Join(kinds, ","); got != want || l.first != 15*time.Second {
			t.Errorf("after %v: %s", l.first, got)
		}
	})
}

// What goes wrong soon has its status; later it is the last event.
func TestAModelThatFailsBeforeItSaysAnything(t *testing.T) {
	hearing(t, failing{14 * time.Second}, 0, func(t *testing.T, l *listener, _ *turnstone.Engine) {
		if l.Code != http.StatusBadGateway || l.Header().Get("Content-Type") != "application/problem+json" || strings.Contains(l.Body.String(), "alive") {
			t.Errorf("%d %v %s", l.Code, l.Header(), l.Body)
		}
	})
	hearing(t, failing{20 * time.Second}, 0, func(t *testing.T, l *listener, _ *turnstone.Engine) {
		if l.Code != http.StatusOK || !strings.Contains(l.Body.String(), "event: problem\n") || !strings.Contains(l.Body.String(), `"status":502`) {
			t.Errorf("%d %v %s", l.Code, l.Header(), l.Body)
		}
	})
}

// A client that takes nothing any more is found out by that, and the exchange ends.
func TestAClientThatIsLostWhileTheModelThinks(t *testing.T) {
	hearing(t, failing{5 * time.Minute}, 20*time.Second, func(t *testing.T, l *listener, eng *turnstone.Engine) {
		if took := time.Since(l.began); took != 30*time.Second {
			t.Errorf("it took %v", took)
		}
		chat, err := eng.Find(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		said, err := chat.Since(t.Context(), 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if export, err := eng.Export(t.Context(), said[0].ID); err != nil || export.Status != commit.Interrupted {
			t.Errorf("the exchange is %s, %v", export.Status, err)
		}
	})
}
