package turnstone_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// A client keeps the conversation itself and sends all of it with each call. Its next call finds the session by what it
// repeats.
func ExampleSession_Relay() {
	ctx := context.Background()
	eng, err := turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer eng.Close()
	chat, err := eng.Session(ctx, "relayed")
	if err != nil {
		fmt.Println(err)
		return
	}
	asked := chain.Next(chain.Hash{}, chain.Message{Role: "user", Text: "Hello!"})
	answered := chain.Next(asked, chain.Message{Role: "assistant", Text: "Hi."})
	relay := func(after int64, input chain.Hash, text string) (*turnstone.Relay, error) {
		r := chat.Relay(turnstone.RelayOptions{Model: "llama3.2", After: after, Input: input, Settings: prompt.Settings{System: "Be brief."}})
		if err := r.Begin(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: text}}); err != nil {
			return nil, err
		}
		if _, err := r.Begun(ctx); err != nil {
			return nil, err
		}
		return r, nil
	}
	exchange := func() error {
		r, err := relay(0, asked, "Hello!")
		if err != nil {
			return err
		}
		request, err := r.Compile(ctx, agent.Offer{})
		if err != nil {
			return err
		}
		fmt.Println("asked:", request.Messages[0].Text, request.Messages[1].Text)
		r.Link(answered)
		if err := r.Answer(ctx, llm.Answer{Text: "Hi.", Stop: llm.StopEnd}); err != nil {
			return err
		}
		if err := r.End(ctx, agent.Ending{State: commit.Complete}); err != nil {
			return err
		}
		fmt.Println("linked turn", r.Linked())
		return nil
	}
	if err := exchange(); err != nil {
		fmt.Println(err)
		return
	}
	if err := chat.Rest(ctx); err != nil { // whoever else speaks has ended
		fmt.Println(err)
		return
	}
	links, of, err := eng.Links(ctx, chain.Hash{1}, answered)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("found by hash", of, "of", eng.Tenant(), "in", links[0].Session, "at turn", links[0].Seq)
	if _, err := relay(0, asked, "Hello again!"); errors.Is(err, turnstone.ErrMoved) {
		turns, err := chat.Since(ctx, 0, 10)
		fmt.Println("moved on by", len(turns), "turns:", err)
	}
	// Where the model is asked with the client's own messages, only the log is kept.
	recorded, err := relay(turnstone.Head, asked, "Once more.")
	if err != nil {
		fmt.Println(err)
		return
	}
	recorded.Untouched()
	fmt.Println(recorded.End(ctx, agent.Ending{State: commit.Failed, Err: errors.New("the client hung up")}))
	// A session that is not there yet is made by its first exchange.
	chat = eng.Unmade()
	made := chat.Relay(turnstone.RelayOptions{Model: "llama3.2", New: &turn.SessionInfo{User: "alice"}})
	if err := made.Begin(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: "Hello!"}}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(made.End(ctx, agent.Ending{State: commit.Failed, Err: errors.New("nobody was asked")}))
	// Output:
	// asked: Be brief. Hello!
	// linked turn 2
	// found by hash 1 of default in relayed at turn 2
	// moved on by 2 turns: <nil>
	// <nil>
	// <nil>
}
