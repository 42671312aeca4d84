package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/turn"
)

// summariesIn counts the summaries among those turns of a range that are meant: they were written between what was said.
func summariesIn(ctx context.Context, s *turnstone.Session, from, to int64, meant func(seq int64) bool) (int64, error) {
	if from > to {
		return 0, nil
	}
	n := int64(0)
	for q := (turn.Query{Kind: turn.KindSummary, From: from, To: to, Limit: 1000}); ; {
		page, err := s.Query(ctx, q)
		if err != nil {
			return 0, err
		}
		for i := range page.Turns {
			if meant(page.Turns[i].Seq) {
				n++
			}
		}
		if q.After = page.Next; q.After == 0 {
			return n, nil
		}
	}
}

// firstWords is what the user said first that was not forgotten, empty where there is nothing.
func firstWords(ctx context.Context, s *turnstone.Session) (string, error) {
	for q := (turn.Query{Role: turn.User, Kind: turn.KindTurn, Limit: 8}); ; {
		page, err := s.Query(ctx, q)
		if err != nil {
			return "", err
		}
		for i := range page.Turns {
			if words := strings.TrimSpace(page.Turns[i].Content.Searchable()); words != "" {
				return words, nil
			}
		}
		if q.After = page.Next; q.After == 0 {
			return "", nil
		}
	}
}

func anyTurn(int64) bool { return true }

// countedTurns says how many turns there are, and how many of them nobody said.
func countedTurns(all, summaries int64) string {
	if summaries == 0 {
		return progress.Thousands(all)
	}
	return fmt.Sprintf("%s and %s", progress.Thousands(all-summaries), counted(summaries))
}

func counted(summaries int64) string {
	if summaries == 1 {
		return "1 summary"
	}
	return progress.Thousands(summaries) + " summaries"
}
