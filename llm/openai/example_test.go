package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/llm/openai"
)

func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		llmtest.Speak(w, r,
			`data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"c1","function":{"name":"weather","arguments":"{\"city\":"}}]}}]}`, "",
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"Oslo\"}"}}]}}]}`, "",
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "",
			`data: [DONE]`)
	}))
	defer server.Close()

	// A server that wants a key: Options{KeyVariable: "MY_KEY"} names the environment variable that has it.
	model := openai.New("qwen3", openai.Options{BaseURL: server.URL + "/v1"})
	answer, err := llm.Complete(context.Background(), model, llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "How is the weather in Oslo?"}},
		Tools:    []llm.Tool{{Name: "weather", Schema: `{"type":"object","properties":{"city":{"type":"string"}}}`}},
	})
	var e *llm.Error
	if errors.As(err, &e) {
		fmt.Println(e.Problem, "so", e.Fix)
	}
	for _, call := range answer.Calls {
		fmt.Println(call.Name, call.Arguments, call.Check())
	}
	// Output: weather {"city":"Oslo"} <nil>
}

func ExampleModel_Stream() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		llmtest.Speak(w, r,
			`data: {"choices":[{"index":0,"delta":{"content":"It rains."}}]}`, "",
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "",
			`data: [DONE]`)
	}))
	defer server.Close()
	for _, o := range []openai.Options{
		{BaseURL: server.URL, LimitField: openai.MaxTokens},
		{BaseURL: server.URL, LimitField: openai.MaxCompletionTokens},
	} {
		model := openai.New("qwen3", o)
		request := llm.Request{MaxTokens: 100, Messages: []llm.Message{{Role: llm.User, Text: "How is the weather?"}}}
		for chunk, err := range model.Stream(context.Background(), request) {
			fmt.Print(chunk.Text, chunk.Stop, err, " ")
		}
		fmt.Println("by", model.Name(), "with", o.LimitField)
	}
	fmt.Println("without a BaseURL:", openai.DefaultURL)
	// Output:
	// It rains.<nil> stop<nil> by qwen3 with max_tokens
	// It rains.<nil> stop<nil> by qwen3 with max_completion_tokens
	// without a BaseURL: https://api.openai.com/v1
}

func ExampleModel_Embed() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		llmtest.Speak(w, r, `{"data":[{"index":0,"embedding":[0.6,0.8]},{"index":1,"embedding":[0.8,0.6]}]}`)
	}))
	defer server.Close()

	// Config.Embedder and RecallOptions.Embedder of the engine take such a model.
	model := openai.New("text-embedding-3-small", openai.Options{BaseURL: server.URL + "/v1"})
	fmt.Println(model.Embed(context.Background(), []string{"a heron", "a stork"}))
	// Output: [[0.6 0.8] [0.8 0.6]] <nil>
}
