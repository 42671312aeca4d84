// Command bring-your-own-agent shows how an agent of your own commits its exchanges, and how a daemon
// receives them.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

func main() {
	if err := run(context.Background(), "agent.db"); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, path string) (err error) {
	db, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		return err
	}
	eng, err := turnstone.Open(ctx, db, turnstone.Config{})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := eng.Close(); err == nil {
			err = cerr
		}
	}()

	// A daemon is known by its name and goes on where it stopped, also in another process.
	received := make(chan commit.StateExport, 1)
	_, err = eng.Subscribe(ctx, "profile", func(_ context.Context, m event.Message) (int, error) {
		export, err := commit.DecodeExport(string(m.Body))
		if err != nil {
			return 0, bus.Reject(err) // it will not get better: a dead letter
		}
		received <- export
		return len(export.Episodes), nil
	}, bus.Options{From: bus.New})
	if err != nil {
		return err
	}

	chat, err := eng.Session(ctx, "alice")
	if err != nil {
		return err
	}
	// The input is on disk at once; the agent may take its time.
	input, err := chat.Append(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: "I moved to Oslo. Which port did we choose?"}})
	if err != nil {
		return err
	}
	reply := "5433. And welcome to Oslo!" // your agent goes here

	res, err := chat.Commit(ctx, commit.Exchange{
		Opened:     input[0].ID,
		Turns:      []turn.Draft{{Role: turn.Agent, Content: turn.Text{Text: reply}}},
		Candidates: []memory.Candidate{{Type: memory.UserData, Text: "lives in Oslo", Source: memory.FromUser}},
	})
	if err != nil {
		return err // nothing of it was stored; under the same ExportID it can be tried again
	}
	fmt.Println("committed:", res.Status)

	export := <-received
	fmt.Printf("daemon received %q with %d item\n", export.Turn.UserInput, len(export.Episodes))

	known, err := eng.Remembered(ctx, memory.Search{Text: "living"})
	if err != nil {
		return err
	}
	fmt.Println("remembered:", known.Items[0].Text)
	return nil
}
