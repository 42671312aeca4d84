package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/turn"
)

type listOptions struct {
	user, status, after string
	idle                time.Duration
	limit               int
}

func (a *app) sessionListCommand() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List sessions, newest first",
		Long: `List sessions, newest first. Where there are more than --limit, standard error says
how to go on; with --json as {"next":"SESSION"}.`,
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
			return a.withEngine(cmd.Context(), toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
				return a.listSessions(cmd.Context(), eng, o)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.user, "user", "", "only sessions of this user")
	flags.StringVar(&o.status, "status", "", "only active or ended sessions")
	flags.DurationVar(&o.idle, "idle", 0, "only sessions without activity for so long, such as 90m")
	flags.IntVar(&o.limit, "limit", 100, "how many at most, 0 for all")
	flags.StringVar(&o.after, "after", "", "go on after this `session`")
	choices(cmd, "status", string(turn.Active), string(turn.Ended))
	completing(cmd, "after", a.completeSessions)
	return cmd
}

func (a *app) listSessions(ctx context.Context, eng *turnstone.Engine, o listOptions) error {
	f := turn.SessionFilter{User: o.user, Status: turn.Status(o.status)}
	if o.idle > 0 {
		f.IdleSince = time.Now().Add(-o.idle)
	}
	if o.after != "" {
		s, err := a.find(ctx, eng, o.after)
		if err != nil {
			return err
		}
		info, err := s.Info(ctx)
		if err != nil {
			return err
		}
		f.Before = info.Segment
	}
	const page = 1000
	shown, more := 0, ""
	for last := false; !last; {
		f.Limit = page
		if o.limit > 0 {
			f.Limit = min(page, o.limit-shown+1) // one more, to know whether there is more
		}
		list, err := eng.Sessions(ctx, f)
		if err != nil {
			return err
		}
		last = len(list) < f.Limit
		if o.limit > 0 && shown+len(list) > o.limit {
			list = list[:o.limit-shown]
			more, last = list[len(list)-1].Session, true
		}
		if err := a.printSessions(list, shown == 0); err != nil {
			return err
		}
		if shown += len(list); !last {
			f.Before = list[len(list)-1].Segment
		}
	}
	switch {
	case shown == 0:
		a.note("no sessions; make one with: %s", a.line("session create"))
	case more != "" && a.json:
		a.note(`{"next":%q}`, more)
	case more != "":
		a.note("more: --after %s", more)
	}
	return nil
}

func (a *app) printSessions(list []turn.SessionInfo, first bool) error {
	if a.json {
		for _, s := range list {
			if err := a.printJSON(newSessionJSON(s)); err != nil {
				return err
			}
		}
		return nil
	}
	width := len("SESSION")
	for _, s := range list {
		width = max(width, len(s.Session))
	}
	style, format := a.style(), a.format()
	if first && len(list) > 0 {
		head := fmt.Sprintf("%-*s  %-6s  %7s  %-19s  %s", width, "SESSION", "STATUS", "TURNS", "LAST ACTIVITY", "TITLE")
		if err := a.printf("%s", style.Dim(head)); err != nil {
			return err
		}
	}
	for _, s := range list {
		about := terminal.CleanLine(s.Title)
		if s.User != "" {
			about = fmt.Sprintf("%s (%s)", about, terminal.CleanLine(s.User))
		}
		line := fmt.Sprintf("%s%*s  %-6s  %7d  %s", style.Strong(s.Session), width-len(s.Session), "",
			s.Status, s.Head, format.Time(s.LastActivity))
		if about != "" {
			line += "  " + about
		}
		if err := a.printf("%s", line); err != nil {
			return err
		}
	}
	return nil
}
