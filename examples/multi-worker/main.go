// Command multi-worker has three workers on one engine: two argue for and against something at the same time, each in a
// session and with a history of its own, and a third sums up. It needs an Ollama server with llama3.2.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/ollama"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

func main() {
	question := strings.Join(os.Args[1:], " ")
	if question == "" {
		question = "Should a small team keep its own server?"
	}
	if err := run(context.Background(), "workers.db", question); err != nil {
		log.Fatal(err)
	}
}

// team is who works on one engine. The loop has no state of its own: all workers share it.
type team struct {
	engine *turnstone.Engine
	loop   *agent.Loop
	model  llm.Model
}

func run(ctx context.Context, path, question string) (err error) {
	db, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		return err
	}
	model := ollama.New("llama3.2", ollama.Options{})
	eng, err := turnstone.Open(ctx, db, turnstone.Config{Model: model})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, eng.Close()) }()
	loop, err := agent.NewLoop(agent.Config{})
	if err != nil {
		return err
	}
	t := &team{eng, loop, model}

	// A worker has one job at a time; different workers' run side by side.
	sides := []string{"for", "against"}
	jobs := make([]*agent.Job, len(sides))
	for i, side := range sides {
		if jobs[i], err = t.start(ctx, side, "Argue "+side+" this in two sentences: "+question); err != nil {
			return err
		}
	}
	var said []string
	for i, job := range jobs {
		reply, err := wait(ctx, job)
		if err != nil {
			return fmt.Errorf("%s: %w", sides[i], err)
		}
		fmt.Printf("%s: %s\n", sides[i], reply)
		said = append(said, sides[i]+": "+reply)
	}
	judge, err := t.start(ctx, "judge", question+"\n\n"+strings.Join(said, "\n")+"\n\nSum up in one sentence.")
	if err != nil {
		return err
	}
	verdict, err := wait(ctx, judge)
	if err != nil {
		return fmt.Errorf("judge: %w", err)
	}
	fmt.Println("judge:", verdict)
	return nil
}

// start gives a worker of that name something to do. What it says is in the session of that name.
func (t *team) start(ctx context.Context, name, task string) (*agent.Job, error) {
	session, err := t.engine.Session(ctx, name)
	if err != nil {
		return nil, err
	}
	worker := agent.NewWorker(name, name, t.model)
	if err := worker.Container.PushInput(agent.Input(task)); err != nil {
		return nil, err
	}
	return t.loop.Start(ctx, worker, session.Conversation(), agent.RunOptions{})
}

func wait(ctx context.Context, job *agent.Job) (string, error) {
	result, err := job.Wait(ctx)
	if err == nil {
		err = result.Err
	}
	return result.Reply.Text, err
}
