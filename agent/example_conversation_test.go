package agent_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/turn"
)

// slate is a conversation that lasts until somebody wipes it.
type slate struct {
	lines []llm.Message
	wiped context.Context
}

var (
	_ agent.Interruptible = (*slate)(nil)
	_ agent.Early         = (*slate)(nil)
)

func (s *slate) Speaking() context.Context { return s.wiped }

// Begun has nothing to wait for; a store may still be writing while the model reads.
func (s *slate) Begun(context.Context) (again bool, err error) { return false, nil }

func (s *slate) Begin(_ context.Context, input ...turn.Draft) error {
	for _, part := range input {
		s.lines = append(s.lines, llm.Message{Role: llm.User, Text: part.Content.Searchable()})
	}
	return nil
}

func (s *slate) Compile(_ context.Context, o agent.Offer) (llm.Request, error) {
	return llm.Request{Messages: s.lines, Tools: o.Tools}, nil
}

func (s *slate) Receive(context.Context, llm.Chunk) error { return nil }

func (s *slate) Answer(_ context.Context, a llm.Answer) error {
	s.lines = append(s.lines, llm.Message{Role: llm.Assistant, Text: a.Text, Calls: a.Calls})
	return nil
}

func (s *slate) Results(_ context.Context, results []agent.ToolResult) error {
	for _, r := range results {
		s.lines = append(s.lines, llm.Message{Role: llm.ToolResult, CallID: r.Result.CallID, Text: r.Result.Result})
	}
	return nil
}

func (s *slate) End(_ context.Context, e agent.Ending) error {
	fmt.Println("ended:", e.State, e.Err)
	return nil
}

// The engine's conversations keep everything. This one shows what a loop needs of any.
func ExampleConversation() {
	ctx, wipe := context.WithCancelCause(context.Background())
	defer wipe(nil)
	s := &slate{wiped: ctx}
	loop, err := agent.NewLoop(agent.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	worker := agent.NewWorker("w1", "talker", llmtest.Replies(
		llmtest.Reply{Text: "Good morning."},
		llmtest.Reply{Endless: true},
	))
	if _, err := worker.Ask(context.Background(), loop, s, "Hello."); err != nil {
		fmt.Println(err)
	}
	fmt.Println(s.lines[1].Text)

	wipe(errors.New("the slate was wiped"))
	_, err = worker.Ask(context.Background(), loop, s, "Hello again?")
	fmt.Println(err)
	// Output:
	// ended: complete <nil>
	// Good morning.
	// ended: interrupted context canceled: the slate was wiped
	// context canceled: the slate was wiped
}
