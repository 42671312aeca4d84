package ollama_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/llm/ollama"
)

func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		llmtest.Speak(w, r,
			`{"message":{"role":"assistant","content":"It "},"done":false}`,
			`{"message":{"role":"assistant","content":"rains."},"done":false}`,
			`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":31,"eval_count":3}`)
	}))
	defer server.Close()

	// Without a BaseURL the server is the one on this machine, or the one in OLLAMA_HOST.
	model := ollama.New("llama3.2", ollama.Options{BaseURL: server.URL})
	request := llm.Request{Context: 8192, Messages: []llm.Message{{Role: llm.User, Text: "How is the weather?"}}}
	for chunk, err := range model.Stream(context.Background(), request) {
		switch {
		case errors.Is(err, llm.ErrModelMissing), errors.Is(err, llm.ErrUnreachable):
			fmt.Println(err) // it says what to do
			return
		case err != nil:
			fmt.Println("what came so far stands:", err)
			return
		}
		fmt.Print(chunk.Text)
		if chunk.Stop != "" {
			fmt.Printf("\n%s after %d tokens\n", chunk.Stop, chunk.Usage.Answer)
		}
	}
	// Output:
	// It rains.
	// stop after 3 tokens
}

func ExampleClient_List() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		llmtest.Speak(w, r, `{"models":[{"name":"llama3.2:latest","size":2019393189,"digest":"a80c4f17acd5"}]}`)
	}))
	defer server.Close()
	models, err := ollama.NewClient(server.URL, ollama.Config{}).List(context.Background())
	fmt.Println(models, err)
	// Output: [{llama3.2:latest a80c4f17acd5 2019393189}] <nil>
}

func ExampleAddress() {
	for _, given := range []string{"", "box", "https://models.example.com/"} {
		fmt.Println(ollama.Address(given))
	}
	// Output:
	// http://127.0.0.1:11434 <nil>
	// http://box:11434 <nil>
	// https://models.example.com <nil>
}
