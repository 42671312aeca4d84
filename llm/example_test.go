package llm_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
)

func ExampleComplete() {
	model := llmtest.NewScript("It rains.")
	answer, err := llm.Complete(context.Background(), model, llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "How is the weather?"}},
	})
	fmt.Println(answer.Text, answer.Stop, err)
	// Output: It rains. stop <nil>
}

func ExampleError() {
	model := llmtest.Replies(llmtest.Reply{Err: llm.Refusal{Status: 429, Said: "slow down", RetryAfter: 20 * time.Second}.Judge("m")})
	_, err := llm.Complete(context.Background(), model, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hello?"}}})
	var e *llm.Error
	if errors.Is(err, llm.ErrRateLimited) && errors.As(err, &e) {
		fmt.Println(err)
		fmt.Println("come back in", e.RetryAfter)
	}
	// Output:
	// model "m": the server limits the rate of requests: status 429: slow down; wait and try again
	// come back in 20s
}

func ExampleBackoff_Stream() {
	model := llmtest.Replies(
		llmtest.Reply{Err: &llm.Error{Kind: llm.ErrFailed, Temporary: true}},
		llmtest.Reply{Text: "It rains."},
	)
	ctx := context.Background()
	attempt := model.Stream(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "How is the weather?"}}})
	for chunk, err := range (llm.Backoff{First: time.Millisecond}).Stream(ctx, attempt) {
		fmt.Print(chunk.Text, err, " ")
	}
	// Output: It <nil> rains.<nil> <nil>
}

func ExampleCall_Check() {
	call := llm.Call{ID: "c1", Name: "weather", Arguments: `{"city": Oslo}`}
	if err := call.Check(); err != nil {
		result := llm.Message{Role: llm.ToolResult, CallID: call.ID, Name: call.Name, Text: err.Error()}
		fmt.Println(result.Text)
	}
	// Output: the arguments of weather are not valid JSON: invalid character 'O' looking for beginning of value at offset 10; call it again with a complete JSON object
}
