package main

import (
	"context"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

var ourLogs = []logSystem{{"turnstone, SQLite", openTurnstone, false}}

type ours struct {
	engine *turnstone.Engine
	chat   *turnstone.Session
}

func openTurnstone(ctx context.Context, path string) (system, error) {
	db, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		return nil, err
	}
	eng, err := turnstone.Open(ctx, db, turnstone.Config{})
	if err != nil {
		return nil, err
	}
	chat, err := eng.Session(ctx, "s")
	return &ours{eng, chat}, err
}

func (o *ours) append(ctx context.Context, role, text string) error {
	_, err := o.chat.Append(ctx, turn.Draft{Role: turn.Role(role), Content: turn.Text{Text: text}})
	return err
}

func (o *ours) readLast(ctx context.Context) (int, string, error) {
	turns, err := o.chat.History(ctx, turn.HistoryOptions{Turns: last, KeepSystem: true})
	if err != nil || len(turns) == 0 {
		return 0, "", err
	}
	return len(turns), turns[len(turns)-1].Content.Searchable(), nil
}

func (o *ours) close() error { return o.engine.Close() }
