package ollama_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/llm/ollama"
)

var update = flag.Bool("update", false, "rewrite what the model makes of the exchanges")

func TestExchanges(t *testing.T) {
	llmtest.Exchanges(t, "testdata/exchanges", *update, func(s *llmtest.Server) llm.Model {
		return ollama.New("llama3.2", ollama.Options{BaseURL: s.URL, HTTP: s.HTTP})
	})
}

func TestSuite(t *testing.T) {
	llmtest.Suite(t, llmtest.Client{
		New: func(s *llmtest.Server, l llm.Limits, b llm.Backoff) llm.Model {
			return ollama.New("llama3.2", ollama.Options{BaseURL: s.URL, HTTP: s.HTTP, Limits: l, Backoff: b})
		},
		Piece: func(text string) []string {
			return []string{fmt.Sprintf(`{"message":{"role":"assistant","content":%q},"done":false}`, text)}
		},
		End: []string{`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":2}`},
	})
}

func TestLive(t *testing.T) {
	llmtest.Live(t, func(model, url string) llm.Model {
		return ollama.New(model, ollama.Options{BaseURL: url})
	})
}
