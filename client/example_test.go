package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/client"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// must is for examples, where nothing fails.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// served is a server for an example, in the place of turnstone serve.
func served(model llm.Model, tools ...agent.Tool) (url string, stop func()) {
	eng := must(turnstone.Open(context.Background(), mem.New(mem.Config{}), turnstone.Config{Model: model, Agent: agent.Config{Tools: tools}}))
	s := httptest.NewServer(must(server.New(server.Config{Engine: eng})).Handler())
	return s.URL, func() {
		s.Close()
		if err := eng.Close(); err != nil {
			log.Fatal(err)
		}
	}
}

func Example() {
	url, stop := served(llmtest.NewScript("Friday at ten."))
	defer stop()
	ctx := context.Background()

	c, err := client.New(url, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	chat, err := c.Session(ctx, "alice")
	if err != nil {
		log.Fatal(err)
	}
	for piece, err := range chat.Stream(ctx, client.Say{Text: "When does the train leave?"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(piece.Text)
		if piece.Reply != nil {
			fmt.Printf(" (%s)\n", piece.Reply.Status)
		}
	}
	// Output: Friday at ten. (complete)
}

func ExampleClient_Sessions() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	c := must(client.New(url, client.Options{}))

	trip := must(c.Create(ctx, "trip", client.About{User: "alice", Title: "Lisbon"}))
	must(trip.Append(ctx, client.Draft{Role: "user", Text: "Hello"}, client.Draft{Role: "agent", Text: "Hi!"}))
	what := must(trip.Fork(ctx, "what-if", 1))
	must(what.Describe(ctx, client.About{Title: "Porto"}))
	if err := trip.End(ctx); err != nil {
		log.Fatal(err)
	}
	for info, err := range c.Sessions(ctx, client.SessionFilter{User: "alice"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(info.ID, info.Title, info.Status, info.Turns)
	}
	found := must(must(c.Find(ctx, what.ID())).Info(ctx))
	fmt.Println("forked from", found.Parent)
	// Output:
	// what-if Porto active 1
	// trip Lisbon ended 2
	// forked from trip
}

func ExampleSession_Append() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	chat := must(must(client.New(url, client.Options{})).Session(ctx, "trip"))

	must(chat.AppendOnce(ctx, "message 61", client.Draft{Role: "user", Text: "The API runs on port 5433."}))
	must(chat.AppendOnce(ctx, "message 61", client.Draft{Role: "user", Text: "The API runs on port 5433."}))
	must(chat.Append(ctx, client.Draft{Role: "agent", Text: "Noted."}))
	for _, turn := range must(chat.History(ctx, client.HistoryOptions{Turns: 5})) {
		fmt.Println(turn.Seq, turn.Role, turn.Text())
	}
	for turn, err := range chat.Query(ctx, client.TurnQuery{Regexp: `port \d+`}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("found", turn.Seq)
	}
	// Output:
	// 1 user The API runs on port 5433.
	// 2 agent Noted.
	// found 1
}

// A session that ended goes on when something is said in it, and who says it is told.
func ExampleSession_Extend() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	chat := must(must(client.New(url, client.Options{})).Session(ctx, "alice"))
	if err := chat.End(ctx); err != nil {
		log.Fatal(err)
	}
	done := must(chat.Extend(ctx, "form-17", client.Draft{Role: "user", Text: "One more thing."}))
	fmt.Println(done.Turns[0].Seq, done.Reopened)
	// Output: 1 true
}

func ExampleSession_Say() {
	find := must(agent.NewTool("find_order", "Says where an order is.", func(context.Context, struct{}) (string, error) {
		return "on its way", nil
	}))
	url, stop := served(llmtest.Replies(
		llmtest.Reply{Calls: []llm.Call{{ID: "c1", Name: "find_order", Arguments: "{}"}}}, llmtest.Reply{Text: "It is on its way."},
		llmtest.Reply{Text: "Tomorrow."},
	), find)
	defer stop()
	ctx := context.Background()
	chat := must(must(client.New(url, client.Options{})).Session(ctx, "alice"))

	for piece, err := range chat.Stream(ctx, client.Say{Text: "Where is my order?"}) {
		if err != nil {
			log.Fatal(err)
		}
		if piece.Call != nil {
			fmt.Println("calls", piece.Call.Name)
		}
		fmt.Print(piece.Text)
	}
	reply := must(chat.Say(ctx, client.Say{Text: "When?"}))
	fmt.Println("\n" + reply.Text)
	// Output:
	// calls find_order
	// It is on its way.
	// Tomorrow.
}

// An agent of one's own appends what the user said, has the prompt compiled, asks its model and commits what came of it.
func ExampleSession_Commit() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	chat := must(must(client.New(url, client.Options{})).Session(ctx, "trip"))

	asked := must(chat.Append(ctx, client.Draft{Role: "user", Text: "The night train, please."}))[0]
	options := client.PromptOptions{Model: "llama3.2", Context: 8192, Settings: &client.Settings{
		System: "You book trains.",
		Skills: []client.Material{{Name: "seats", Text: "Seat 61 is at the window."}},
		Tools:  []client.Tool{{Name: "book", Description: "Books a seat.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}},
	}}
	prompt := must(chat.Prompt(ctx, options))
	account := prompt.Account
	for _, part := range account.Parts {
		if part.Part == "tools" {
			fmt.Println("the tools take a part of it:", part.Tokens < account.Tokens)
		}
	}
	body := must(chat.PromptAs(ctx, "ollama", options)) // for the model
	fmt.Println(json.Valid(body), must(chat.PromptAt(ctx, asked.Seq)).SHA256 == prompt.SHA256)

	done := must(chat.Commit(ctx, client.Exchange{
		TurnID:        asked.ID,
		Turns:         []client.Draft{{Role: "agent", Text: "Booked, seat 61."}},
		DaemonOutputs: []client.DaemonOutput{{Daemon: "seats", Output: "61 is free"}},
		Candidates:    []client.Candidate{{Type: "user_data", Text: "Likes night trains"}, {Type: "user_data", Text: "Likes night trains"}},
		Intentions:    &client.Intentions{Goals: []client.GoalChange{{Title: "Plan the trip"}, {ID: "none", Status: "completed"}}},
	}))
	fmt.Println(done.Status)
	for _, dropped := range done.Dropped {
		fmt.Println("not remembered:", dropped.Reason)
	}
	for _, changed := range done.Changed {
		fmt.Println("changed:", changed.Kind, changed.Title, changed.Status, changed.ID != "")
	}
	for _, refused := range done.Refused {
		fmt.Println("refused:", refused.What)
	}
	// Output:
	// the tools take a part of it: true
	// true true
	// complete_with_errors
	// changed: goal Plan the trip active true
	// refused: goal none
}

func ExampleSession_Recall() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	c := must(client.New(url, client.Options{}))
	chat := must(c.Session(ctx, "trip"))
	must(chat.Commit(ctx, client.Exchange{
		Turns:      []client.Draft{{Role: "user", Text: "We take the night train."}, {Role: "agent", Text: "Booked."}},
		Candidates: []client.Candidate{{Type: "user_data", Text: "Likes window seats", Links: &client.Links{Items: []string{"seat-map"}}}},
	}))

	for _, hit := range must(chat.Recall(ctx, client.Recall{Query: "which train did we choose", Limit: 1})).Hits {
		fmt.Println(hit.Seqs, hit.Text)
	}
	for item, err := range c.Memory(ctx, client.MemorySearch{Text: "seats"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Type, item.Text)
		if err := c.ForgetItem(ctx, item.ID); err != nil {
			log.Fatal(err)
		}
	}
	for range chat.Memory(ctx, client.MemorySearch{Text: "seats"}) {
		fmt.Println("it is still there")
	}
	// Output:
	// [1] We take the night train.
	// user_data Likes window seats
}

func ExampleSession_ChangeGoal() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	chat := must(must(client.New(url, client.Options{})).Session(ctx, "trip"))

	made := must(chat.ChangeGoal(ctx, client.GoalChange{
		Title:         "Plan the trip",
		AddMilestones: []client.Milestone{{Description: "Train"}, {Description: "Hotel"}},
		AddDecisions:  []client.Decision{{Description: "By night", Locked: true}},
		AddArtifacts:  []client.Artifact{{Path: "plan.md", Action: "created"}},
	}))
	must(chat.ChangeGoal(ctx, client.GoalChange{ID: made.ID, SetMilestones: []client.Milestone{{Description: "Train", Status: "completed"}}}))
	goal := must(chat.Goal(ctx, made.ID))
	fmt.Println(goal.Progress, len(must(chat.Goals(ctx))))
	// Output: 0.5 1
}

func ExampleSession_Restore() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	chat := must(must(client.New(url, client.Options{})).Session(ctx, "trip"))
	must(chat.Append(ctx, client.Draft{Role: "user", Text: "By train."}))

	taken := must(chat.Snapshot(ctx, "before the change"))
	must(chat.Append(ctx, client.Draft{Role: "user", Text: "No, by ship."}))
	back := must(chat.Restore(ctx, client.Restore{Snapshot: taken.ID, Model: "llama3.2"}))
	fmt.Println(back.Left, "turn left behind")
	undone := must(chat.Undo(ctx, client.Undo{Model: "llama3.2"}))
	fmt.Println("undone:", undone.Undone)
	for s, err := range chat.Snapshots(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if !s.Auto {
			fmt.Println(s.Name)
		}
	}
	// Output:
	// 1 turn left behind
	// undone: restore
	// before the change
}

func ExampleSession_Forget() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	c := must(client.New(url, client.Options{}))
	chat := must(c.Create(ctx, "trip", client.About{User: "alice"}))
	must(chat.Append(ctx, client.Draft{Role: "user", Text: "My number is 5550134."}, client.Draft{Role: "user", Text: "Hello? 5550134!"}))

	receipt := must(chat.Forget(ctx, client.Forget{Seqs: []int64{1}}))
	for _, removed := range receipt.Removed {
		fmt.Println(removed.Where, removed.Count)
	}
	for _, touched := range receipt.Touched {
		fmt.Println("and of the", touched.Kind, touched.ID) // there is none: no goal, item, slot or note says it
	}
	for _, repeat := range receipt.Repeats {
		fmt.Println("turn", repeat.Seq, "of", repeat.Session, "still says it")
	}
	fmt.Println(must(c.Forget(ctx, client.ForgetUser{User: "alice", Preview: true})).Turns, "more would go with alice")
	// Output:
	// turns 1
	// turn 2 of trip still says it
	// 1 more would go with alice
}

func ExampleClient_Events() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	c := must(client.New(url, client.Options{}))
	chat := must(c.Session(ctx, "trip"))
	must(chat.Snapshot(ctx, "before"))

	for happened, err := range c.Events(ctx, client.EventsFrom{Start: true}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(happened.Session, happened.Kind) // and happened.Cursor is kept, to go on after it
		break
	}
	for e := range chat.Events(ctx, client.EventsFrom{Start: true}) {
		fmt.Println(e.Kind)
		break
	}
	// Output:
	// trip snapshot-created
	// snapshot-created
}

func ExampleClient_Import() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	c := must(client.New(url, client.Options{}))
	chat := must(c.Session(ctx, "trip"))
	must(chat.Append(ctx, client.Draft{Role: "user", Text: "Hello"}))

	bundle := must(chat.Bundle(ctx))
	defer bundle.Close()
	moved := must(c.Import(ctx, bundle, "moved")) // another server's client, for instance
	fmt.Println(must(moved.Info(ctx)).Turns)
	// Output: 1
}

func ExampleClient_Do() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	c := must(client.New(url, client.Options{}))
	must(must(c.Session(ctx, "trip")).Append(ctx, client.Draft{Role: "user", Text: "Hello"}))

	var mark struct {
		Name string `json:"name"`
		Seq  int64  `json:"seq"`
	}
	if err := c.Do(ctx, "POST", "/sessions/trip/bookmarks", map[string]string{"name": "here"}, &mark); err != nil {
		log.Fatal(err)
	}
	var markdown bytes.Buffer
	if err := c.Do(ctx, "GET", "/sessions/trip/history/markdown", nil, &markdown); err != nil {
		log.Fatal(err)
	}
	fmt.Println(mark.Name, mark.Seq, markdown.Len() > 0)
	// Output: here 1 true
}

func ExampleProblem() {
	url, stop := served(nil)
	defer stop()
	ctx := context.Background()
	c := must(client.New(url, client.Options{}))

	_, err := c.Find(ctx, "nobody")
	switch {
	case errors.Is(err, client.NotFound):
		fmt.Println("there is no such session")
	case errors.Is(err, client.Unauthorized), errors.Is(err, client.Forbidden):
		fmt.Println("another key is needed")
	case errors.Is(err, client.TooMany), errors.Is(err, client.Busy), errors.Is(err, client.Unavailable):
		fmt.Println("later, perhaps")
	case errors.Is(err, client.OverBudget), errors.Is(err, client.Limit), errors.Is(err, client.TooLarge):
		fmt.Println("less would do")
	case errors.Is(err, client.Conflict), errors.Is(err, client.Precondition), errors.Is(err, client.Changed):
		fmt.Println("it is no longer what it was")
	case errors.Is(err, client.Invalid), errors.Is(err, client.NotLegal), errors.Is(err, client.Damaged):
		fmt.Println("it cannot be done like that")
	case errors.Is(err, client.Model):
		fmt.Println("the model could not answer")
	}
	var problem *client.Problem
	if errors.As(err, &problem) {
		kind := problem.Kind()
		fmt.Println(problem.Status, kind.Error(), problem.Is(client.NotFound), problem.Error() == problem.Detail)
	}
	// Output:
	// there is no such session
	// 404 not-found true true
}
