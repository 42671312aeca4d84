package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"github.com/turnstone-dev/turnstone/client"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
)

func ExampleClient_ImportHistory() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	c := must(client.New(url, client.Options{}))

	file := strings.NewReader(`[{"role":"user","content":"Hello."},{"role":"tool","tool_call_id":"1","content":"lost"}]`)
	chat, made, err := c.ImportHistory(ctx, file, client.HistoryImport{ID: "old", Format: "openai"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(chat.ID(), made.Format, made.Turns)
	for _, loss := range made.Losses {
		fmt.Println(loss.Kind, loss.Count)
	}
	// Output:
	// old openai 2
	// results of no open call 1
}

func ExampleSession_Say_picture() {
	url, stop := served(llmtest.NewScript("A dot."))
	defer stop()
	ctx := context.Background()
	chat := must(must(client.New(url, client.Options{})).Session(ctx, "art"))

	picture := client.Said{Form: "image", Content: json.RawMessage(`{"media_type":"image/png","data":"ZG90"}`)}
	reply := must(chat.Say(ctx, client.Say{
		Text: "What is it?", Parts: []client.Said{picture}, Settings: &client.Settings{System: "Describe pictures."},
	}))
	fmt.Println(reply.Text)
	// Output: A dot.
}

func ExampleSession_Report() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	chat := must(must(client.New(url, client.Options{})).Session(ctx, "trip"))
	must(chat.Append(ctx, client.Draft{Role: "user", Text: strings.Repeat("A long story. ", 100)}))

	p := must(chat.Prompt(ctx, client.PromptOptions{Model: "llama3.2"}))
	// Whoever asked the model was told by its server that the prompt had no more than 9 tokens.
	came := must(chat.Report(ctx, client.Usage{PromptTokens: 9, At: p.End, SHA256: p.SHA256}))
	fmt.Println("truncated:", came.Truncated)
	// Output: truncated: true
}

func ExampleSession_Status() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	chat := must(must(client.New(url, client.Options{})).Session(ctx, "trip"))
	must(chat.Append(ctx, client.Draft{Role: "user", Text: "Hello."}))

	status := must(chat.Status(ctx, client.StatusOptions{Model: "llama3.2"}))
	fmt.Println(status.Whole, status.Reliability.Level, len(status.Reliability.Advice))
	// Output: true critical 0
}

func ExampleClient_Count() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	c := must(client.New(url, client.Options{}))

	for _, model := range must(c.Models(ctx)) {
		if model.Name == "gpt-4o" {
			fmt.Println(model.Context, must(c.Count(ctx, model.Name, "Hello, world!")).Tokens)
		}
	}
	// Output: 128000 4
}
