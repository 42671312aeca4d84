package main

import (
	"context"
	"strconv"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/prompt"
)

const (
	// promptsPage is how many prompts are read at once.
	promptsPage = 100
	// shortSum is how much of a hash people need to see.
	shortSum = 12
)

type promptRowJSON struct {
	Session string `json:"session_id"`
	Number  int64  `json:"number"`
	End     int64  `json:"end"`
	Epoch   int64  `json:"epoch"`
	Model   string `json:"model,omitempty"`
	Context int64  `json:"context"`
	Tokens  int64  `json:"tokens"`
	SHA256  string `json:"sha256"`
	At      string `json:"at"`
}

// listPrompts shows the prompts that were compiled, oldest first.
func (a *app) listPrompts(ctx context.Context, id string) error {
	format := a.format()
	var rows [][]string
	err := a.eachPrompt(ctx, id, func(c prompt.Call) error {
		if a.json {
			return a.printJSON(promptRowJSON{id, c.Number, c.End, c.Epoch, c.Model, c.Context, c.Tokens, c.SHA256, timeJSON(c.At)})
		}
		rows = append(rows, []string{
			strconv.FormatInt(c.Number, 10), strconv.FormatInt(c.End, 10), strconv.FormatInt(c.Epoch, 10), c.Model,
			tokensOf(int(c.Context)), tokensOf(int(c.Tokens)), format.Time(c.At), c.SHA256[:shortSum],
		})
		return nil
	})
	if err != nil || a.json {
		return err
	}
	head := []string{"NUMBER", "AFTER TURN", "EPOCH", "MODEL", "CONTEXT", "TOKENS", "COMPILED", "SHA256"}
	alignRight(head, rows, 0, 1, 2, 4, 5)
	return a.table(head, rows)
}

// eachPrompt visits the prompts of a session.
func (a *app) eachPrompt(ctx context.Context, id string, visit func(prompt.Call) error) error {
	return a.withSession(ctx, id, func(s *turnstone.Session) error {
		for after, more := int64(0), true; more; {
			page, err := s.Prompts(ctx, after, promptsPage)
			if err != nil {
				return err
			}
			if after == 0 && len(page) == 0 {
				a.note("no prompts; compile one with: %s", a.line("prompt --session "+quoted(id)))
			}
			for _, call := range page {
				if err := visit(call); err != nil {
					return err
				}
				after = call.Number
			}
			more = len(page) == promptsPage
		}
		return nil
	})
}
