package compress_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

func ExampleRun() {
	turns := []turn.Turn{
		{Seq: 1, Role: turn.User, Kind: turn.KindTurn, Content: turn.Text{Text: "Which database do we use for the ledger?"}},
		{Seq: 2, Role: turn.Agent, Kind: turn.KindTurn, Content: turn.Text{Text: "There are several that would do, and each of them has its friends. " +
			"The ledger has about 40,000 accounts today, and nobody expects that to change.\n[DECISION] Use PostgreSQL for the ledger - LOCKED"}},
	}
	count := func(text string) int { return len(text)/4 + 1 }
	source := compress.NewSource(turn.Range{From: 1, To: 2}, turns, nil)
	r := compress.Request{Source: source, Budget: 32, Count: count}
	summary, receipt, err := compress.Run(context.Background(), nil, r, compress.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	decision, _, _ := strings.Cut(summary, "\n")
	fmt.Println(decision)
	fmt.Println(receipt.By, receipt.Facts, receipt.After < receipt.Before)
	// Output:
	// Decided: Use PostgreSQL for the ledger
	// extractive 1 true
}

func ExampleVerify() {
	turns := []turn.Turn{
		{Seq: 1, Role: turn.Agent, Kind: turn.KindTurn, Content: turn.Text{Text: "The tests of the importer are slow, since each one opens the database anew and waits for it. " +
			"That takes four minutes on a good day. We decided to share one database between them."}},
	}
	r := compress.Request{Source: compress.Source{Turns: turns}, Budget: 45, Count: func(text string) int { return len(text)/4 + 1 }}
	verdict := compress.Verify(r, "The user wants faster tests of the importer.")
	for _, problem := range verdict.Problems {
		fmt.Println(problem)
	}
	// Output:
	// the decision is missing: We decided to share one database between them.
	// the user did not say this: The user wants faster tests of the importer.
}

func ExampleAging() {
	w, err := budget.WindowOf(65536)
	if err != nil {
		fmt.Println(err)
		return
	}
	checkpoints := []compress.Checkpoint{
		{Number: 1, Level: compress.Detailed, Range: turn.Range{From: 1, To: 40}, CurrentTokens: 1000},
		{Number: 2, Level: compress.Detailed, Range: turn.Range{From: 41, To: 90}, CurrentTokens: 1000},
	}
	for _, step := range compress.Aging(checkpoints, compress.Pass{Number: 4}, w, 1024) {
		fmt.Println("turns", step.Range.From, "to", step.Range.To, "become", step.Level, "with at most", step.Budget, "tokens")
	}
	// Output:
	// turns 1 to 40 become moderate with at most 600 tokens
}
