package openai_test

import (
	"flag"
	"fmt"
	"testing"

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
