package main

import (
	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/snapshot"
)

func (a *app) snapshotRestoreCommand() *cobra.Command {
	var to addressee
	var c modelFlags
	cmd := &cobra.Command{
		Use:   "restore SESSION ID|NAME",
		Short: "Go back to a snapshot",
		Long: `Go back to a snapshot, by its id or by its name, which means the newest of that name: prompts show the
conversation as it was then, and what is appended from now on. The turns in between stay in the log: turnstone
history and turnstone query show them with --all. Going back can itself be undone, with turnstone undo.`,
		Example:           "  turnstone snapshot take tidewatch before-the-change\n  turnstone snapshot restore tidewatch before-the-change\n  turnstone snapshot restore tidewatch 01JH5T8Q3VXK6Z0M4N7P9R2S1W",
		Args:              arguments("SESSION", "ID|NAME"),
		ValidArgsFunction: a.completeSnapshots,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := to.check(cmd); err != nil {
				return err
			}
			return a.withCompression(cmd.Context(), args[0], to, c, compressionFlags{}, func(p *prompting) error {
				shot, err := p.session.Restore(cmd.Context(), args[1], p.options())
				if err != nil {
					err = advise(err, snapshot.ErrNotFound, "see which there are with: "+a.line("snapshot list "+quoted(args[0])))
					return a.unreturned(p, err, "snapshot restore "+quoted(args[0])+" "+quoted(args[1]))
				}
				a.stored = "the session went back to turn " + progress.Thousands(shot.Turn)
				info, err := p.session.Info(cmd.Context())
				if err != nil {
					return err
				}
				epoch, err := p.session.Epoch(cmd.Context(), turnstone.Head)
				if err != nil {
					return err
				}
				left := info.Head - shot.Turn
				if a.json {
					return a.printJSON(struct {
						snapshotJSON
						Left  int64 `json:"turns_left_behind"`
						Opens int64 `json:"opened_epoch"`
					}{newSnapshotJSON(&shot), left, epoch.Number})
				}
				summaries, err := summariesIn(cmd.Context(), p.session, shot.Turn+1, info.Head, anyTurn)
				if err != nil {
					return err
				}
				if err := a.printf("went back to turn %d: %s left behind, in the log only", shot.Turn, progress.Count(left-summaries, "turn")); err != nil {
					return err
				}
				a.note("take it back with: %s", a.line(undoLine(args[0], to, c)))
				return nil
			})
		},
	}
	a.addAddresseeFlags(cmd, &to)
	c.addFlags(cmd)
	return cmd
}
