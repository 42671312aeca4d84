package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
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
	err := a.eachPrompt(ctx, id, func(c prompt.Call, at time.Time) error {
		if a.json {
			return a.printJSON(promptRowJSON{id, c.Number, c.End, c.Epoch, c.Model, c.Context, c.Tokens, c.SHA256, timeJSON(at)})
		}
		rows = append(rows, []string{
			strconv.FormatInt(c.Number, 10), strconv.FormatInt(c.End, 10), strconv.FormatInt(c.Epoch, 10), c.Model,
			tokensOf(int(c.Context)), tokensOf(int(c.Tokens)), format.Time(at), c.SHA256[:shortSum],
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

// eachPrompt visits the prompts of a session. It reads the store's rows, which say when each was compiled.
func (a *app) eachPrompt(ctx context.Context, id string, visit func(prompt.Call, time.Time) error) (err error) {
	key, err := turn.NewKey(a.tenant(), id)
	if err != nil {
		return err
	}
	st, err := a.openStore(ctx, toFind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for after, more := int64(0), true; more; {
		var page []prompt.CallRow
		err := st.View(ctx, func(tx store.Tx) error {
			info, err := tx.Log().Session(ctx, key)
			if err != nil {
				return advise(fmt.Errorf("session %s: %w", id, err), turn.ErrNotFound, "see which there are with: "+a.line("session list"))
			}
			page, err = tx.Prompt().Calls(ctx, key.Tenant, info.Lineage(info.Head), after, promptsPage)
			return err
		})
		if err != nil {
			return err
		}
		if after == 0 && len(page) == 0 {
			a.note("no prompts; compile one with: %s", a.line("prompt --session "+quoted(id)))
		}
		for _, row := range page {
			call, err := prompt.DecodeCall(row)
			if err != nil {
				return err
			}
			if err := visit(call, row.At); err != nil {
				return err
			}
			after = row.Number
		}
		more = len(page) == promptsPage
	}
	return nil
}
