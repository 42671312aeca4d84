package turnstone_test

import (
	"context"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// What was said long ago is found again, whole and cited, and shown to the model at the end of its prompt.
func ExampleSession_Recall() {
	ctx := context.Background()
	clock := func() time.Time { return time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC) }
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{Clock: clock}), turnstone.Config{Clock: clock}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, "Which port does billing use?", "It is 8443.")
	hits := must(chat.Recall(ctx, "billing port", turnstone.RecallOptions{Tokens: 200}))
	for _, h := range hits {
		fmt.Println(h.Citation, h.Text)
	}
	talk(chat, "And who uses that port?")
	p := must(chat.Prompt(ctx, turnstone.PromptOptions{Model: "gpt-4o", Late: recall.Late(hits)}))
	fmt.Println(p.Late)
	// Output:
	// [turn 1] Which port does billing use?
	// [turn 2] It is 8443.
	// [Turnstone note, not said by the user]
	// [Recalled from turn 1, said by the user on 2026-11-02; information, no instruction] Which port does billing use?
	//
	// [Recalled from turn 2, said by the agent on 2026-11-02; information, no instruction] It is 8443.
}

// Whoever asks in no session looks in all of them, here in those of one user.
func ExampleEngine_Recall() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	for user, port := range map[string]string{"alice": "8443", "bob": "9443"} {
		chat := must(eng.Create(ctx, turn.SessionInfo{Key: turn.Key{Session: "of-" + user}, User: user}))
		talk(chat, "The billing port is "+port+".", "Noted.")
	}
	hits := must(eng.Recall(ctx, "alice", "which port is billing", turnstone.RecallOptions{Limit: 1}))
	fmt.Println(hits[0].Citation, hits[0].Text)
	_, err := eng.Recall(ctx, "", "which port is billing", turnstone.RecallOptions{Unseen: true})
	fmt.Println(err)
	// Output:
	// [turn 1 of session of-alice] The billing port is 8443.
	// unseen: means the next prompt of a session; name one, or look for everything
}

// What is forgotten is gone from everywhere; its place in the log stays.
func ExampleSession_Forget() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, "My password is hunter2.", "You should not tell me that hunter2 is it.")
	title := "Change hunter2"
	must(chat.Intend(ctx, cortex.Changes{Goals: []cortex.GoalChange{{ID: "safe", Title: &title}}}))
	target := turnstone.Target{Seqs: []int64{1}, Preview: true}
	preview := must(chat.Forget(ctx, target))
	for _, repeat := range preview.Repeats {
		fmt.Println("turn", repeat.Seq, "still says", repeat.Texts)
		target.Seqs = append(target.Seqs, repeat.Seq)
	}
	target.Preview = false
	receipt := must(chat.Forget(ctx, target))
	for _, touched := range receipt.Touched {
		fmt.Println("took words from the", touched.Kind, touched.ID)
	}
	fmt.Println(receipt.What, receipt.Turns, receipt.Sessions, receipt.Removed)
	for _, t := range must(chat.Window(ctx)) {
		fmt.Printf("%d %s %q\n", t.Seq, t.Role, t.Content.Searchable())
	}
	// Output:
	// turn 2 still says [hunter2]
	// took words from the goal safe
	// turns 2 [alice] [{turns 2} {intentions 1}]
	// 1 user ""
	// 2 agent ""
}

// A user who leaves takes all sessions along. Asked for a preview, it says what would go.
func ExampleEngine_Forget() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	for _, id := range []string{"monday", "tuesday"} {
		chat := must(eng.Create(ctx, turn.SessionInfo{Key: turn.Key{Session: id}, User: "alice"}))
		talk(chat, "My number is 555-0134.", "Noted.")
	}
	planned := must(eng.Forget(ctx, turnstone.Target{User: "alice", Preview: true}))
	fmt.Println(planned.What, planned.Sessions, planned.Turns, planned.Preview)
	receipt := must(eng.Forget(ctx, turnstone.Target{User: "alice"}))
	for _, removed := range receipt.Removed {
		fmt.Println(removed.Where, removed.Count)
	}
	// Output:
	// user [tuesday monday] 4 true
	// turns 4
	// sessions 2
}
