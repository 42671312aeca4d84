// Command quickstart is an agent that loses nothing: it answers with a model in Ollama, keeps every word in a file, and
// goes on where it stopped. It needs an Ollama server with llama3.2.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm/ollama"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// Order is what the tool is asked for.
type Order struct {
	Number int `json:"number" doc:"the number of the order"`
}

func main() {
	question := strings.Join(os.Args[1:], " ")
	if question == "" {
		question = "Where is my order 61?"
	}
	if err := run(context.Background(), "agent.db", question); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, path, question string) error {
	find, err := agent.NewTool("find_order", "Says where an order is.", func(_ context.Context, o Order) (string, error) {
		return fmt.Sprintf("order %d is on its way", o.Number), nil
	})
	if err != nil {
		return err
	}
	db, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		return err
	}
	eng, err := turnstone.Open(ctx, db, turnstone.Config{
		Model: ollama.New("llama3.2", ollama.Options{}),
		Agent: agent.Config{Tools: []agent.Tool{find}},
	})
	if err != nil {
		return err
	}
	defer eng.Close()

	chat, err := eng.Session(ctx, "alice")
	if err != nil {
		return err
	}
	for piece, err := range chat.Stream(ctx, question) {
		if err != nil {
			return err // what came of the reply is kept, and the next exchange begins clean
		}
		fmt.Print(piece.Text)
		if piece.Reply != nil {
			fmt.Printf("\n(%d of %d tokens; everything is on disk)\n", piece.Reply.Prompt.Count.Tokens, piece.Reply.Prompt.Window.Usable)
		}
	}
	return nil
}
