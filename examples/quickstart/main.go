// Command quickstart keeps a short conversation in a file and reads it back.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

func main() {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, "agent.db", sqlite.Config{})
	if err != nil {
		log.Fatal(err)
	}
	eng, err := turnstone.Open(ctx, db, turnstone.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()

	chat, err := eng.Session(ctx, "alice")
	if err != nil {
		log.Fatal(err)
	}
	_, err = chat.Append(ctx,
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "Which port did we choose?"}},
		turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "5433, so that it does not clash with the old server."}},
	)
	if err != nil {
		log.Fatal(err) // nothing was stored
	}
	// Both turns are on disk now.

	window, err := chat.Window(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range window {
		fmt.Printf("%d %s: %s\n", t.Seq, t.Role, t.Content.Searchable())
	}
	found, err := chat.Query(ctx, turn.Query{Text: "choosing ports"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(found.Turns), "found")
}
