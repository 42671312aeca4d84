package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/transcript"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	// maxLine is how many characters of a turn are shown where it is only to be recognised.
	maxLine = 300
	// shownTurns are how many utterances /history shows unless it is told.
	shownTurns = 10
)

func slashHistory(ctx context.Context, a *app, t *talking, words string) error {
	turns := shownTurns
	if words != "" {
		var err error
		if turns, err = strconv.Atoi(words); err != nil || turns < 1 {
			return usage("give a number such as /history 20", "%q is no number of turns", words)
		}
	}
	last, err := t.session.History(ctx, turn.HistoryOptions{Turns: turns})
	if err != nil {
		return err
	}
	if len(last) == 0 {
		return a.printf("nothing was said yet")
	}
	return a.print(turnLines(last, maxLine))
}

// turnLines has a line for each turn: its number, who said it, and how it begins.
func turnLines(turns []turn.Turn, most int) (lines []byte) {
	for i := range turns {
		t := &turns[i]
		text := terminal.CleanLine(short(transcript.Words(t), most))
		if t.Meta.Interrupted {
			text = transcript.Interrupted + " " + text
		}
		lines = fmt.Appendf(lines, "%4d  %-6s  %s\n", t.Seq, t.Role, text)
	}
	return lines
}

// lastExchange is what the user said last and what came of it, and a line about a reply that is missing or was cut
// short; nothing of a session in which nothing was said.
func lastExchange(turns []turn.Turn) (shown []turn.Turn, state string) {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role == turn.User {
			turns = turns[i:]
			break
		}
	}
	if len(turns) == 0 {
		return nil, ""
	}
	switch last := &turns[len(turns)-1]; {
	case last.Role == turn.User:
		return turns, "This last message has no reply yet. Where one was broken off, what had come of it is there once you go on."
	case last.Meta.Interrupted:
		return turns, "The last reply was interrupted; what had come of it is kept."
	}
	return turns, ""
}
