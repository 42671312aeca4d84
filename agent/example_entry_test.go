package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/turn"
)

func ExampleEntry() {
	c := agent.NewContainer(nil)
	err := errors.Join(
		c.PushInput(agent.Input("What time is it?")),
		c.PushAssistant(agent.ToolUse{Calls: []turn.ToolCall{{ID: "1", Name: "clock", Arguments: "{}"}}}, turn.Meta{Tokens: 9}),
		c.PushToolResults(turn.Result{Name: "clock", CallID: "1", Status: turn.CallOK, Result: `"12:30"`}),
		c.PushAssistant(agent.Response{Text: "Half past twelve."}, turn.Meta{Tokens: 5}),
		c.PushInput(agent.Input("And now?")),
	)
	c.Abandon() // nobody answered
	for i, e := range c.All() {
		switch m := e.Message.(type) {
		case agent.Prompt:
			fmt.Println(i, "user:", m.Parts[0].Content.Searchable(), e.Unanswered)
		case agent.ToolUse:
			fmt.Println(i, "calls:", m.Calls[0].Name, e.Meta.Tokens)
		case agent.ToolResults:
			fmt.Println(i, "result:", m.Results[0].Result)
		case agent.CancelledTools:
			fmt.Println(i, "cancelled")
		case agent.Response:
			fmt.Println(i, "agent:", m.Text)
		}
	}
	fmt.Println(err)
	// Output:
	// 0 user: What time is it? false
	// 1 calls: clock 9
	// 2 result: "12:30"
	// 3 agent: Half past twelve.
	// 4 user: And now? true
	// <nil>
}

func ExampleContainer_Trim() {
	c := agent.NewContainer(nil)
	for _, word := range []string{"one", "two", "three"} {
		if err := errors.Join(c.PushInput(agent.Input(word)), c.PushAssistant(agent.Response{Text: "ok"}, turn.Meta{})); err != nil {
			fmt.Println(err)
		}
	}
	err := c.Trim(2, func(_ string, dropped []agent.Entry) (string, error) {
		return fmt.Sprintf("%d entries from %q on", len(dropped), dropped[0].Text()), nil
	})
	fmt.Println(c.Len(), c.Dropped(), c.Summary(), err)
	// Output: 2 4 4 entries from "one" on <nil>
}

func ExampleNewRawTool() {
	// What a tool server elsewhere offers, passed on as it is.
	remote := llm.Tool{Name: "add", Description: "adds numbers", Schema: `{"properties":{"a":{"type":"number"},"b":{"type":"number"}}}`}
	tool := orFail(agent.NewRawTool(remote, func(_ context.Context, arguments json.RawMessage) (json.RawMessage, error) {
		fmt.Printf("sent on: %s\n", arguments)
		return json.RawMessage(`{"sum":5}`), nil
	}))
	loop := orFail(agent.NewLoop(agent.Config{Tools: []agent.Tool{tool}}))
	worker := agent.NewWorker("w1", "adder", llmtest.Replies(
		llmtest.Reply{Calls: []llm.Call{{ID: "1", Name: "add", Arguments: `{"a":2,"b":3}`}}},
		llmtest.Reply{Text: "5"},
	))
	reply, err := worker.Ask(context.Background(), loop, &ledger{}, "2+3?")
	fmt.Println(reply.Text, reply.Rounds, err)
	// Output:
	// sent on: {"a":2,"b":3}
	// 5 2 <nil>
}

func ExamplePanicError() {
	boom := orFail(agent.NewTool("boom", "goes wrong", func(context.Context, struct{}) (string, error) { panic("boom") }))
	loop := orFail(agent.NewLoop(agent.Config{Tools: []agent.Tool{boom}}))
	worker := agent.NewWorker("w1", "tester", llmtest.Replies(
		llmtest.Reply{Calls: []llm.Call{{ID: "1", Name: "boom"}}},
		llmtest.Reply{Text: "It broke."},
	))
	job := orFail(loop.Start(context.Background(), worker, &ledger{}, agent.RunOptions{
		Input: []turn.Draft{agent.Input("Try it.")},
		Observe: func(_ context.Context, e agent.Event) {
			var trouble *agent.PanicError
			if end, ok := e.(agent.ToolFinished); ok && errors.As(end.Err, &trouble) {
				fmt.Println(trouble, len(trouble.Stack) > 0, end.Result.Result.Status)
			}
		},
	}))
	result, err := job.Wait(context.Background())
	fmt.Println(result.Reply.Text, err)
	// Output:
	// panic: boom true error
	// It broke. <nil>
}
