package agent_test

import (
	"context"
	"errors"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/turn"
)

// Whoever watches is told everything in order, while it happens.
func ExampleObserver() {
	clock := orFail(agent.NewTool("clock", "tells the time", func(context.Context, struct{}) (string, error) { return "12:30", nil }))
	gone := orFail(agent.NewSticky(agent.StickyConfig{Files: fstest.MapFS{}, Names: []string{"TODO.md"}}))
	loop := orFail(agent.NewLoop(agent.Config{Tools: []agent.Tool{clock}, Sticky: gone}))
	worker := agent.NewWorker("w1", "talker", llmtest.Replies(
		llmtest.Reply{Thinking: "Hm.", Calls: []llm.Call{{ID: "1", Name: "clock"}}},
		llmtest.Reply{Text: "Half past."},
	))
	watch := func(_ context.Context, e agent.Event) {
		switch e := e.(type) {
		case agent.Warned:
			fmt.Println("warning:", e.Text)
		case agent.StateChanged:
			if e.State == agent.Working || e.State == agent.Requesting {
				fmt.Println(e.State)
			}
		case agent.ThinkingPiece:
			fmt.Printf("thinks %q\n", e.Text)
		case agent.ToolStarted:
			fmt.Println("calls", e.Call.Name)
		case agent.ToolFinished:
			fmt.Println(e.Call.Name, "says", e.Result.Result.Result)
		case agent.TextPiece:
			fmt.Printf("says %q\n", e.Text)
		case agent.Answered:
			fmt.Printf("answered %q, calls: %d\n", e.Answer.Text, len(e.Answer.Calls))
		}
	}
	job := orFail(loop.Start(context.Background(), worker, &ledger{}, agent.RunOptions{
		Input: []turn.Draft{agent.Input("What time is it?")}, Observe: watch,
	}))
	<-job.Done()
	fmt.Println(worker.LastReply())
	// Output:
	// working
	// warning: sticky file TODO.md: open TODO.md: file does not exist
	// requesting
	// thinks "Hm."
	// answered "", calls: 1
	// calls clock
	// clock says "12:30"
	// working
	// requesting
	// says "Half "
	// says "past."
	// answered "Half past.", calls: 0
	// Half past.
}

// A worker has one job at a time.
func ExampleWorker() {
	ctx := context.Background()
	loop := orFail(agent.NewLoop(agent.Config{}))
	worker := agent.NewWorker("w1", "talker", llmtest.Replies(llmtest.Reply{Endless: true}))
	receiving := make(chan struct{})
	job := orFail(loop.Start(ctx, worker, &ledger{}, agent.RunOptions{
		Input: []turn.Draft{agent.Input("Go on and on.")},
		Observe: func(_ context.Context, e agent.Event) {
			if e == (agent.StateChanged{State: agent.Receiving}) {
				close(receiving)
			}
		},
	}))
	<-receiving
	_, err := worker.Ask(ctx, loop, &ledger{}, "And now?")
	fmt.Println(worker.State().Active(), worker.Job() == job, errors.Is(err, agent.ErrBusy))

	worker.Job().Cancel()
	result := orFail(job.Wait(ctx))
	fmt.Println(result.Outcome == agent.Cancelled, worker.State(), worker.Job() == nil)
	// Output:
	// true true true
	// true inactive true
}

func ExampleOutcome() {
	loop := orFail(agent.NewLoop(agent.Config{}))
	worker := agent.NewWorker("w1", "talker", llmtest.Replies(
		llmtest.Reply{Text: "Yes?"},
		llmtest.Reply{}, // no text, no call
	))
	for range 2 {
		job := orFail(loop.Start(context.Background(), worker, &ledger{}, agent.RunOptions{Input: []turn.Draft{agent.Input("Hello?")}}))
		switch result := orFail(job.Wait(context.Background())); result.Outcome {
		case agent.Normal:
			fmt.Println(result.Reply.Text)
		case agent.Failed:
			fmt.Println(errors.Is(result.Err, agent.ErrNoAnswer), worker.State() == agent.InactiveFailed)
		}
	}
	// Output:
	// Yes?
	// true true
}

// A call that is not confirmed is not run, and the model is told.
func ExampleErrDenied() {
	remove := orFail(agent.NewTool("remove", "removes a file", func(context.Context, struct{}) (string, error) {
		return "", errors.New("never called")
	}))
	loop := orFail(agent.NewLoop(agent.Config{
		Tools:   []agent.Tool{remove},
		Confirm: func(context.Context, llm.Call) error { return agent.ErrDenied },
	}))
	worker := agent.NewWorker("w1", "cleaner", llmtest.Replies(
		llmtest.Reply{Calls: []llm.Call{{ID: "1", Name: "remove"}}},
		llmtest.Reply{Text: "As you like."},
	))
	fmt.Println(orFail(worker.Ask(context.Background(), loop, &ledger{}, "Clean up.")).Text)
	fmt.Println(worker.Container.Entries()[2].Text())
	// Output:
	// As you like.
	// "not confirmed"
}

// What the model is offered is read anew for every prompt.
func ExampleLoop_Offer() {
	files := fstest.MapFS{"NOTES.md": {Data: []byte("Answer in French.")}} // os.DirFS, elsewhere
	sticky := orFail(agent.NewSticky(agent.StickyConfig{Files: files, Names: []string{"NOTES.md", "TODO.md"}}))
	loop := orFail(agent.NewLoop(agent.Config{Sticky: sticky}))
	offer, problems, err := loop.Offer(context.Background())
	fmt.Println(offer.Sticky, len(offer.Tools), err)
	fmt.Println(problems[0])
	// Output:
	// [{NOTES.md Answer in French.}] 0 <nil>
	// sticky file TODO.md: open TODO.md: file does not exist
}

// A tool that does not stop when it is told to is left behind, until it does.
func ExampleLoop_Drain() {
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	stubborn := orFail(agent.NewTool("wait", "waits", func(context.Context, struct{}) (string, error) {
		cancel()
		<-release
		return "done", nil
	}))
	loop := orFail(agent.NewLoop(agent.Config{Tools: []agent.Tool{stubborn}, Grace: time.Millisecond}))
	worker := agent.NewWorker("w1", "waiter", llmtest.Replies(llmtest.Reply{Calls: []llm.Call{{ID: "1", Name: "wait"}}}))
	_, err := worker.Ask(ctx, loop, &ledger{}, "Wait for me.")
	fmt.Println(errors.Is(err, context.Canceled))
	close(release)
	fmt.Println(loop.Drain(context.Background()))
	// Output:
	// true
	// <nil>
}

// Before its run begins, an input can be taken back.
func ExampleContainer_Staged() {
	c := agent.NewContainer(nil)
	for _, said := range []agent.AgentMessage{
		agent.ToolUse{Calls: []turn.ToolCall{{ID: "1", Name: "clock", Arguments: "{}"}}},
		agent.Response{Text: "Hello!"},
	} {
		var wrong *agent.FieldError
		if err := c.PushAssistant(said, turn.Meta{}); errors.As(err, &wrong) {
			fmt.Println(err)
		}
	}
	if err := c.PushInput(agent.Input("Hello?")); err != nil {
		fmt.Println(err)
	}
	staged, ok := c.Staged()
	fmt.Println(staged.Parts[0].Content.Searchable(), ok, c.Entries()[0].User())
	fmt.Println(c.Rollback(), c.Empty())
	// Output:
	// entry: tool_use may not stand first; push prompt
	// entry: response may not stand first; push prompt
	// Hello? true true
	// true true
}

// What a log takes in one turn bounds what is asked for.
func ExampleConfig_Within() {
	c := agent.Config{MaxResult: 1000}.Within(turn.Limits{Text: 64_000, Calls: 16})
	fmt.Println(c.MaxAnswer, c.MaxResult, c.MaxCalls)
	// Output: 64000 1000 16
}
