package turnstone_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// must is for examples, which have nobody to tell.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// check is must for what returns nothing else.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// talk has the user and the agent say something in turn.
func talk(chat *turnstone.Session, texts ...string) []turn.Turn {
	roles := []turn.Role{turn.User, turn.Agent}
	var drafts []turn.Draft
	for i, text := range texts {
		drafts = append(drafts, turn.Draft{Role: roles[i%2], Content: turn.Text{Text: text}})
	}
	return must(chat.Append(context.Background(), drafts...))
}

// Whoever has an agent already appends what is said, compiles the prompt, asks a model and commits the exchange.
func Example() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{
		Prompt: prompt.Settings{System: "You answer in one sentence."},
	}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))

	input := must(chat.Append(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: "Which port does billing use?"}}))
	p := must(chat.Prompt(ctx, turnstone.PromptOptions{Model: "llama3.2"}))
	answer := must(llm.Complete(ctx, llmtest.NewScript("It is 8443."), must(chat.Request(ctx, p))))
	result := must(chat.Commit(ctx, commit.Exchange{
		Opened: input[0].ID,
		Turns:  []turn.Draft{{Role: turn.Agent, Content: turn.Text{Text: answer.Text}}},
	}))
	fmt.Println(result.Reply, result.Status)
	// Output: It is 8443. complete
}

// What was said is in the file, however the process ended.
func ExampleOpen() {
	ctx := context.Background()
	folder := must(os.MkdirTemp("", "turnstone"))
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "agent.db")

	for range 2 {
		db := must(sqlite.Open(ctx, file, sqlite.Config{}))
		eng := must(turnstone.Open(ctx, db, turnstone.Config{}))
		chat := must(eng.Session(ctx, "alice"))
		fmt.Println("turns so far:", must(chat.Info(ctx)).Head)
		must(chat.Append(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: "I am back."}}))
		check(eng.Close())
	}
	// Output:
	// turns so far: 0
	// turns so far: 1
}
