package front_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// An upstream server that said why it stopped is not writing a call, whatever tools it was offered.
func TestUpstreamThatStoppedIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var state commit.State
		eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{
			Observe: func(_ turn.Key, s commit.State) { state = s },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := eng.Close(); err != nil {
				t.Error(err)
			}
		}()
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			llmtest.Speak(w, r, `data: {"choices":[{"index":0,"delta":{"content":"Rain."},"finish_reason":"stop"}]}`, "", "!hang")
		}))
		f, err := front.New(front.Config{
			Engine:   func(*http.Request) (*turnstone.Engine, error) { return eng, nil },
			Upstream: front.Upstream{URL: s.URL, Kind: front.OpenAI, HTTP: s.HTTP},
		})
		if err != nil {
			t.Fatal(err)
		}
		const call = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"look"}}]}`
		begin, w := time.Now(), httptest.NewRecorder()
		f.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(call)))
		if waited := time.Since(begin); waited > 2*time.Minute || w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Rain.") || state != commit.Complete {
			t.Errorf("status %d after %s, %s: %s", w.Code, waited, state, w.Body)
		}
	})
}
