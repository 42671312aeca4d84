package main

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
)

func (a *app) snapshotCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "snapshot",
		Short: "Take, list, restore and delete snapshots of sessions",
		Long: `A snapshot is a place in a session that its prompts can go back to. Taking one costs next to nothing, since the
log keeps every turn. The engine takes one by itself before turns leave the prompt, and whenever the conversation
gets full; turnstone sweep keeps the newest 20 of these.`,
		Example: "  turnstone snapshot take tidewatch before-the-change\n  turnstone snapshot restore tidewatch before-the-change",
	}, a.snapshotTakeCommand(), a.snapshotListCommand(), a.snapshotRestoreCommand(), a.snapshotDeleteCommand())
}

func (a *app) snapshotTakeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "take SESSION [NAME]",
		Short: "Take a snapshot of a session as it stands, and print its id",
		Long: `Take a snapshot of a session as it stands, and print its id. NAME may be any line of text; where several
have the same, it means the newest of them.`,
		Example:           "  turnstone snapshot take tidewatch\n  turnstone snapshot take tidewatch before-the-change --json",
		Args:              arguments("SESSION", "[NAME]"),
		ValidArgsFunction: a.completeFirstSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSession(cmd.Context(), args[0], func(s *turnstone.Session) error {
				taken, err := s.Snapshot(cmd.Context(), append(args, "")[1])
				if err != nil {
					return err
				}
				a.stored = "snapshot " + taken.ID + " is stored"
				if a.json {
					return a.printJSON(newSnapshotJSON(&taken))
				}
				a.note("taken after turn %d; go back with: %s", taken.Turn, a.line("snapshot restore "+quoted(s.ID())+" "+quoted(cmp.Or(taken.Name, taken.ID))))
				return a.printf("%s", taken.ID)
			})
		},
	}
}

func (a *app) snapshotListCommand() *cobra.Command {
	var limit int
	var before string
	cmd := &cobra.Command{
		Use:   "list SESSION",
		Short: "List the snapshots of a session, the newest first",
		Long: `List the snapshots of a session, the newest first, with those that a fork shares with its parent: after
which turn each was taken, how many turns its prompts could show then, and the tokens and checkpoints of the last
one. Those without a name that the engine took are automatic.`,
		Example:           "  turnstone snapshot list tidewatch\n  turnstone snapshot list tidewatch --limit 5 --json",
		Args:              arguments("SESSION"),
		ValidArgsFunction: a.completeFirstSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return usage("give a number from 1 on", "--limit: %d is too few", limit)
			}
			return a.withSession(cmd.Context(), args[0], func(s *turnstone.Session) error {
				return a.listSnapshots(cmd.Context(), s, before, limit)
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 100, "how many at most")
	cmd.Flags().StringVar(&before, "before", "", "only those older than the one of this `id`")
	return cmd
}

type snapshotJSON struct {
	ID          string `json:"id"`
	Session     string `json:"session_id"`
	Name        string `json:"name,omitempty"`
	Auto        bool   `json:"auto"`
	Turn        int64  `json:"turn"`
	Epoch       int64  `json:"epoch"`
	Messages    int64  `json:"message_count"`
	Tokens      int64  `json:"token_count"`
	Checkpoints int64  `json:"checkpoint_count"`
	Model       string `json:"model,omitempty"`
	Tier        int    `json:"tier,omitempty"`
	Mode        string `json:"mode,omitempty"`
	At          string `json:"at"`
}

func newSnapshotJSON(s *snapshot.Snapshot) snapshotJSON {
	return snapshotJSON{
		s.ID, s.Session, s.Name, s.Auto, s.Turn, s.Epoch, s.MessageCount, s.TokenCount, s.CheckpointCount, s.Model, int(s.Tier), s.Mode, timeJSON(s.At),
	}
}

func (a *app) listSnapshots(ctx context.Context, s *turnstone.Session, before string, limit int) error {
	// One more than is shown, to know whether there are any.
	list, damaged := s.Snapshots(ctx, before, limit+1)
	if damaged != nil && !as[*snapshot.FieldError](damaged) {
		return damaged
	}
	format := a.format()
	var rows [][]string
	for i := range list[:min(limit, len(list))] {
		shot := &list[i]
		if a.json {
			if err := a.printJSON(newSnapshotJSON(shot)); err != nil {
				return err
			}
			continue
		}
		name := shot.Name
		switch {
		case shot.Auto:
			name = "(automatic)"
		case strings.TrimSpace(name) == "":
			name = "-"
		}
		rows = append(rows, []string{
			shot.ID, name, strconv.FormatInt(shot.Turn, 10), progress.Thousands(shot.MessageCount), progress.Thousands(shot.TokenCount),
			strconv.FormatInt(shot.CheckpointCount, 10), shot.Model, format.Time(shot.At),
		})
	}
	head := []string{"ID", "NAME", "AFTER TURN", "TURNS", "TOKENS", "CHECKPOINTS", "MODEL", "TAKEN"}
	alignRight(head, rows, 2, 3, 4, 5)
	if err := a.table(head, rows); err != nil {
		return err
	}
	switch {
	case damaged != nil:
		return &advised{err: errors.Join(store.ErrCorrupt, damaged), next: "delete it with: " + a.line("snapshot delete "+quoted(s.ID())+" ID")}
	case len(list) > limit && a.json:
		a.note(`{"next":%q}`, list[limit-1].ID)
	case len(list) > limit:
		a.note("more: --before %s", list[limit-1].ID)
	case len(list) == 0:
		a.note("no snapshots; take one with: %s", a.line("snapshot take "+quoted(s.ID())))
	}
	return nil
}

func (a *app) snapshotDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete SESSION ID",
		Short: "Delete a snapshot",
		Long: `Delete a snapshot of a session's own, by its id. What it could go back to stays in the log. One that a fork
shares with its parent is deleted there.`,
		Example:           "  turnstone snapshot delete tidewatch 01JH5T8Q3VXK6Z0M4N7P9R2S1W",
		Args:              arguments("SESSION", "ID"),
		ValidArgsFunction: a.completeSnapshots,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSession(cmd.Context(), args[0], func(s *turnstone.Session) error {
				if err := s.DeleteSnapshot(cmd.Context(), args[1]); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(struct {
						ID      string `json:"id"`
						Session string `json:"session_id"`
						Deleted bool   `json:"deleted"`
					}{args[1], s.ID(), true})
				}
				return a.printf("deleted snapshot %s of %s", args[1], s.ID())
			})
		},
	}
}

// completeSnapshots offers the ids of a session's snapshots, once it is given.
func (a *app) completeSnapshots(cmd *cobra.Command, args []string, given string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) != 1 {
		return a.completeFirstSession(cmd, args, given)
	}
	if p, err := a.storePlace(); err != nil || p.path != "" && !isFile(p.path) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	err := a.withSession(cmd.Context(), args[0], func(s *turnstone.Session) error {
		list, err := s.Snapshots(cmd.Context(), "", 0)
		for _, shot := range list {
			found = append(found, cobra.CompletionWithDesc(shot.ID, shot.Name))
		}
		return err
	})
	if err != nil && len(found) == 0 {
		return nil, cobra.ShellCompDirectiveError
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
