package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/turn"
)

// slashForget shows what would go, and does it when it is said again with a yes.
func slashForget(ctx context.Context, a *app, t *talking, words string) error {
	word, sure := strings.CutSuffix(words, " yes")
	seq, err := turnNumber(word)
	if err != nil {
		return err
	}
	receipt, err := t.session.Forget(ctx, turnstone.Target{Seqs: []int64{seq}, Preview: !sure})
	if err != nil {
		return err
	}
	var places []string
	for _, r := range receipt.Removed {
		places = append(places, r.Where+" "+strconv.Itoa(r.Count))
	}
	if !sure {
		page, err := t.session.Query(ctx, turn.Query{From: seq, To: seq, Limit: 1})
		if err != nil {
			return err
		}
		if err := a.printTurns(page.Turns, nil); err != nil {
			return err
		}
		return a.printf("this would be removed for good, with all that was made of it: %s; do it with: /forget %d yes", progress.Count(int64(receipt.Turns), "turn"), seq)
	}
	return a.printf("forgot %s (%s)", progress.Count(int64(receipt.Turns), "turn"), strings.Join(places, ", "))
}
