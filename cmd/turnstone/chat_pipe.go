package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/chat"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

// maxMessage bounds what is said at once on standard input.
const maxMessage = 4 << 20

// errLeft says that the user left with a command. What stands behind it is not said.
var errLeft = errors.New("left")

// open finds the session, or makes it. That is done when there is something to say, so that what cannot be said leaves no
// empty one behind.
func (t *talking) open(ctx context.Context) (err error) {
	if t.session == nil {
		t.session, err = t.app.sessionToAppend(ctx, t.engine, appendOptions{session: t.options.session})
	}
	return err
}

// message reads standard input as one message.
func (a *app) message(ctx context.Context) (string, error) {
	data, err := a.readInput(ctx, maxMessage, "")
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) {
		return "", usage("send valid UTF-8", "standard input: is not valid UTF-8")
	}
	text := strings.TrimRight(string(data), "\r\n")
	if strings.TrimSpace(text) == "" {
		return "", errNothing
	}
	return text, nil
}

var errNothing = usage("send a message to standard input, or run it on a terminal", "chat: there is nothing to say")

// chatLines says line by line. A command that fails is told of and does not end the run, but the run ends as it did.
func (a *app) chatLines(ctx context.Context, t *talking) error {
	var first error
	read, said, failed := 0, false, int64(0)
	for text, err := range a.lines(ctx, maxMessage) {
		read++
		if errors.Is(err, errLongLine) {
			return usage("send less at once", "standard input: line %d has more than %d bytes", read, maxMessage)
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(text)) == "" {
			continue
		}
		said = true
		if err := a.chatOnce(ctx, t, string(text)); err != nil {
			if errors.Is(err, errLeft) {
				break
			}
			if !isCommand(string(text)) || ctx.Err() != nil || as[*outputError](err) {
				return err
			}
			a.conclude(ctx, err)
			failed++
			if first == nil {
				first = err
			}
		}
	}
	if !said {
		return errNothing
	}
	if first == nil {
		return nil
	}
	return &reworded{err: first, text: "chat: " + progress.Count(failed, "command") + " of the input failed; what is wrong stands above"}
}

func isCommand(text string) bool {
	_, command := chat.Read(text)
	return command
}

// chatOnce says one thing, or carries out one command; errLeft is for the one that leaves.
func (a *app) chatOnce(ctx context.Context, t *talking, text string) error {
	if chat.Leaves(text) {
		return errLeft
	}
	text, command := chat.Read(text)
	if command {
		return a.chatCommandOnce(ctx, t, text)
	}
	if err := t.open(ctx); err != nil {
		return err
	}
	reply, err := a.replyWhenFree(ctx, t, text)
	a.tellNotes(t)
	if err != nil {
		return t.explained(err)
	}
	a.stored = "the exchange is committed as " + reply.Commit.ExportID
	if a.json {
		return errors.Join(a.printJSON(newReplyJSON(t, reply)), a.out.Flush())
	}
	status, err := t.Status(ctx)
	if err != nil {
		// The reply is kept, and what comes next may be said all the same.
		a.note("%s", err)
		return ctx.Err()
	}
	a.note("%s", status.Line)
	return nil
}

// chatCommandOnce carries out one command. With --json one that fails has an object too, so that each can be told from the
// others by its place.
func (a *app) chatCommandOnce(ctx context.Context, t *talking, line string) error {
	shown := ""
	err := t.open(ctx)
	if err == nil {
		shown, err = t.Command(ctx, line)
	}
	switch {
	case err != nil && (!a.json || ctx.Err() != nil):
		return err
	case err != nil:
		session, row := t.options.session, outcomeOf(ctx, err)
		if t.session != nil {
			session = t.session.ID() // which is another after /fork
		}
		if told := errors.Join(a.printJSON(failedJSON{session, line, a.redact(row.line(err)), row.code}), a.out.Flush()); told != nil {
			return told
		}
		return err
	case a.json:
		err = a.printJSON(carriedOutJSON{t.session.ID(), line, shown})
	default:
		err = a.print([]byte(shown))
	}
	return errors.Join(err, a.out.Flush())
}

const (
	// otherWait is how long a message waits for somebody else who is at work on the session: about as long as a reply takes.
	otherWait = time.Minute
	// otherEvery is how often is tried whether that is over.
	otherEvery = 500 * time.Millisecond
)

// replyWhenFree is chatReply after whoever else is at work on the session, who is waited for. Of a message that is refused
// because of that nothing is kept, so that it can be said again.
func (a *app) replyWhenFree(ctx context.Context, t *talking, text string) (turnstone.Reply, error) {
	until := time.Now().Add(otherWait)
	for told := false; ; told = true {
		before, err := t.session.Info(ctx)
		if err != nil {
			return turnstone.Reply{}, err
		}
		reply, err := a.chatReply(ctx, t, text)
		switch busy := as[*turn.LeaseHeldError](err); {
		case err != nil && !busy && ctx.Err() != nil:
			return reply, t.leftBehind(ctx, before.Head, text, err)
		case !busy || ctx.Err() != nil || time.Now().After(until):
			return reply, err
		}
		if !told {
			a.note("session %s is in use by somebody else; waiting for up to %.0f s", t.session.ID(), otherWait.Seconds())
		}
		select {
		case <-ctx.Done():
			return reply, err
		case <-time.After(otherEvery):
		}
	}
}

// leftBehind says what is kept of an exchange that was interrupted, if anything is. What others said meanwhile is not.
func (t *talking) leftBehind(ctx context.Context, head int64, text string, err error) error {
	turns, gone := t.session.Query(context.WithoutCancel(ctx), turn.Query{After: head, Limit: 1000})
	if gone != nil {
		return err
	}
	said := slices.IndexFunc(turns.Turns, func(t turn.Turn) bool {
		content, ok := t.Content.(turn.Text)
		return ok && t.Role == turn.User && content.Text == text
	})
	if said < 0 {
		return err
	}
	left := "the message is kept, without a reply"
	if slices.ContainsFunc(turns.Turns[said:], func(t turn.Turn) bool { return t.Role == turn.Agent }) {
		left = "the message is kept, and what had come of the reply"
	}
	return &interrupted{err: err, left: left}
}

// chatReply streams a reply to standard output, and returns what it was in the end.
func (a *app) chatReply(ctx context.Context, t *talking, text string) (reply turnstone.Reply, failed error) {
	open := false // a line that has no end yet
	for piece, err := range t.pieces(ctx, text) {
		if err != nil {
			failed = err
			break
		}
		switch {
		case piece.Reply != nil:
			reply = *piece.Reply
		case piece.Text != "" && !a.json:
			open = !strings.HasSuffix(piece.Text, "\n")
			if err := errors.Join(a.print([]byte(piece.Text)), a.out.Flush()); err != nil {
				return reply, err // the exchange is kept as interrupted
			}
		case piece.Result != nil, piece.Warning != "":
			if open { // what is said after a call is no part of the sentence before it, and a warning neither
				open = false
				if err := errors.Join(a.printf(""), a.out.Flush()); err != nil {
					return reply, err
				}
			}
			line := piece.Warning
			if piece.Result != nil {
				line = resultLine(piece.Result)
			}
			a.note("%s", line)
		}
	}
	if open {
		if err := errors.Join(a.printf(""), a.out.Flush()); err != nil && failed == nil {
			return reply, err
		}
	}
	if reply.Stop == llm.StopLength {
		a.note("%s", cutOff)
	}
	return reply, failed
}

// tellNotes writes what happened beside the conversation.
func (a *app) tellNotes(t *talking) {
	for {
		select {
		case note := <-t.notes:
			a.note("%s", note)
		default:
			return
		}
	}
}

// carriedOutJSON is what a command shows.
type carriedOutJSON struct {
	Session string `json:"session_id"`
	Command string `json:"command"`
	Text    string `json:"text"`
}

// failedJSON is what is wrong with a command, with what to do after a semicolon.
type failedJSON struct {
	Session string `json:"session_id"`
	Command string `json:"command"`
	Error   string `json:"error"`
	Code    int    `json:"exit_code"`
}

type replyJSON struct {
	Session  string `json:"session_id"`
	Model    string `json:"model"`
	Text     string `json:"text"`
	Thinking string `json:"thinking,omitempty"`
	Stop     string `json:"stop"`
	Calls    int    `json:"tool_calls"`
	Rounds   int    `json:"rounds"`
	Prompt   int    `json:"prompt_tokens"`
	Cached   int    `json:"cached_tokens,omitempty"`
	Answer   int    `json:"answer_tokens"`
	TurnID   string `json:"turn_id"`
	ExportID string `json:"export_id"`

	Warnings []string `json:"warnings,omitempty"`
}

func newReplyJSON(t *talking, r turnstone.Reply) replyJSON {
	u := llm.Usage{Prompt: r.Usage.Prompt, Cached: r.Usage.Cached, Answer: r.Usage.Answer}
	return replyJSON{
		t.session.ID(), t.voice.name, r.Text, r.Thinking, string(r.Stop), r.Calls, r.Rounds, u.Prompt, u.Cached, u.Answer, r.Commit.TurnID, r.Commit.ExportID,
		r.Warnings,
	}
}
