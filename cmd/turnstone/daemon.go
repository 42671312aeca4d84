package main

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/event"
)

func (a *app) daemonCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "daemon",
		Short: "Watch what daemons are told, and see how far they are",
		Long: `Daemons receive every export at least once, in order for each session, and go on where they stopped.
An export that a daemon could not handle becomes a dead letter.`,
		Example: "  turnstone daemon tail\n  turnstone daemon list",
	}, a.daemonTailCommand(), a.daemonListCommand(), a.daemonDeadCommand(), a.daemonDeferredCommand())
}

func (a *app) daemonListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List daemons and how far they have come",
		Long: `List daemons and how far they have come, by the numbers under which exports were published. Those behind
NATS do not show here.`,
		Example: "  turnstone daemon list",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
				return a.listDaemons(cmd.Context(), eng)
			})
		},
	}
}

type daemonJSON struct {
	Daemon  string `json:"daemon"`
	Through int64  `json:"through"`
	Waiting int64  `json:"waiting"`
	Working bool   `json:"working"`
}

func (a *app) listDaemons(ctx context.Context, eng *turnstone.Engine) error {
	marks, last, err := eng.Daemons(ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, m := range marks {
		d := daemonJSON{Daemon: m.Daemon, Through: m.Through, Waiting: max(last-m.Through, 0), Working: working(m)}
		if a.json {
			if err := a.printJSON(d); err != nil {
				return err
			}
		}
		state := "stopped"
		if d.Working {
			state = "working"
		}
		rows = append(rows, []string{d.Daemon, state, progress.Thousands(d.Through), progress.Thousands(d.Waiting)})
	}
	if len(rows) == 0 {
		a.note("no daemon has subscribed yet")
	}
	if err := a.notePublisher(ctx, eng); err != nil {
		return err
	}
	if a.json {
		return nil
	}
	return a.table([]string{"DAEMON", "STATE", "THROUGH", "WAITING"}, rows)
}

// notePublisher says who publishes exports where it is not whoever runs on the store.
func (a *app) notePublisher(ctx context.Context, eng *turnstone.Engine) error {
	bus, waiting, err := eng.Publisher(ctx)
	if err == nil && bus != "" {
		a.note("exports are published by the bus %s: %s for a server with its --bus", bus, waits(waiting))
	}
	return err
}

func waits(n int64) string {
	switch n {
	case 0:
		return "none waits"
	case 1:
		return "1 waits"
	}
	return progress.Thousands(n) + " wait"
}

// working reports whether somebody serves the daemon, as far as this machine's clock can say.
func working(m event.Mark) bool { return m.Holder != "" && m.Until.After(time.Now()) }

func (a *app) daemonDeadCommand() *cobra.Command {
	var name string
	var limit int
	cmd := &cobra.Command{
		Use:     "dead",
		Short:   "List exports that daemons could not handle, newest first",
		Example: "  turnstone daemon dead\n  turnstone daemon dead --name indexer --json",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := nothingEmpty(cmd, "name"); err != nil {
				return err
			}
			if limit < 1 {
				return usage("give at least 1", "limit: %d is too few", limit)
			}
			return a.withEngine(cmd.Context(), toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
				letters, err := eng.DeadLetters(cmd.Context(), name, limit)
				if err != nil {
					return err
				}
				return a.listLetters(letters)
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "only of the daemon of this `name`")
	cmd.Flags().IntVar(&limit, "limit", 100, "how many at most")
	return cmd
}

type letterJSON struct {
	Daemon  string `json:"daemon"`
	Export  string `json:"export_id"`
	Session string `json:"session_id"`
	TurnID  string `json:"turn_id"`
	Tries   int    `json:"tries"`
	Error   string `json:"error"`
	At      string `json:"at"`
}

func (a *app) listLetters(letters []event.Letter) error {
	var rows [][]string
	for _, l := range letters {
		if a.json {
			if err := a.printJSON(letterJSON{l.Daemon, l.ExportID, l.Session, l.TurnID, l.Tries, l.Error, timeJSON(l.At)}); err != nil {
				return err
			}
		}
		rows = append(rows, []string{a.format().Time(l.At), l.Daemon, l.Session, l.ExportID, strconv.Itoa(l.Tries), l.Error})
	}
	if len(rows) == 0 {
		a.note("no dead letters")
	}
	if a.json {
		return nil
	}
	return a.table([]string{"AT", "DAEMON", "SESSION", "EXPORT", "TRIES", "ERROR"}, rows)
}

func (a *app) daemonDeferredCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "deferred",
		Short: "List parts of commits that could not be written yet and are tried again",
		Long: `List parts of commits that could not be written yet, oldest first: which of memory, cortex, scratch
and history, how often it was tried, when it is tried next, and why it was not written. A part that was
given up stays here for 7 days.`,
		Example: "  turnstone daemon deferred\n  turnstone daemon deferred --json",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
				deferrals, err := eng.Deferrals(cmd.Context())
				if err != nil {
					return err
				}
				return a.listDeferrals(deferrals)
			})
		},
	}
}

type deferralJSON struct {
	Session string `json:"session_id"`
	Export  string `json:"export_id"`
	Target  string `json:"target"`
	Tries   int    `json:"tries"`
	Next    string `json:"next,omitempty"`
	GivenUp string `json:"given_up,omitempty"`
	Error   string `json:"error"`
	At      string `json:"at"`
}

func (a *app) listDeferrals(deferrals []event.Deferral) error {
	var rows [][]string
	for _, d := range deferrals {
		next, out := a.format().Time(d.Next), deferralJSON{
			Session: d.Session, Export: d.ExportID, Target: d.Target, Tries: d.Tries, Error: d.Error, At: timeJSON(d.At), Next: timeJSON(d.Next),
		}
		if !d.Escalated.IsZero() {
			next, out.Next, out.GivenUp = "given up", "", timeJSON(d.Escalated)
		}
		if a.json {
			if err := a.printJSON(out); err != nil {
				return err
			}
		}
		rows = append(rows, []string{d.ExportID, d.Session, d.Target, strconv.Itoa(d.Tries), next, d.Error})
	}
	if len(rows) == 0 {
		a.note("nothing was put off")
	}
	if a.json {
		return nil
	}
	return a.table([]string{"EXPORT", "SESSION", "TARGET", "TRIES", "NEXT", "ERROR"}, rows)
}
