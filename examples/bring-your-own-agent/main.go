// Command bring-your-own-agent shows the whole loop of an agent of your own: what the user says is appended, the
// prompt is compiled and sent to a model, what the model counted is reported, and the exchange is committed.
// A daemon receives it. It needs an Ollama server with llama3.2. Run again, it finds that the message was answered, and
// neither says nor remembers anything twice; after a crash it goes on with what was missing.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/ollama"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

const model = "llama3.2"

// message is the id that the user's message came with, from a chat service or a queue that may deliver it twice.
const message = "message-1"

func main() {
	server, err := ollama.Address(os.Getenv("OLLAMA_HOST"))
	if err != nil {
		log.Fatal("OLLAMA_HOST: ", err)
	}
	if err := run(context.Background(), "own-agent.db", server, message); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, path, server, message string) (err error) {
	db, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		return err
	}
	eng, err := turnstone.Open(ctx, db, turnstone.Config{
		Prompt: prompt.Settings{System: "You are a helpful agent.", Mandates: []string{"Answer in one sentence."}},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, eng.Close()) }()

	if err := subscribe(ctx, eng); err != nil {
		return err
	}
	chat, err := eng.Session(ctx, "own-agent")
	if err != nil {
		return err
	}
	// The input is on disk at once; the agent may take its time. Under the same key it is the same turn, however often it comes.
	input, err := chat.Append(ctx, turn.Draft{
		IdempotencyKey: message, Role: turn.User, Content: turn.Text{Text: "I moved to Oslo. Which port did we choose?"},
	})
	if err != nil {
		return err
	}
	switch _, err := eng.Export(ctx, input[0].ID); {
	case err == nil:
		fmt.Println("this message was answered before: nothing is done twice; a new message has an id of its own")
	case errors.Is(err, event.ErrNotFound):
		if err := answer(ctx, chat, server, input[0].ID); err != nil {
			return err
		}
	default:
		return err
	}
	if err := caughtUp(ctx, eng); err != nil {
		return err
	}

	known, err := eng.Remembered(ctx, memory.Search{Text: "living"})
	if err != nil {
		return err
	}
	for _, item := range known.Items {
		fmt.Println("remembered:", item.Text)
	}
	return nil
}

// profile is a daemon. It is known by its name and goes on where it stopped, also in another process: what an earlier run left for
// it comes first, and after a crash something may come twice.
const profile = "profile"

func subscribe(ctx context.Context, eng *turnstone.Engine) error {
	_, err := eng.Subscribe(ctx, profile, func(_ context.Context, m event.Message) (int, error) {
		export, err := commit.DecodeExport(string(m.Body))
		if err != nil {
			return 0, bus.Reject(err) // it will not get better: a dead letter
		}
		fmt.Printf("daemon received %q with %d item\n", export.Turn.UserInput, len(export.Episodes))
		return len(export.Episodes), nil
	}, bus.Options{From: bus.New})
	return err
}

// caughtUp waits until the daemon has heard of all that was said.
func caughtUp(ctx context.Context, eng *turnstone.Engine) error {
	if err := eng.Publish(ctx); err != nil {
		return err
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		marks, last, err := eng.Daemons(ctx)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(marks, func(m event.Mark) bool { return m.Daemon == profile && m.Through >= last }) {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return context.Cause(ctx) // all is stored, and the daemon's next process receives it
		}
	}
}

// answer is the loop's one turn: the agent answers what the user said in the turn of that id.
func answer(ctx context.Context, chat *turnstone.Session, server, opened string) error {
	// What the model is to see: it fits the window, or this is an error that says where every token goes.
	p, err := chat.Prompt(ctx, turnstone.PromptOptions{Model: model})
	if err != nil {
		return err
	}
	body, err := wire.Append(ctx, nil, wire.Ollama, wire.Request{
		Messages: p.Messages, Tools: p.Tools, Model: p.Model, Context: p.Window.Usable, MaxTokens: p.Window.Reserve,
	}, nil) // nil: a model that takes no pictures reads their descriptions
	if err != nil {
		return err
	}
	reply, usage, err := ask(ctx, server+"/api/chat", body)
	if err != nil {
		return err
	}
	// The next counts are better for it; and a provider that dropped some of the prompt is found out.
	truncated, err := chat.Reported(ctx, p, usage)
	if err != nil {
		return err
	}
	if truncated {
		fmt.Println("the model did not see all of the prompt")
	}
	res, err := chat.Commit(ctx, commit.Exchange{
		ExportID:   opened, // of the message, so that what is tried again is the same exchange
		Opened:     opened,
		Turns:      []turn.Draft{{Role: turn.Agent, Content: turn.Text{Text: reply}}},
		Candidates: []memory.Candidate{{Type: memory.UserData, Text: "lives in Oslo", Source: memory.FromUser}},
	})
	if err != nil {
		return err // nothing of it was stored, or all of it: run again, it is found or tried again
	}
	fmt.Println("committed:", res.Status)
	return nil
}

// ask sends a body to Ollama and returns the whole answer.
func ask(ctx context.Context, url string, body []byte) (reply string, usage llm.Usage, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", usage, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", usage, fmt.Errorf("no model server answers: %w; start one with `ollama serve`, or name another in OLLAMA_HOST", err)
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return "", usage, fmt.Errorf("%s: %s; if the model is missing, get it with `ollama pull %s`", url, resp.Status, model)
	}
	// Unless it is told not to, Ollama streams: an object for each piece, the counts in the last.
	for lines := json.NewDecoder(resp.Body); ; {
		var piece struct {
			Message struct{ Content string }
			Done    bool
			Prompt  int `json:"prompt_eval_count"`
			Answer  int `json:"eval_count"`
		}
		if err := lines.Decode(&piece); err != nil {
			return "", usage, fmt.Errorf("answer: %w", err)
		}
		if reply += piece.Message.Content; piece.Done {
			return reply, llm.Usage{Prompt: piece.Prompt, Answer: piece.Answer}, nil
		}
	}
}
