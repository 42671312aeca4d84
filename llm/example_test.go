package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/llm/ollama"
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

// What a request may not hold is said before any server is asked.
func ExampleRequest_Check() {
	picture := llm.Image{MediaType: "image/png", Data: []byte("\x89PNG…"), Alt: "a cat"}
	request := llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Text: "You are brief."},
			{Role: llm.User, Text: "What is this?", Images: []llm.Image{picture}},
			{Role: llm.Assistant, Calls: []llm.Call{{ID: "c1", Name: "look"}}},
		},
		Tools: []llm.Tool{{Name: "look", Description: "looks closer"}},
	}
	err := request.Check()
	var wrong *llm.FieldError
	if errors.As(err, &wrong) {
		fmt.Println(err)
	}
	fmt.Println(picture.InWords()) // for servers that take no pictures
	// Output:
	// messages: end before the result of call "c1"; add its result
	// [image: a cat]
}

// The last chunk says why the answer ended, and what it took where the server counts.
func ExampleModel() {
	var model llm.Model = llmtest.Replies(
		llmtest.Reply{Text: "Yes.", Usage: llm.Usage{Prompt: 9, Answer: 2}},
		llmtest.Reply{Text: "Once upon a", Stop: llm.StopLength},
		llmtest.Reply{Calls: []llm.Call{{ID: "c1", Name: "look"}}},
		llmtest.Reply{Stop: llm.StopFilter},
	)
	request := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Well?"}}}
	for range 4 {
		answer, err := llm.Complete(context.Background(), model, request)
		if err != nil {
			fmt.Println(err)
		}
		switch answer.Stop {
		case llm.StopEnd:
			fmt.Println(answer.Text, answer.Usage.Prompt, "and", answer.Usage.Answer, "tokens")
		case llm.StopLength:
			fmt.Println(answer.Text, "…")
		case llm.StopCalls:
			fmt.Println("calls", answer.Calls[0].Name)
		case llm.StopFilter:
			fmt.Println("withheld")
		}
	}
	// Output:
	// Yes. 9 and 2 tokens
	// Once upon a …
	// calls look
	// withheld
}

// Clients read the answers of servers that refuse; whoever asks tells the kinds apart.
func ExampleRefusal_Judge() {
	for _, r := range []llm.Refusal{
		{Status: 404, Said: "model not found"},
		{Status: 400, Said: "maximum context length is 8192 tokens"},
		{Status: 401, Said: "no key"},
	} {
		err := r.Judge("m")
		for _, kind := range []error{llm.ErrModelMissing, llm.ErrContextExceeded, llm.ErrRefused} {
			if errors.Is(err, kind) {
				fmt.Println(r.Status, kind)
			}
		}
	}
	// Output:
	// 404 the server has no such model
	// 400 the prompt does not fit the model's context
	// 401 the server refused the request
}

// A request that was cancelled ends with the context's own error, and why.
func ExampleEnded() {
	ctx, cancel := context.WithCancelCause(context.Background())
	fmt.Println(llm.Ended(ctx))
	cancel(errors.New("the user hung up"))
	fmt.Println(llm.Ended(ctx))
	// Output:
	// <nil>
	// context canceled: the user hung up
}

// A server that goes on for ever is cut off.
func ExampleLimits() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		llmtest.Speak(w, r, slices.Repeat([]string{`{"message":{"role":"assistant","content":"on and "},"done":false}`}, 100)...)
	}))
	defer server.Close()
	model := ollama.New("m", ollama.Options{BaseURL: server.URL, Limits: llm.Limits{Total: 200}})
	answer, err := llm.Complete(context.Background(), model, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Go on."}}})
	fmt.Printf("%q %v\n", answer.Text, errors.Is(err, llm.ErrFailed))
	fmt.Println(err)
	// Output:
	// "on and on and on and " true
	// model "m": the model server failed: the answer is too long; limit the answer's length in the request, or allow more in Limits
}

// What came before a server died stands. One that is not there at all is another matter.
func ExampleErrInterrupted() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		llmtest.Speak(w, r, `{"message":{"role":"assistant","content":"Once upon a"},"done":false}`, "!die")
	}))
	model := ollama.New("m", ollama.Options{BaseURL: server.URL, Backoff: llm.Backoff{Attempts: 1}})
	request := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Tell me a story."}}}
	answer, err := llm.Complete(context.Background(), model, request)
	fmt.Println(answer.Text, errors.Is(err, llm.ErrInterrupted))

	server.Close()
	_, err = llm.Complete(context.Background(), model, request)
	fmt.Println(errors.Is(err, llm.ErrUnreachable))
	// Output:
	// Once upon a true
	// true
}

// A server tells two calls piece by piece.
func ExampleAssembly() {
	first, second := 0, 1
	var a llm.Assembly
	for _, p := range []llm.CallPiece{
		{Index: &first, ID: "call_1", Name: "weather", Arguments: `{"city":`},
		{Index: &second, ID: "call_2", Name: "time"},
		{Index: &first, Arguments: `"Oslo"}`},
	} {
		a.Add(p)
	}
	for _, c := range a.Calls() {
		fmt.Println(c.ID, c.Name, c.Arguments)
	}
	// Output:
	// call_1 weather {"city":"Oslo"}
	// call_2 time
}

func ExampleLimits_Silence() {
	limits := llm.Limits{First: 10 * time.Minute}
	fmt.Println(limits.Silence(false))
	fmt.Println(limits.Silence(true)) // while a model writes a call, a server may say nothing
	// Output:
	// 2m0s
	// 10m0s
}

func ExampleEmbed() {
	// A client of another server: what it asks is tried again while the server is busy.
	busy := true
	ask := func(ctx context.Context, texts []string) (vectors [][]float32, err error) {
		err = llm.Backoff{First: time.Millisecond}.Do(ctx, func() error {
			if busy {
				busy = false
				return &llm.Error{Kind: llm.ErrFailed, Temporary: true}
			}
			for _, text := range texts {
				vectors = append(vectors, []float32{float32(len(text))})
			}
			return nil
		})
		return vectors, err
	}
	fmt.Println(llm.Embed(context.Background(), "mine", []string{"a heron", "tea"}, ask))
	// Output: [[7] [3]] <nil>
}
