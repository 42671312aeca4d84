//go:build !without_langchain

package main

import (
	"context"
	"database/sql"

	"github.com/tmc/langchaingo/memory/sqlite3"
)

var langchainLogs = []logSystem{
	{"langchaingo sqlite3 history", openLangchain, false},
	{"langchaingo, with a write-ahead log", withLog(openLangchain), true},
}

type langchain struct {
	db      *sql.DB
	history *sqlite3.SqliteChatMessageHistory
}

func openLangchain(ctx context.Context, path string) (system, error) {
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		return nil, err
	}
	// Messages returns the oldest up to its limit, so the last 50 are only to be had by reading all.
	history := sqlite3.NewSqliteChatMessageHistory(sqlite3.WithDB(db), sqlite3.WithSession("s"),
		sqlite3.WithLimit(events), sqlite3.WithContext(ctx))
	return &langchain{db, history}, nil
}

func (l *langchain) append(ctx context.Context, role, text string) error {
	if role == "user" {
		return l.history.AddUserMessage(ctx, text)
	}
	return l.history.AddAIMessage(ctx, text)
}

func (l *langchain) readLast(ctx context.Context) (int, string, error) {
	messages, err := l.history.Messages(ctx)
	if err != nil || len(messages) < last {
		return 0, "", err
	}
	messages = messages[len(messages)-last:]
	return len(messages), messages[last-1].GetContent(), nil
}

func (l *langchain) close() error { return l.db.Close() }
