package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
)

func (a *app) sweepCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sweep",
		Short: "Delete what has expired: memory, notes, traces, sent exports",
		Long: `Delete what has expired, of all tenants, and print how much it was: items of memory whose
time is over, notes a week after they were archived (which they are a day after their last change), traces, dead letters
and events after 90 days (receipts of what was forgotten stay), exports 7 days after they were sent, what was put off and
given up 7 days ago, and images and recordings that no turn has named for a day. Reminders that were sent 24 hours ago and not answered are escalated. Exchanges that a program which died left in the middle are closed. What has
expired is not found before it is swept either; a program that keeps an engine open sweeps by itself.
Turns are never deleted.`,
		Example: "  turnstone sweep\n  turnstone sweep --json",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
				bar := a.bar(progress.Config{Label: "sweeping"})
				swept, err := eng.Sweep(cmd.Context())
				bar.Clear()
				if err != nil {
					return err
				}
				return cmp.Or(a.notePublisher(cmd.Context(), eng), a.printSwept(swept)) // what was not sent is not swept
			})
		},
	}
}

func (a *app) printSwept(s turnstone.Swept) error {
	counts := []struct {
		name, thing string
		n           int64
	}{
		{"memory", "memory item", s.Items}, {"scratch", "note", s.Observations}, {"trace", "trace part", s.TraceParts},
		{"exports", "export", s.Exports}, {"deferrals", "deferral", s.Deferrals}, {"dead_letters", "dead letter", s.Letters},
		{"events", "event", s.Events},
		{"blobs", "blob", s.Blobs}, {"snapshots", "snapshot", s.Snapshots}, {"imports", "broken import", s.Imports},
	}
	if a.json {
		found := map[string]int64{"archived": s.Archived, "archived_notes": s.Notes, "recovered": s.Exchanges, "escalated_reminders": s.Reminders}
		for _, c := range counts {
			found[c.name] = c.n
		}
		return a.printJSON(found)
	}
	if s == (turnstone.Swept{}) {
		return a.printf("nothing has expired")
	}
	if s.Exchanges > 0 {
		if err := a.printf("closed %s that a program left in the middle", progress.Count(s.Exchanges, "exchange")); err != nil {
			return err
		}
	}
	if s.Reminders > 0 {
		if err := a.printf("escalated %s that nobody answered", progress.Count(s.Reminders, "reminder")); err != nil {
			return err
		}
	}
	if s.Archived > 0 {
		if err := a.printf("archived %s", progress.Count(s.Archived, "memory item")); err != nil {
			return err
		}
	}
	if s.Notes > 0 {
		if err := a.printf("archived %s", progress.Count(s.Notes, "note")); err != nil {
			return err
		}
	}
	for _, c := range counts {
		if c.n == 0 {
			continue
		}
		if err := a.printf("swept %s", progress.Count(c.n, c.thing)); err != nil {
			return err
		}
	}
	return nil
}
