package openai_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/llm/openai"
)

var update = flag.Bool("update", false, "rewrite what the model makes of the exchanges")

func TestExchanges(t *testing.T) {
	llmtest.Exchanges(t, "testdata/exchanges", *update, func(s *llmtest.Server) llm.Model {
		return openai.New("llama3.2", openai.Options{BaseURL: s.URL + "/v1", HTTP: s.HTTP})
	})
}

func TestSuite(t *testing.T) {
	llmtest.Suite(t, llmtest.Client{
		New: func(s *llmtest.Server, l llm.Limits, b llm.Backoff) llm.Model {
			return openai.New("llama3.2", openai.Options{BaseURL: s.URL + "/v1", HTTP: s.HTTP, Limits: l, Backoff: b})
		},
		Piece: func(text string) []string {
			return []string{fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`, text), ""}
		},
		End: []string{
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "",
			`data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}`, "",
			"data: [DONE]",
		},
	})
}

func TestLive(t *testing.T) {
	llmtest.Live(t, func(model, url string) llm.Model {
		return openai.New(model, openai.Options{BaseURL: url + "/v1"})
	})
}

// Whoever waits for a call that is written for minutes must not take it for silence.
func TestACallThatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const piece = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"write","arguments":"%s"}}]}}]}`
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			lines := []string{fmt.Sprintf(piece, `{\"text\":\"`)}
			for range 5 {
				lines = append(lines, "!wait 1m", fmt.Sprintf(piece, "word "))
			}
			llmtest.Speak(w, r, append(lines, "!wait 1m", fmt.Sprintf(piece, `\"}`), "data: [DONE]")...)
		}))
		m := openai.New("gpt", openai.Options{BaseURL: s.URL, HTTP: s.HTTP})
		last, calls := time.Now(), 0
		for chunk, err := range m.Stream(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Write!"}}}) {
			if silence := time.Since(last); err != nil || silence > time.Minute {
				t.Errorf("after %s: %+v, %v", silence, chunk, err)
			}
			last = time.Now()
			calls += len(chunk.Calls)
		}
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
	})
}

// What was said to its end stays so, even if whoever waits for more gives up first.
func TestAnAnswerThatIsCompleteWhenItIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			llmtest.Speak(w, r, `data: {"choices":[{"index":0,"delta":{"content":"Rain."},"finish_reason":"stop"}]}`, "!hang")
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		m := openai.New("gpt", openai.Options{BaseURL: s.URL, HTTP: s.HTTP})
		got, err := llm.Complete(ctx, m, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Weather?"}}})
		if err != nil || got.Text != "Rain." || got.Stop != llm.StopEnd {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// Who stops and cancels is told nothing more.
func TestACallerThatStopsAndCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			llmtest.Speak(w, r, `data: {"choices":[{"index":0,"delta":{"content":"Rain."},"finish_reason":"stop"}]}`, "data: [DONE]")
		}))
		m := openai.New("gpt", openai.Options{BaseURL: s.URL, HTTP: s.HTTP})
		for _, end := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			for chunk, err := range m.Stream(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Weather?"}}}) {
				if err != nil {
					t.Error(err)
				}
				if (chunk.Stop != "") == end {
					cancel()
					break
				}
			}
			cancel()
		}
	})
}

// Whoever said why it stopped is not writing a call, whatever tools it was offered.
func TestAnAnswerThatIsCompleteIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			llmtest.Speak(w, r, `data: {"choices":[{"index":0,"delta":{"content":"Rain."},"finish_reason":"stop"}]}`, "!hang")
		}))
		m := openai.New("gpt", openai.Options{BaseURL: s.URL, HTTP: s.HTTP})
		begin := time.Now()
		got, err := llm.Complete(t.Context(), m, llm.Request{
			Messages: []llm.Message{{Role: llm.User, Text: "Weather?"}}, Tools: []llm.Tool{{Name: "look"}},
		})
		if waited := time.Since(begin); err != nil || got.Text != "Rain." || waited > 2*time.Minute {
			t.Errorf("after %s: %+v, %v", waited, got, err)
		}
	})
}
