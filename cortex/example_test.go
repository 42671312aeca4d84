package cortex_test

import (
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
)

// What an agent marks in its reply becomes versions of its goal; what is locked stays.
func Example() {
	state, now := &cortex.State{}, time.Now()
	newID := func() string { return "goal-1" }
	for _, reply := range []string{
		"Let us begin.\n[GOAL] Add a login\n[CHECKPOINT] Design the flow - IN PROGRESS\n[DECISION] Use JWT - LOCKED",
		"[CHECKPOINT] Design the flow - COMPLETED\n[DECISION] Use JWT - UNLOCKED\n[NEXT] Write the endpoint",
	} {
		active, _ := state.ActiveGoal()
		changes := cortex.MarkerChanges(cortex.ParseMarkers(reply), active)
		staged := state.Stage(cortex.Changes{Goals: changes}, now, newID)
		for _, refusal := range staged.Refused {
			fmt.Println("refused:", refusal.Reason)
		}
		state = staged.Next
	}
	goal, _ := state.ActiveGoal()
	fmt.Println(goal.Title, goal.Version, goal.Milestones, goal.Decisions[0].Locked, goal.NextSteps)
	// Output:
	// refused: set_decisions[0]: decision "Use JWT" is locked and stays as it is; add another decision that says what is different
	// Add a login 2 [{Design the flow completed}] true [Write the endpoint]
}
