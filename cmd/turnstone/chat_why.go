package main

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
)

func slashWhy(ctx context.Context, a *app, t *talking, _ string) error {
	options := t.promptOptions()
	options.Preview = true
	made, err := t.session.Prompt(ctx, options)
	if err != nil {
		return err
	}
	if err := a.printAccount(made.Account); err != nil {
		return err
	}
	summaries, err := summariesIn(ctx, t.session, 1, made.End, anyTurn)
	if err != nil {
		return err
	}
	status, err := t.session.Status(ctx, options)
	if err != nil {
		return err
	}
	if err := a.printf("%d of %s are shown, after %s", made.Shown, progress.Count(made.End-summaries, "turn"), progress.Count(status.Passes, "compression")); err != nil {
		return err
	}
	return a.printf("%s", t.reliabilityReason(status))
}

// printAccount shows an account as a bar and a table that a terminal of 80 columns has room for.
func (a *app) printAccount(account budget.Account) error {
	all := stretches(account)
	if err := a.printf("%s", accountBar(account, all, a.style())); err != nil {
		return err
	}
	rows := make([][]string, 0, len(all)+1)
	for _, s := range all {
		rows = append(rows, []string{s.mark, s.name, tokensOf(s.tokens), ofWindow(s.tokens, account), s.certainty})
	}
	usable := fmt.Sprintf("usable of %s", tokensOf(account.Window.Context))
	rows = append(rows, []string{"[]", usable, tokensOf(account.Window.Usable), ofWindow(account.Window.Usable, account)})
	head := []string{"", "PART", "TOKENS", "SHARE", "CERTAINTY"}
	alignRight(head, rows, 2, 3)
	return a.table(head, rows)
}

// reliabilityReason says what the reliability of the status line is made of.
func (t *talking) reliabilityReason(s turnstone.Status) string {
	size := "of no known size"
	if t.voice.profile.Size > 0 {
		size = "of " + sizeOf(t.voice.profile)
	}
	factor := budget.Rate(t.voice.profile.RatedSize(), 0, 1).Score
	text := fmt.Sprintf("reliability %s: %.2f for a model %s", percent(s.Reliability.Score), factor, size)
	if s.Passes == 0 {
		return text + "; nothing has left the prompt, so nothing is lost yet"
	}
	return text + fmt.Sprintf(" x %.2f for what compression keeps", s.Reliability.Score/factor)
}
