package compress_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
)

func TestTheModelIsAskedForTheWindow(t *testing.T) {
	for _, window := range []int{0, 6963} {
		m := llmtest.NewScript(good)
		if _, err := (compress.Model{LLM: m, Window: window}).Summarise(t.Context(), request((&log{}).user("Go."), 100)); err != nil {
			t.Fatal(err)
		}
		if got := m.Asked()[0]; got.Context != window || got.MaxTokens != 100 {
			t.Errorf("window %d: asked for %d and an answer of %d", window, got.Context, got.MaxTokens)
		}
	}
}
