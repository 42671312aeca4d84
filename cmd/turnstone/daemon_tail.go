package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

type tailOptions struct {
	name, session   string
	fromStart, once bool
}

func (a *app) daemonTailCommand() *cobra.Command {
	var o tailOptions
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print exports as they come",
		Long: `Print exports as they come, until it is interrupted: one JSON object a line, on a terminal a short line
for people. Those of all tenants are printed, with --tenant only those of that one.

Without --name it only looks on, with --session at those of one session. With --name it is a daemon of that name: it goes on where it stopped, and
what it printed stands in the traces of the exchanges. Where servers with --bus publish the exports, it prints
what they published.

Of an export that cannot be read, since it is damaged or a newer turnstone wrote it, who looks on is told the
ids and, as "unreadable", why it cannot be read; the next one follows. For a daemon of a name it is a dead
letter, see turnstone daemon dead.`,
		Example: `  turnstone daemon tail
  turnstone daemon tail --from-start --once --session tidewatch
  turnstone daemon tail --name indexer | my-indexer`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.name == "" && cmd.Flags().Changed("name") {
				return usage("give the daemon's name, or leave --name out to look on", "name: is empty")
			}
			if err := exclusive(cmd, "name", "session"); err != nil {
				return err
			}
			err := a.withEngine(cmd.Context(), toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
				if err := a.notePublisher(cmd.Context(), eng); err != nil {
					return err
				}
				if o.name != "" {
					return a.tailAs(cmd.Context(), eng, o)
				}
				return a.tail(cmd.Context(), eng, o)
			})
			if errors.Is(err, context.Canceled) && !o.once {
				return nil // that is how it ends; with --once something is missing then
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.name, "name", "", "be the daemon of this `name`")
	a.addSessionFlag(cmd, &o.session)
	cmd.Flag("session").Usage = "only of the session with this `id`"
	flags.BoolVar(&o.fromStart, "from-start", false, "begin with the oldest export that is kept, not with the next one; a daemon that is known goes on where it stopped")
	flags.BoolVar(&o.once, "once", false, "end when everything that is there is printed")
	return cmd
}

const (
	tailEvery = 500 * time.Millisecond // how often is looked for new exports
	tailPage  = 64
)

// tail looks on.
func (a *app) tail(ctx context.Context, eng *turnstone.Engine, o tailOptions) error {
	// Whoever may only read looks on at what others publish.
	if err := eng.Publish(ctx); err != nil && !errors.Is(err, store.ErrReadOnly) {
		return err
	}
	after := int64(0)
	if !o.fromStart {
		var err error
		if _, after, err = eng.Daemons(ctx); err != nil {
			return err
		}
	}
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	for {
		messages, through, err := eng.Published(ctx, after, tailPage)
		if err != nil {
			return err
		}
		for _, m := range messages {
			if o.session != "" && m.Session != o.session {
				continue
			}
			if err := a.printExport(m); err != nil {
				return err
			}
		}
		if through > after {
			after = through
			continue
		}
		if o.once {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// tailAs is a daemon that prints.
func (a *app) tailAs(ctx context.Context, eng *turnstone.Engine, o tailOptions) error {
	if err := eng.Publish(ctx); err != nil {
		return err
	}
	if err := a.noteKnown(ctx, eng, o); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var printing sync.Mutex
	options := bus.Options{Parallel: 1, From: bus.New}
	if o.fromStart {
		options.From = bus.Beginning
	}
	sub, err := eng.Subscribe(ctx, o.name, func(_ context.Context, m event.Message) (int, error) {
		printing.Lock()
		defer printing.Unlock()
		if err := a.printExport(m); err != nil {
			stop(err) // there is nowhere left to print to; the export comes again next time
			return 0, err
		}
		return 1, nil
	}, options)
	if err != nil {
		return byFlag(err)
	}
	if o.once {
		err = a.caughtUp(ctx, eng, o.name)
	} else {
		<-ctx.Done()
		err = context.Cause(ctx)
	}
	return errors.Join(err, sub.Close())
}

// noteKnown says so if the daemon is served elsewhere, where this one stands by, and if it does not begin where it was asked to.
func (a *app) noteKnown(ctx context.Context, eng *turnstone.Engine, o tailOptions) error {
	marks, _, err := eng.Daemons(ctx)
	for _, m := range marks {
		if m.Daemon != o.name {
			continue
		}
		if working(m) {
			a.note("daemon %s is at work elsewhere; standing by", o.name)
		}
		if o.fromStart {
			a.note("daemon %s goes on where it stopped; give another name to begin from the start, or none to look on", o.name)
		}
	}
	return err
}

// caughtUp waits until the daemon is done with what was published when it was called.
func (a *app) caughtUp(ctx context.Context, eng *turnstone.Engine, name string) error {
	_, last, err := eng.Daemons(ctx)
	if err != nil {
		return err
	}
	tick := time.NewTicker(tailEvery / 10)
	defer tick.Stop()
	for {
		marks, _, err := eng.Daemons(ctx)
		if err != nil {
			return err
		}
		for _, m := range marks {
			if m.Daemon == name && m.Through >= last {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// printExport writes an export at once.
func (a *app) printExport(m event.Message) error {
	if a.tenant() != "" && a.tenant() != m.Tenant {
		return nil
	}
	if a.json || !terminal.Is(a.stdout) {
		if err := a.print(append(m.Body[:len(m.Body):len(m.Body)], '\n')); err != nil {
			return err
		}
		return a.out.Flush()
	}
	var line string
	if export, err := commit.DecodeExport(string(m.Body)); err == nil {
		line = a.exportLine(export)
	} else {
		line = a.unreadLine(m, unreadOf(m, err))
	}
	if err := a.printf("%s", line); err != nil {
		return fmt.Errorf("export %s: %w", m.ID, err)
	}
	return a.out.Flush()
}

// unread is what is told of an export that cannot be read.
type unread struct {
	At  time.Time `json:"timestamp"`
	Why string    `json:"unreadable"`
}

// unreadOf returns what the message tells of itself, and otherwise why it cannot be read here.
func unreadOf(m event.Message, why error) (u unread) {
	if json.Unmarshal(m.Body, &u) != nil {
		u = unread{}
	}
	u.Why = cmp.Or(u.Why, why.Error())
	return u
}

// unreadLine is an export in short that cannot be read.
func (a *app) unreadLine(m event.Message, u unread) string {
	style := a.style()
	parts := []string{style.Dim(a.format().Time(u.At)), style.Strong(m.Session), style.Alarm("cannot be read"), style.Dim(m.ID), terminal.CleanLine(u.Why)}
	return strings.Join(parts, "  ")
}

// exportLine is an export in short: when, where, how it ended and what came of it.
func (a *app) exportLine(e commit.StateExport) string {
	style := a.style()
	status := style.Good(string(e.Status))
	if e.Status != commit.Complete {
		status = style.Alarm(string(e.Status))
	}
	parts := []string{
		style.Dim(a.format().Time(e.Timestamp)), style.Strong(e.Session), status, style.Dim(e.ExportID),
		progress.Count(int64(len(e.TurnIDs)), "turn"),
	}
	for _, c := range []struct {
		n     int
		thing string
	}{
		{len(e.Episodes), "memory item"}, {len(e.Cortex.UpdatedGoals), "goal"}, {len(e.Cortex.UpdatedActions), "action"}, {len(e.Scratch.Updated), "note"},
	} {
		if c.n > 0 {
			parts = append(parts, progress.Count(int64(c.n), c.thing))
		}
	}
	if e.Turn.UserInput != "" {
		parts = append(parts, terminal.CleanLine(short(e.Turn.UserInput, 60)))
	}
	return strings.Join(parts, "  ")
}
