package dialogue_test

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/dialogue"
)

// A question in the middle of a task is stacked on it; when it is answered, the task goes on in the
// same turn.
func ExampleState() {
	var state dialogue.State
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	_, _, err := state.StackOn("f1", "book a table", dialogue.Options{})
	check(err)
	check(state.Attach("turn 1"))
	check(state.SetSlot("city", `"Oslo"`, "turn 1"))

	question, _, err := state.StackOn("f2", "opening hours", dialogue.Options{})
	check(err)
	city, _ := question.Slot("city")
	fmt.Println("asked about", city.Value, "from", city.FilledBy)

	check(state.Attach("turn 2"))
	_, err = state.Complete(`"9 to 17"`)
	check(err)
	popped, err := state.KeepGoing("turn 2")
	check(err)
	fmt.Println("finished:", popped.Finished[0].Name)
	fmt.Println("goes on:", popped.Promoted.Name, popped.Promoted.TurnIDs)
	fmt.Println(dialogue.EncodeState(state))
	// Output:
	// asked about "Oslo" from turn 1
	// finished: opening hours
	// goes on: book a table [turn 1 turn 2]
	// {"stack":[{"flow_id":"f1","name":"book a table","status":"active","slots":[{"name":"city","type":"string","value":"Oslo","filled_by":"turn 1"}]}]}
}

// The follow-up context answers requests as they come, one JSON object each.
func ExampleHandleLight() {
	light := dialogue.NewLight(0, nil)
	for _, request := range []string{
		`{"session":"alice","action":"store","last_intent":"task_creation","last_task_id":123,"pending_fields":["due"],"last_user_message":"Add milk"}`,
		`{"session":"alice","action":"retrieve"}`,
		`{"session":"alice","action":"clear"}`,
		`{"session":"alice","action":"retrieve"}`,
		`{"session":"alice","action":"update"}`,
	} {
		fmt.Printf("%s\n", dialogue.HandleLight(context.Background(), light, "default", []byte(request)))
	}
	// Output:
	// {"success":true,"stored_context":{"last_intent":"task_creation","last_task_id":"123","pending_fields":["due"],"last_user_message":"Add milk"}}
	// {"success":true,"context":{"last_intent":"task_creation","last_task_id":"123","pending_fields":["due"],"last_user_message":"Add milk"}}
	// {"success":true,"message":"Context cleared successfully"}
	// {"success":true,"context":null}
	// {"success":false,"error":"Invalid action: 'update'. Must be 'store', 'retrieve', or 'clear'"}
}
