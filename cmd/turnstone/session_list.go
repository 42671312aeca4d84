package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/turn"
)

type listOptions struct {
	user, status, after, sort string
	idle                      time.Duration
	limit                     int
}

// The orders of session list.
const (
	sortUsed    = "used"
	sortCreated = "created"
)

func (a *app) sessionListCommand() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List sessions, the one used last first",
		Long: `List sessions, the one used last first, with how many turns were said, when, what each is about: its title
or, in quotes, the user's first words, and what it was forked from. Where there are more than --limit, standard error
says how to go on; with --json as {"next":"SESSION"}. A session that is used meanwhile moves to the front; with --sort
created nothing moves. The turns of --json are all that have a number, with the summaries, which it counts too.`,
		Example: "  turnstone session list --status active\n  turnstone session list --limit 0 --json",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.limit < 0 {
				return usage("give 0 for all", "limit: %d is negative", o.limit)
			}
			switch turn.Status(o.status) {
			case "", turn.Active, turn.Ended:
			default:
				return usage("use active or ended", "status: %q is not a status", o.status)
			}
			if o.sort != sortUsed && o.sort != sortCreated {
				return usage("use used or created", "sort: %q is no order", o.sort)
			}
			return a.withEngine(cmd.Context(), toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
				return a.listSessions(cmd.Context(), eng, o)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.user, "user", "", "only sessions of this user")
	flags.StringVar(&o.status, "status", "", "only active or ended sessions")
	flags.DurationVar(&o.idle, "idle", 0, "only sessions without activity for so long, such as 90m")
	flags.StringVar(&o.sort, "sort", sortUsed, "by when sessions were last used, or created")
	flags.IntVar(&o.limit, "limit", 100, "how many at most, 0 for all")
	flags.StringVar(&o.after, "after", "", "go on after this `session`")
	choices(cmd, "status", string(turn.Active), string(turn.Ended))
	choices(cmd, "sort", sortUsed, sortCreated)
	completing(cmd, "after", a.completeSessions)
	return cmd
}

func (a *app) listSessions(ctx context.Context, eng *turnstone.Engine, o listOptions) error {
	f := turn.SessionFilter{User: o.user, Status: turn.Status(o.status)}
	if o.idle > 0 {
		f.IdleSince = time.Now().Add(-o.idle)
	}
	var after turn.SessionInfo
	if o.after != "" {
		s, err := a.find(ctx, eng, o.after)
		if err != nil {
			return err
		}
		if after, err = s.Info(ctx); err != nil {
			return err
		}
	}
	next := byUse(eng, f, after, o.limit)
	if o.sort == sortCreated {
		next = byCreation(eng, f, after)
	}
	shown, more := 0, ""
	for last := false; !last; {
		most := sessionPage
		if o.limit > 0 {
			most = min(sessionPage-1, o.limit-shown) + 1 // one more, to know whether there is more
		}
		list, err := next(ctx, most)
		if err != nil {
			return err
		}
		last = len(list) < most
		if o.limit > 0 && shown+len(list) > o.limit {
			list = list[:o.limit-shown]
			more, last = list[len(list)-1].Session, true
		}
		seen, err := look(ctx, eng, list)
		if err != nil {
			return err
		}
		if err := a.printSessions(seen, shown == 0); err != nil {
			return err
		}
		shown += len(list)
	}
	switch {
	case shown == 0 && f != (turn.SessionFilter{}):
		a.note("no such sessions; see all with: %s", a.line("session list"))
	case shown == 0:
		a.note("no sessions; make one with: %s", a.line("session create"))
	case more != "" && a.json:
		a.note(`{"next":%q}`, more)
	case more != "":
		a.note("more: --after %s", more)
	}
	return nil
}

// sessionRow is a session as a list has it.
type sessionRow struct {
	turn.SessionInfo
	summaries int64
	words     string // the user's first
}

// look reads what tells sessions apart. One that was deleted meanwhile is left out.
func look(ctx context.Context, eng *turnstone.Engine, list []turn.SessionInfo) ([]sessionRow, error) {
	all := make([]sessionRow, 0, len(list))
	for _, info := range list {
		s, err := eng.Find(ctx, info.Session)
		if errors.Is(err, turn.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		l := sessionRow{SessionInfo: info}
		if l.summaries, err = summariesIn(ctx, s, 1, info.Head, anyTurn); err != nil {
			return nil, err
		}
		if l.words, err = firstWords(ctx, s); err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// about is the title of a session, or how it begins, whose it is, and what it was forked from.
func (l *sessionRow) about() string {
	about := terminal.CleanLine(l.Title)
	// What is forgotten and went on has words again.
	if (about == "" || about == turn.ForgottenText) && l.words != "" {
		about = `"` + terminal.CleanLine(short(l.words, mostWords)) + `"`
	}
	if l.User != "" {
		about += " (" + terminal.CleanLine(l.User) + ")"
	}
	if l.Parent != "" {
		about += " forked from " + origin(l.SessionInfo)
	}
	return strings.TrimSpace(about)
}

// mostWords is how many letters of a conversation's first words are shown.
const mostWords = 60

func (a *app) printSessions(list []sessionRow, first bool) error {
	if a.json {
		for i := range list {
			shown := newSessionJSON(list[i].SessionInfo)
			shown.Summaries, shown.FirstWords = list[i].summaries, short(list[i].words, maxLine)
			if err := a.printJSON(shown); err != nil {
				return err
			}
		}
		return nil
	}
	width := len("SESSION")
	for i := range list {
		width = max(width, len(list[i].Session))
	}
	style, format := a.style(), a.format()
	if first && len(list) > 0 {
		head := fmt.Sprintf("%-*s  %-6s  %7s  %-19s  %s", width, "SESSION", "STATUS", "TURNS", "LAST ACTIVITY", "ABOUT")
		if err := a.printf("%s", style.Dim(head)); err != nil {
			return err
		}
	}
	for i := range list {
		l := &list[i]
		line := fmt.Sprintf("%s%*s  %-6s  %7d  %s", style.Strong(l.Session), width-len(l.Session), "",
			l.Status, l.Head-l.summaries, format.Time(l.LastActivity))
		if about := l.about(); about != "" {
			line += "  " + about
		}
		if err := a.printf("%s", line); err != nil {
			return err
		}
	}
	return nil
}
