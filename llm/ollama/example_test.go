package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/turnstone-dev/turnstone/budget"
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
	for _, given := range []string{"", "box", ollama.DefaultURL, "https://models.example.com/"} {
		fmt.Println(ollama.Address(given))
	}
	// Output:
	// http://127.0.0.1:11434 <nil>
	// http://box:11434 <nil>
	// http://127.0.0.1:11434 <nil>
	// https://models.example.com <nil>
}

// What a server knows of its models makes their profiles right, and their vocabularies make counts exact.
func ExampleClient_Details() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, r *http.Request) {
		llmtest.Speak(w, r, `{"models":[{"name":"llama3.2:latest","size":2019393189,"digest":"a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72"}]}`)
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
		llmtest.Speak(w, r, `{"details":{"family":"llama","quantization_level":"Q4_K_M"},"capabilities":["completion","tools"],"model_info":{`+
			`"general.architecture":"llama","general.parameter_count":3212749888,"llama.context_length":131072,`+
			`"tokenizer.ggml.model":"llama","tokenizer.ggml.tokens":["a","b","ab"],"tokenizer.ggml.scores":[-1,-2,-3]}}`)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	ctx := context.Background()
	client := ollama.NewClient(server.URL, ollama.Config{}) // an empty address is ollama.DefaultURL

	details, err := client.Details(ctx, "llama3.2")
	fmt.Println(details.Family, details.Context, details.Capabilities, err)
	profile, err := client.Complete(ctx, budget.Profile{Name: "llama3.2"})
	fmt.Println(profile.Context, profile.Tokenizer, err)
	digest, err := client.Digest(ctx, "llama3.2")
	fmt.Println(digest[:12], err)
	vocabulary, of, err := client.Vocabulary(ctx, "llama3.2")
	fmt.Println(vocabulary.Tokens, of == digest, err)

	_, err = client.Digest(ctx, "qwen3")
	fmt.Println(errors.Is(err, ollama.ErrNotFound))
	// Output:
	// llama 131072 [completion tools] <nil>
	// 131072 ollama <nil>
	// a80c4f17acd5 <nil>
	// [a b ab] true <nil>
	// true
}

// An answer that cannot be right is not believed.
func ExampleAnswerError() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		llmtest.Speak(w, r, `{"models":"many"}`)
	}))
	defer server.Close()
	_, err := ollama.NewClient(server.URL, ollama.Config{}).List(context.Background())
	var wrong *ollama.AnswerError
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Endpoint, "so", wrong.Fix)
	}
	// Output: /api/tags so update Ollama, or pull the model again
}

func ExampleThink() {
	for _, think := range []ollama.Think{ollama.ThinkOff, ollama.ThinkOn, ollama.ThinkLow, ollama.ThinkMedium, ollama.ThinkHigh} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var asked struct{ Think any }
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
				fmt.Println(err)
			}
			llmtest.Speak(w, r, fmt.Sprintf(`{"message":{"role":"assistant","content":"%v"},"done":true,"done_reason":"stop"}`, asked.Think))
		}))
		model := ollama.New("qwen3", ollama.Options{BaseURL: server.URL, Think: think})
		answer, err := llm.Complete(context.Background(), model, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hello."}}})
		fmt.Println(model.Name(), "is asked to think:", answer.Text, err)
		server.Close()
	}
	// Output:
	// qwen3 is asked to think: false <nil>
	// qwen3 is asked to think: true <nil>
	// qwen3 is asked to think: low <nil>
	// qwen3 is asked to think: medium <nil>
	// qwen3 is asked to think: high <nil>
}

func ExampleModel_Embed() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		llmtest.Speak(w, r, `{"model":"nomic-embed-text","embeddings":[[0.6,0.8],[0.8,0.6]]}`)
	}))
	defer server.Close()

	// Config.Embedder and RecallOptions.Embedder of the engine take such a model.
	model := ollama.New("nomic-embed-text", ollama.Options{BaseURL: server.URL})
	fmt.Println(model.Embed(context.Background(), []string{"a heron", "a stork"}))
	// Output: [[0.6 0.8] [0.8 0.6]] <nil>
}
