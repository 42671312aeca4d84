package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/chat"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	// shownBefore is how many utterances of a session are looked through for its last exchange, which is shown again
	// when it is gone on with, and shownOfTurn how many characters of each turn of it.
	shownBefore = 4
	shownOfTurn = 200
	// saidBefore is how many utterances are looked through for what the user said, to say it again.
	saidBefore = 200
)

// chatOnScreen holds the conversation on a terminal.
func (a *app) chatOnScreen(ctx context.Context, t *talking) error {
	questions := make(chan chat.Question)
	t.ask = asking(questions)
	past, greeting, err := a.before(ctx, t)
	if err != nil {
		return err
	}
	// What a server says of its model is fetched now, while there can be a bar for it.
	if _, err := t.Status(ctx); err != nil && !errors.Is(err, turnstone.ErrOverBudget) {
		return err
	}
	if err := a.out.Flush(); err != nil {
		return err
	}
	quiet := a.quiet
	a.quiet = true // the screen is not ours to write on
	defer func() { a.quiet = quiet }()
	err = chat.Run(ctx, chat.Config{
		Backend: t, Questions: questions, Notes: t.notes, Past: past, Greeting: greeting, Style: a.style(),
	}, a.stdin, a.stdout, os.Environ())
	if err != nil && ctx.Err() != nil {
		return &interrupted{err: err, left: "what was said is kept, and what had come of a reply"}
	}
	return err
}

// asking asks on the screen, and waits for the answer or the end of the exchange.
func asking(questions chan<- chat.Question) agent.Confirm {
	return func(ctx context.Context, c llm.Call) error {
		answer := make(chan bool, 1)
		select {
		case questions <- chat.Question{Text: callLine(c), Answer: func(allowed bool) { answer <- allowed }}:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case allowed := <-answer:
			if !allowed {
				return fmt.Errorf("%w by the user", agent.ErrDenied)
			}
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// callLine is a call in full: what is allowed must be seen.
func callLine(c llm.Call) string {
	return fmt.Sprintf("The model wants to call %s with %s", c.Name, c.Arguments)
}

// before is what the user said earlier, and what the screen begins with.
func (a *app) before(ctx context.Context, t *talking) (past []string, greeting string, err error) {
	turns, err := t.session.History(ctx, turn.HistoryOptions{Turns: saidBefore, Path: turn.WholePath()})
	if err != nil {
		return nil, "", err
	}
	for i := range turns {
		if text, ok := turns[i].Content.(turn.Text); ok && turns[i].Role == turn.User {
			past = append(past, text.Text)
		}
	}
	info, err := t.session.Info(ctx)
	if err != nil {
		return nil, "", err
	}
	summaries, err := summariesIn(ctx, t.session, 1, info.Head, anyTurn)
	if err != nil {
		return nil, "", err
	}
	last, err := t.session.History(ctx, turn.HistoryOptions{Turns: shownBefore})
	if err != nil {
		return nil, "", err
	}
	shown, state := lastExchange(last)
	for line := range strings.Lines(string(turnLines(shown, shownOfTurn))) {
		if err := a.printf("%s", a.style().Dim(strings.TrimSuffix(line, "\n"))); err != nil {
			return nil, "", err
		}
	}
	if state != "" {
		if err := a.printf("%s", a.style().Notice(state)); err != nil {
			return nil, "", err
		}
	}
	greeting = fmt.Sprintf("Session %s, %s, with %s. Enter sends, Alt-Enter begins a new line, /help lists commands, Ctrl-D leaves.",
		info.Session, progress.Count(info.Head-summaries, "turn"), terminal.CleanLine(t.voice.name))
	return past, greeting, nil
}
