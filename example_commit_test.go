package turnstone_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// exchanged is an exchange of one question and its answer.
func exchanged(question, answer string, remember ...memory.Candidate) commit.Exchange {
	return commit.Exchange{
		Turns: []turn.Draft{
			{Role: turn.User, Content: turn.Text{Text: question}},
			{Role: turn.Agent, Content: turn.Text{Text: answer}},
		},
		Candidates: remember,
	}
}

// An exchange is committed once, however often it is tried.
func ExampleSession_Commit() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	exchange := exchanged("Which port does billing use?", "It is 8443.")
	exchange.ExportID = "01K9QZ3V5T0000000000000000"
	for _, t := range must(chat.Commit(ctx, exchange)).Turns {
		fmt.Println(t.Seq, t.Role, t.Kind)
	}
	again := must(chat.Commit(ctx, exchange))
	fmt.Println(again.Status, again.Repeated, len(again.Turns))
	// Output:
	// 1 user turn
	// 2 agent turn
	// 3 system summary
	// complete true 3
}

// What an exchange changed is exported to daemons, and what happened in it is traced.
func ExampleEngine_Export() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	result := must(chat.Commit(ctx, exchanged("I moved to Oslo.", "Noted.")))

	export := must(eng.Export(ctx, result.ExportID)) // or by result.TurnID
	fmt.Printf("%q %q %s\n", export.Turn.UserInput, export.Turn.AssistantResponse, export.Status)
	for _, span := range must(eng.Trace(ctx, result.TurnID)).Spans[:3] {
		fmt.Println(span.Phase)
	}
	// Output:
	// "I moved to Oslo." "Noted." complete
	// complete
	// reflect
	// select
}

func ExampleEngine_Remembered() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Create(ctx, turn.SessionInfo{Key: turn.Key{Session: "monday"}, User: "alice"}))
	must(chat.Commit(ctx, exchanged("I moved to Oslo.", "Noted.",
		memory.Candidate{Type: memory.UserData, Source: memory.FromUser, Text: "lives in Oslo"})))

	found := must(eng.Remembered(ctx, memory.Search{Text: "living", User: "alice"})) // in all sessions
	for _, item := range found.Items {
		fmt.Println(item.Owner.Session, item.Type, item.Text)
	}
	fmt.Println(must(eng.ForgetItems(ctx, found.Items[0].ID)), "forgotten")
	fmt.Println(len(must(chat.Remembered(ctx, memory.Search{Text: "Oslo", Type: memory.UserData})).Items), "left")
	// Output:
	// monday user_data lives in Oslo
	// 1 forgotten
	// 0 left
}

// The digest is the running account of a session. No model is asked for it.
func ExampleSession_Digest() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	must(chat.Commit(ctx, exchanged("Which database?", "Let's use PostgreSQL.")))
	must(chat.Commit(ctx, exchanged("And the port?", "The default one, 5432.")))
	digest := must(chat.Digest(ctx))
	fmt.Println(digest.Rolling)
	fmt.Println(digest.Decisions[0].Text)
	// Output:
	// User: Which database? Agent: Let's use PostgreSQL.
	// User: And the port? Agent: The default one, 5432.
	// Let's use PostgreSQL.
}

// Workers that may run in several processes write under a lease: whoever lost it is told.
func ExampleSession_Acquire() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	lease := must(chat.Acquire(ctx))
	_, err := chat.Acquire(ctx)
	fmt.Println("a second worker:", errors.Is(err, turnstone.ErrBusy))

	asked := must(lease.Append(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: "Book a table."}}))
	must(lease.Believe(ctx, func(s *dialogue.State) error {
		_, _, err := s.StackOn("f1", "book a table", dialogue.Options{})
		return err
	}))
	check(lease.Renew(ctx)) // while the model thinks
	result := must(lease.Commit(ctx, commit.Exchange{
		Opened: asked[0].ID,
		Turns:  []turn.Draft{{Role: turn.Agent, Content: turn.Text{Text: "For how many?"}}},
	}))
	check(lease.Release(ctx))
	_, err = lease.Append(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: "Two."}})
	fmt.Println(result.Status, errors.Is(err, turn.ErrLeaseLost))
	// Output:
	// a second worker: true
	// complete true
}
