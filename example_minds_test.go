package turnstone_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// What the conversation is about is a stack of flows, and how it was after any turn can be asked for.
func ExampleSession_Believe() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	asked := talk(chat, "A table in Oslo, please.")
	must(chat.Believe(ctx, func(s *dialogue.State) error {
		_, _, err := s.StackOn("f1", "book a table", dialogue.Options{})
		return errors.Join(err, s.Attach(asked[0].ID), s.SetSlot("city", `"Oslo"`, asked[0].ID))
	}))
	talk(chat, "For two, at seven.", "Booked.")
	must(chat.Believe(ctx, func(s *dialogue.State) error {
		_, err := s.Complete(`"booked"`)
		s.Pop()
		return err
	}))

	flow, _ := must(chat.State(ctx, 1)).State.Active()
	city, _ := flow.Slot("city")
	fmt.Println("after turn 1:", flow.Name, city.Value)
	fmt.Println("now:", len(must(chat.State(ctx, turnstone.Head)).State.Stack), must(chat.CompletedFlows(ctx)))
	// Output:
	// after turn 1: book a table "Oslo"
	// now: 0 [f1]
}

// Turns know no flows; flows point at their turns.
func ExampleSession_QueryFlow() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	said := talk(chat, "A table in Oslo.", "For how many?", "Is it raining?", "No.", "For two.")
	must(chat.Believe(ctx, func(s *dialogue.State) error {
		_, _, err := s.StackOn("f1", "book a table", dialogue.Options{})
		return errors.Join(err, s.Attach(said[0].ID), s.Attach(said[4].ID))
	}))
	for _, t := range must(chat.QueryFlow(ctx, "f1", turn.Query{Role: turn.User})).Turns {
		fmt.Println(t.Seq, t.Content.Searchable())
	}
	// Output:
	// 1 A table in Oslo.
	// 5 For two.
}

// The active goal stands in every prompt, with all that was decided. What is locked stays.
func ExampleSession_Intend() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	title := "Add a login"
	must(chat.Intend(ctx, cortex.Changes{Goals: []cortex.GoalChange{{
		ID: "login", Title: &title, By: cortex.ActorUser,
		AddMilestones: []cortex.Milestone{{Description: "design"}, {Description: "endpoint"}},
		AddDecisions:  []cortex.Decision{{Description: "use JWT", Locked: true}},
	}}}))
	staged := must(chat.Intend(ctx, cortex.Changes{Goals: []cortex.GoalChange{{
		ID: "login", SetMilestones: []cortex.Milestone{{Description: "design", Status: cortex.MilestoneCompleted}},
	}}}))
	goal, _ := staged.Next.Goal("login")
	fmt.Println(goal.Title, goal.Milestones, goal.Progress)

	_, err := chat.Intend(ctx, cortex.Changes{Goals: []cortex.GoalChange{{ID: "login", RemoveDecisions: []string{"use JWT"}}}})
	var refused *turnstone.RefusedError
	if errors.As(err, &refused) {
		fmt.Println(refused.Reasons[0])
	}
	// Output:
	// Add a login [{design completed} {endpoint pending}] 0.5
	// goal login: remove_decisions[0]: decision "use JWT" is locked and stays as it is; add another decision that says what is different
}

func ExampleSession_Intentions() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	task, send, ask, dropped := cortex.AgentTask, "send the draft", "ask Bob", cortex.ActionCancelled
	must(chat.Intend(ctx, cortex.Changes{Actions: []cortex.ActionChange{
		{ID: "a1", Type: &task, Title: &send, By: cortex.ActorUser, Why: "on Monday"},
		{ID: "a2", Type: &task, Title: &ask, By: cortex.ActorUser},
	}}))
	must(chat.Intend(ctx, cortex.Changes{Actions: []cortex.ActionChange{
		{ID: "a1", Status: &dropped, By: cortex.ActorAgent, Why: "Bob has it already"},
	}}))

	live, all := must(chat.Intentions(ctx, false)), must(chat.Intentions(ctx, true))
	fmt.Println(live.Actions()[0].Title, "is open,", len(all.Actions())-1, "is finished:")
	for _, e := range must(chat.IntentionHistory(ctx, cortex.KindAction, "a1")) {
		fmt.Println(e.Version, e.Changes[0].By, e.Changes[0].Why)
	}
	// Output:
	// ask Bob is open, 1 is finished:
	// 1 user on Monday
	// 2 agent Bob has it already
}

// Notes are what was noticed and may be of use today. They expire.
func ExampleSession_Note() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	kind, text := "warning", "The disk is nearly full."
	must(chat.Note(ctx, scratch.Changes{Put: []scratch.Change{{ID: "n1", Type: &kind, Content: &text}}}))
	for _, o := range must(chat.Notes(ctx)).Observations() {
		fmt.Println(o.Type, o.Status, o.Content)
	}
	must(chat.Note(ctx, scratch.Changes{Archive: []string{"n1"}}))
	fmt.Println(len(must(chat.Notes(ctx)).Observations()))
	for _, o := range must(chat.KeptNotes(ctx)).Kept() {
		fmt.Println(o.Type, o.Status, o.Content)
	}
	// Output:
	// warning active The disk is nearly full.
	// 0
	// warning archived The disk is nearly full.
}

// The follow-up context knows what "it" is in "move it to Friday".
func ExampleEngine_Light() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	for _, request := range []string{
		`{"session": "alice", "action": "store", "last_intent": "create task", "last_task_id": "t7", "pending_fields": [], "last_user_message": "Add milk"}`,
		`{"session": "alice", "action": "retrieve"}`,
	} {
		fmt.Printf("%s\n", eng.Light(ctx, []byte(request)))
	}
	// Output:
	// {"success":true,"stored_context":{"last_intent":"create task","last_task_id":"t7","pending_fields":[],"last_user_message":"Add milk"}}
	// {"success":true,"context":{"last_intent":"create task","last_task_id":"t7","pending_fields":[],"last_user_message":"Add milk"}}
}
