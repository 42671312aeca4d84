//go:build !without_adk

package main

import (
	"context"

	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/database"
	"google.golang.org/genai"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

var adkLogs = []logSystem{
	{"adk/v2 session/database, SQLite", openADK, false},
	{"adk/v2, with a write-ahead log", withLog(openADK), true},
}

type adk struct {
	service session.Service
	session session.Session
}

func openADK(ctx context.Context, path string) (system, error) {
	service, err := database.NewSessionService(sqlite.Open(path), &gorm.Config{
		PrepareStmt: true,
		Logger:      logger.Default.LogMode(logger.Silent),
	})
	if err != nil {
		return nil, err
	}
	if err := database.AutoMigrate(service); err != nil {
		return nil, err
	}
	made, err := service.Create(ctx, &session.CreateRequest{AppName: "bench", UserID: "u", SessionID: "s"})
	if err != nil {
		return nil, err
	}
	return &adk{service, made.Session}, nil
}

func (a *adk) append(ctx context.Context, role, text string) error {
	e := session.NewEvent(ctx, "i")
	e.Author = role
	e.Content = genai.NewContentFromText(text, genai.Role(role))
	return a.service.AppendEvent(ctx, a.session, e)
}

func (a *adk) readLast(ctx context.Context) (int, string, error) {
	got, err := a.service.Get(ctx, &session.GetRequest{AppName: "bench", UserID: "u", SessionID: "s", NumRecentEvents: last})
	if err != nil {
		return 0, "", err
	}
	events := got.Session.Events()
	if events.Len() == 0 {
		return 0, "", nil
	}
	return events.Len(), events.At(events.Len() - 1).Content.Parts[0].Text, nil
}

// close has nothing to do: the service offers no way to close its database.
func (a *adk) close() error { return nil }
