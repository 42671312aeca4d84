package llmtest

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/llm"
)

// Live has the client talk to a real Ollama server with the model that TURNSTONE_TEST_OLLAMA names, at
// TURNSTONE_TEST_OLLAMA_URL or, if that is empty, the usual address. Without a model it skips. The model should be
// one that can call tools.
func Live(t *testing.T, newModel func(model, url string) llm.Model) {
	name, url := os.Getenv("TURNSTONE_TEST_OLLAMA"), os.Getenv("TURNSTONE_TEST_OLLAMA_URL")
	if name == "" {
		t.Skip("TURNSTONE_TEST_OLLAMA names no model")
	}
	if url == "" {
		url = "http://127.0.0.1:11434"
	}
	m := newModel(name, url)
	cold := 0.0
	ask := llm.Request{Context: 2048, MaxTokens: 200, Temperature: &cold, Messages: []llm.Message{{Role: llm.User, Text: "What is the capital of France? One word."}}}

	t.Run("answers", func(t *testing.T) {
		got, err := llm.Complete(t.Context(), m, ask)
		if err != nil || strings.TrimSpace(got.Text+got.Thinking) == "" || got.Stop == "" || got.Usage.Prompt == 0 || got.Usage.Answer == 0 {
			t.Errorf("%+v, %v", got, err)
		}
		t.Logf("%q, %+v", got.Text, got.Usage)
	})
	t.Run("stops at the limit", func(t *testing.T) {
		r := ask
		r.MaxTokens, r.Messages = 8, []llm.Message{{Role: llm.User, Text: "Count from one to one hundred in words."}}
		got, err := llm.Complete(t.Context(), m, r)
		if err != nil || got.Stop != llm.StopLength || got.Usage.Answer > 8 {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("answers in JSON", func(t *testing.T) {
		r := ask
		r.JSON, r.Messages = true, []llm.Message{{Role: llm.User, Text: `Answer in JSON: {"capital": "the capital of France"}`}}
		got, err := llm.Complete(t.Context(), m, r)
		if err != nil || (llm.Call{Arguments: got.Text}).Check() != nil {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("takes the results of calls", func(t *testing.T) { liveCalls(t, m, ask) })
	t.Run("stops when it is told to", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var failure error
		for _, err := range m.Stream(ctx, ask) {
			cancel()
			failure = err
		}
		// The answer may have come to its end before.
		if failure != nil && !errors.Is(failure, context.Canceled) {
			t.Error(failure)
		}
	})
	t.Run("has no such model", func(t *testing.T) {
		_, err := llm.Complete(t.Context(), newModel("no-such-model-at-all", url), ask)
		if !errors.Is(err, llm.ErrModelMissing) {
			t.Error(err)
		}
	})
}

// liveCalls sends back a call with broken arguments as well: no server may refuse what is in a history.
func liveCalls(t *testing.T, m llm.Model, r llm.Request) {
	r.Tools = []llm.Tool{{Name: "weather", Description: "Tells the weather of a city.", Schema: `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`}}
	r.Messages = []llm.Message{
		{Role: llm.User, Text: "What is the weather in Oslo? Use the tool."},
		{Role: llm.Assistant, Calls: []llm.Call{{ID: "call_1", Name: "weather", Arguments: `{"city":`}}},
		{Role: llm.ToolResult, CallID: "call_1", Name: "weather", Text: "the arguments are not valid JSON; call it again"},
	}
	got, err := llm.Complete(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%q, %+v", got.Text, got.Calls)
	for _, c := range got.Calls {
		if c.ID == "" || c.Name == "" {
			t.Errorf("%+v", c)
		}
	}
}
