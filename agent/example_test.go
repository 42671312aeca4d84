package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/turn"
)

// orFail is for examples, where nothing goes wrong.
func orFail[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func Example() {
	type city struct {
		Name string `json:"name" doc:"the city"`
	}
	weather := orFail(agent.NewTool("weather", "how the weather is", func(_ context.Context, c city) (string, error) {
		return "rain in " + c.Name, nil
	}))
	loop := orFail(agent.NewLoop(agent.Config{Tools: []agent.Tool{weather}}))
	model := llmtest.Replies(
		llmtest.Reply{Calls: []llm.Call{{ID: "1", Name: "weather", Arguments: `{"name":"Oslo"}`}}},
		llmtest.Reply{Text: "Take an umbrella."},
	)
	worker := agent.NewWorker("w1", "forecaster", model)
	var session agent.Conversation = &ledger{} // the engine's, elsewhere

	reply, err := worker.Ask(context.Background(), loop, session, "What shall I wear in Oslo?")
	fmt.Println(reply.Text, err)
	for _, entry := range worker.Container.All() {
		fmt.Println(entry.Text())
	}
	// Output:
	// Take an umbrella. <nil>
	// What shall I wear in Oslo?
	//
	// "rain in Oslo"
	// Take an umbrella.
}

func ExampleLoop_Start() {
	loop := orFail(agent.NewLoop(agent.Config{}))
	worker := agent.NewWorker("w1", "talker", llmtest.NewScript("Good morning to you."))
	job := orFail(loop.Start(context.Background(), worker, &ledger{}, agent.RunOptions{
		Input: []turn.Draft{agent.Input("Good morning.")},
		Observe: func(_ context.Context, e agent.Event) {
			switch e := e.(type) {
			case agent.StateChanged:
				fmt.Println("->", e.State)
			case agent.TextPiece:
				fmt.Printf("%q\n", e.Text)
			}
		},
	}))
	result, err := job.Wait(context.Background())
	fmt.Println(result.Outcome, result.Err, err)
	// Output:
	// -> working
	// -> requesting
	// -> receiving
	// "Good "
	// "morning "
	// "to "
	// "you."
	// normal <nil> <nil>
}

func ExampleJob() {
	loop := orFail(agent.NewLoop(agent.Config{}))
	worker := agent.NewWorker("w1", "talker", llmtest.Replies(llmtest.Reply{Endless: true}))
	pieces := 0
	enough := make(chan struct{})
	job := orFail(loop.Start(context.Background(), worker, &ledger{}, agent.RunOptions{
		Input: []turn.Draft{agent.Input("Go on and on.")},
		Observe: func(ctx context.Context, e agent.Event) {
			if _, ok := e.(agent.TextPiece); !ok {
				return
			}
			if pieces++; pieces == 3 {
				close(enough)
				<-ctx.Done()
			}
		},
	}))
	<-enough
	job.Cancel()
	result, err := job.Wait(context.Background())
	// One more piece may have been on its way.
	fmt.Printf("%s %v %v %v\n", result.Outcome, strings.HasPrefix(result.Reply.Text, "on on on "), errors.Is(result.Err, agent.ErrCancelled), err)
	job.Then(func(r agent.Result) { fmt.Println("late, and at once:", r.Outcome) })
	// Output:
	// cancelled true true <nil>
	// late, and at once: cancelled
}

func ExampleConfirm() {
	remove := orFail(agent.NewTool("remove", "removes a file", func(context.Context, struct {
		Path string `json:"path"`
	}) (string, error) {
		return "removed", nil
	}))
	remove.Confirm = func(_ context.Context, c llm.Call) error {
		fmt.Println("may I", c.Name, c.Arguments)
		return errors.New("not on a Friday")
	}
	loop := orFail(agent.NewLoop(agent.Config{Tools: []agent.Tool{remove}}))
	worker := agent.NewWorker("w1", "cleaner", llmtest.Replies(
		llmtest.Reply{Calls: []llm.Call{{ID: "1", Name: "remove", Arguments: `{"path":"a.txt"}`}}},
		llmtest.Reply{Text: "On Monday then."},
	))
	reply, err := worker.Ask(context.Background(), loop, &ledger{}, "Clean up.")
	fmt.Println(worker.Container.Entries()[2].Text())
	fmt.Println(reply.Text, err)
	// Output:
	// may I remove {"path":"a.txt"}
	// "not confirmed: not on a Friday"
	// On Monday then. <nil>
}

func ExampleNewTool() {
	type search struct {
		Query string `json:"query" doc:"what to look for"`
		Limit int    `json:"limit,omitempty" doc:"at most so many hits"`
	}
	tool := orFail(agent.NewTool("search", "finds notes", func(_ context.Context, s search) ([]string, error) {
		return []string{"a note on " + s.Query}, nil
	}))
	fmt.Println(tool.Definition().Schema)
	// Output:
	// {"type":"object","properties":{"query":{"type":"string","description":"what to look for"},"limit":{"type":"integer","description":"at most so many hits"}},"required":["query"],"additionalProperties":false}
}

func ExampleContainer() {
	c := agent.NewContainer(nil)
	if err := c.PushInput(agent.Input("What is 2+2?")); err != nil {
		fmt.Println(err)
	}
	fmt.Println(c.PushInput(agent.Input("Are you there?")))
	if err := c.PushAssistant(agent.Response{Text: "4"}, turn.Meta{}); err != nil {
		fmt.Println(err)
	}
	branch := orFail(c.Branch(2))
	if err := branch.PushInput(agent.Input("And 3+3?")); err != nil {
		fmt.Println(err)
	}
	fmt.Println(c.Len(), branch.Len())

	text := orFail(json.Marshal(c))
	var back agent.Container
	fmt.Println(json.Unmarshal(text, &back), back.Len(), back.Empty())
	// Output:
	// entry: prompt may not stand after prompt; push response or tool_use
	// 2 3
	// <nil> 2 false
}

func ExampleSticky() {
	files := fstest.MapFS{"NOTES.md": {Data: []byte("Answer in French.")}} // os.DirFS, elsewhere
	sticky := orFail(agent.NewSticky(agent.StickyConfig{Files: files, Names: []string{"NOTES.md", "TODO.md"}}))
	shown, problems := sticky.Read()
	fmt.Println(shown, problems)
	// Output:
	// [{NOTES.md Answer in French.}] [sticky file TODO.md: open TODO.md: file does not exist]
}

func ExampleState_Leads() {
	fmt.Println(agent.Receiving.Leads(agent.Waiting), agent.Inactive.Leads(agent.UsingTool))
	// Output: true false
}

func ExampleLimitError() {
	loop := orFail(agent.NewLoop(agent.Config{MaxAnswer: 6}))
	worker := agent.NewWorker("w1", "talker", llmtest.Replies(llmtest.Reply{Endless: true}))
	_, err := worker.Ask(context.Background(), loop, &ledger{}, "Hello?")
	var limit *agent.LimitError
	fmt.Println(errors.As(err, &limit), worker.State())
	fmt.Println(worker.LastFailure())
	// Output:
	// true inactive_failed
	// the model did not come to an end within MaxAnswer 6; ask for less, or raise the limit
}
