package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func ExampleSession_Say() {
	ctx := context.Background()
	add := must(agent.NewTool("add", "Adds two numbers.", func(_ context.Context, n struct {
		A int `json:"a"`
		B int `json:"b"`
	}) (int, error) {
		return n.A + n.B, nil
	}))
	// In earnest: ollama.New or openai.New.
	model := llmtest.Replies(
		llmtest.Reply{Calls: []llm.Call{{ID: "1", Name: "add", Arguments: `{"a":2,"b":3}`}}},
		llmtest.Reply{Text: "It is 5."},
	)
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{
		Model: model, ModelName: "llama3.2", Agent: agent.Config{Tools: []agent.Tool{add}},
	}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "sums"))
	reply := must(chat.Say(ctx, "What is 2 + 3?"))
	fmt.Println(reply.Text, reply.Calls, reply.Commit.Status)
	// Output: It is 5. 1 complete
}

func ExampleSession_Stream() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{Model: llmtest.NewScript("One two three."), ModelName: "llama3.2"}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "count"))
	for piece, err := range chat.Stream(ctx, "Count to three.") {
		switch {
		case err != nil:
			fmt.Println(err)
		case piece.Reply != nil:
			fmt.Println("=", piece.Reply.Commit.Status)
		default:
			fmt.Print(piece.Text)
		}
	}
	// Output: One two three.= complete
}

func ExampleSession_Stream_hangUp() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{Model: llmtest.NewScript("One two three four five six seven eight nine ten."), ModelName: "llama3.2"}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "count"))
	for piece, err := range chat.Stream(ctx, "Count to ten.") {
		if err != nil || piece.Text == "two " {
			break
		}
	}
	last := must(chat.Window(ctx))[1]
	fmt.Println(strings.HasPrefix(last.Content.Searchable(), "One two "), last.Meta.Interrupted)
	// Output: true true
}

func ExampleWithModel() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "other"))
	other := llmtest.NewScript("Another one speaking.")
	fmt.Println(must(chat.Say(ctx, "Who are you?", turnstone.WithModel("qwen3", other, 8192))).Text)
	// Output: Another one speaking.
}

func ExampleWithLate() {
	ctx := context.Background()
	model := llmtest.NewScript("Rex.")
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{Model: model, ModelName: "llama3.2"}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "dog"))
	must(chat.Say(ctx, "What is my dog called?", turnstone.WithLate("In March the user said: my dog is called Rex.")))
	messages := model.Asked()[0].Messages
	fmt.Println(strings.Contains(messages[len(messages)-1].Text, "called Rex"))
	// Output: true
}

func ExampleWithParts() {
	ctx := context.Background()
	model := llmtest.NewScript("A cat.")
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{Model: model, ModelName: "llama3.2"}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "picture"))
	picture := turn.Image{MediaType: "image/png", Alt: "a cat", Blob: turn.Blob{Data: []byte("…")}}
	must(chat.Say(ctx, "What is this?", turnstone.WithParts(turn.Draft{Role: turn.User, Content: picture})))
	fmt.Println(model.Asked()[0].Messages[0].Text, len(model.Asked()[0].Messages[0].Images))
	// Output: What is this? 1
}

func ExampleSession_Request() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "own"))
	must(chat.Append(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: "Hello."}}))
	p := must(chat.Prompt(ctx, turnstone.PromptOptions{Model: "llama3.2", Context: 8192}))
	r := must(chat.Request(ctx, p))
	fmt.Println(r.Messages[0].Role, r.Messages[0].Text, r.Context)
	// Output: user Hello. 6963
}

func ExampleSession_Conversation() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Create(ctx, turn.SessionInfo{Model: "llama3.2"}))
	loop := must(agent.NewLoop(agent.Config{MaxRounds: 4}))
	worker := agent.NewWorker("w1", "Ann", llmtest.NewScript("Here I am."))
	fmt.Println(must(worker.Ask(ctx, loop, chat.Conversation(), "Ann?")).Text, worker.Container.Len())
	// Output: Here I am. 2
}

func ExampleErrBusy() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{Model: llmtest.NewScript("Yes?"), ModelName: "llama3.2"}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "desk"))
	lease := must(chat.Acquire(ctx)) // as a worker in another process would
	_, err := chat.End(ctx)
	fmt.Println(errors.Is(err, turnstone.ErrBusy))
	fmt.Println(lease.Release(ctx), must(chat.Say(ctx, "Hello.")).Text)
	// Output:
	// true
	// <nil> Yes?
}

func ExampleErrNotFound() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	_, err := eng.Find(ctx, "nobody")
	fmt.Println(errors.Is(err, turnstone.ErrNotFound))
	fmt.Println(eng.Close())
	_, err = eng.Find(ctx, "nobody")
	fmt.Println(errors.Is(err, turnstone.ErrClosed))
	// Output:
	// true
	// <nil>
	// true
}

func ExampleEngine_Recover() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	fmt.Println(must(eng.Recover(ctx)), "exchanges were left by the dead")
	// Output: 0 exchanges were left by the dead
}
