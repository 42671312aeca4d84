package turnstone_test

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func ExampleWithSettings() {
	ctx := context.Background()
	model := llmtest.NewScript("Ahoy.", "Aye.")
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{Model: model, ModelName: "llama3.2"}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "ship"))
	must(chat.Say(ctx, "Hello.", turnstone.WithSettings(prompt.Settings{System: "You are a sailor."})))
	must(chat.Say(ctx, "Ready?")) // which goes on with them
	for _, asked := range model.Asked() {
		fmt.Println(asked.Messages[0].Text)
	}
	// Output:
	// You are a sailor.
	// You are a sailor.
}

func ExampleEngine_Count() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	for _, p := range eng.Models() {
		if p.Name == "gpt-4o" {
			count := must(eng.Count(ctx, p.Name, "Hello, world!"))
			fmt.Println(count.Tokens, count.Certainty)
		}
	}
	// Output: 4 exact
}

func ExampleEngine_ListenAll() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	told := make(chan event.Event, 1)
	stop := eng.ListenAll(func(e event.Event) { told <- e })
	defer stop()
	other := must(eng.ForTenant("other"))
	chat := must(other.Session(ctx, "theirs"))
	must(chat.Append(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: "Hello."}}))
	must(chat.Snapshot(ctx, "now"))
	e := <-told
	fmt.Println(e.Tenant, e.Kind)
	// Output: other snapshot-created
}
