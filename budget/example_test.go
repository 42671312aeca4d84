package budget_test

import (
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/budget"
)

func Example() {
	profile, known := budget.Known().Find("gpt-4:latest")
	window, err := budget.WindowOf(profile.Context)
	if err != nil {
		fmt.Println(err)
		return
	}
	counter := budget.NewCounter(profile, nil, false, budget.Calibration{})

	system := counter.Text("You are a helpful assistant.")
	fmt.Println(known, window.Usable, window.Tier(), counter.Tokens(system).Tokens, counter.Tokens(system).Certainty)

	system.Messages = 1
	account := budget.NewAccount(window, counter, map[budget.Part]budget.Tally{
		budget.System: system,
		budget.Recent: {Exact: 9000, Messages: 12},
	})
	fmt.Println(errors.Is(account.Check("compile"), budget.ErrOverBudget))
	// Output:
	// true 6963 tier 2 (smart) 6 exact
	// true
}

func ExampleCalibration_Report() {
	profile, _ := budget.Known().Find("llama3.2")
	prompt := budget.Tally{Prose: 1000, Messages: 4}

	var learned budget.Calibration
	for range 20 {
		learned, _ = learned.Report(prompt, 1130) // what the server said it was
	}
	before := budget.NewCounter(profile, nil, false, budget.Calibration{}).Tokens(prompt)
	after := budget.NewCounter(profile, nil, false, learned).Tokens(prompt)
	fmt.Printf("%s %d, %s %d\n", before.Certainty, before.Tokens, after.Certainty, after.Tokens)
	// Output:
	// estimated 1050, calibrated 1130
}
