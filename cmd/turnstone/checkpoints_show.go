package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/compress"
)

// addVersionFlag adds the flag that names a version of a checkpoint.
func addVersionFlag(cmd *cobra.Command, version *int64) {
	cmd.Flags().Int64Var(version, "version", 0, "which `version` (default the one in the prompt, or the last)")
}

// checkVersion refuses a version that none can have.
func checkVersion(cmd *cobra.Command, version int64) error {
	if cmd.Flags().Changed("version") && version < 1 {
		return usage("they are counted from 1", "--version: %d is none", version)
	}
	return nil
}

func (a *app) checkpointsShowCommand() *cobra.Command {
	var version int64
	cmd := &cobra.Command{
		Use:   "show SESSION NUMBER",
		Short: "Show a checkpoint: its summary, decisions, files and next steps",
		Long: `Show a checkpoint by the number of the pass that made it: what it stands for, the decisions, changed files
and next steps that were found there, and the summary as the model sees it. One that stands in the prompt no
longer, since it was merged or undone, can be shown too.`,
		Example:           "  turnstone checkpoints show tidewatch 2\n  turnstone checkpoints show tidewatch 2 --version 1 --json",
		Args:              arguments("SESSION", "NUMBER"),
		ValidArgsFunction: a.completeFirstSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withVersion(cmd, args, version, a.showCheckpoint)
		},
	}
	addVersionFlag(cmd, &version)
	return cmd
}

func (a *app) checkpointsReceiptCommand() *cobra.Command {
	var version int64
	cmd := &cobra.Command{
		Use:   "receipt SESSION NUMBER",
		Short: "Show what was checked in the summary of a checkpoint",
		Long: `Show what was checked in the summary of a checkpoint before it took the place of its turns: who made it and
how often a model was asked, how many facts and literals had to be in the summary, which of them were added to the
answer word for word, which are missing or were left out for want of room, and why answers were refused. Facts are
decisions, open requests and changed files; literals are identifiers, paths, numbers, URLs and errors. What the prompt
quotes beside the summary need not be in it: turnstone status counts all that the prompt holds. What is missing can
still be found in the turns.`,
		Example:           "  turnstone checkpoints receipt tidewatch 2\n  turnstone checkpoints receipt tidewatch 2 --version 1 --json",
		Args:              arguments("SESSION", "NUMBER"),
		ValidArgsFunction: a.completeFirstSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withVersion(cmd, args, version, func(s *turnstone.Session, _ checkpointOf, c *compress.Checkpoint) error {
				if a.json {
					return a.printJSON(newReceiptJSON(s.ID(), c))
				}
				return a.fields(receiptFields(c)...)
			})
		},
	}
	addVersionFlag(cmd, &version)
	return cmd
}

// withVersion runs fn on a version of the checkpoint that the arguments name.
func (a *app) withVersion(cmd *cobra.Command, args []string, version int64, fn func(*turnstone.Session, checkpointOf, *compress.Checkpoint) error) error {
	if err := checkVersion(cmd, version); err != nil {
		return err
	}
	return a.withSession(cmd.Context(), args[0], func(s *turnstone.Session) error {
		found, err := a.aged(cmd.Context(), s, args[1])
		if err != nil {
			return err
		}
		c, err := found.version(version)
		if err != nil {
			return err
		}
		return fn(s, found, c)
	})
}

func (a *app) showCheckpoint(s *turnstone.Session, all checkpointOf, c *compress.Checkpoint) error {
	if a.json {
		return a.print(append(c.AppendShown(nil, s.ID()), '\n'))
	}
	stands := "no longer: it was merged or undone"
	switch all.stands {
	case 0:
	case c.Version:
		stands = "yes"
	default:
		stands = fmt.Sprintf("no: version %d does", all.stands)
	}
	format := a.format()
	pairs := [][2]string{
		{"checkpoint", strconv.FormatInt(c.Number, 10)},
		{"version", fmt.Sprintf("%d of %d", c.Version, len(all.versions))},
		{"level", c.Level.String()},
		{"in the prompt", stands},
		{"stands for", turnsIn(c.Range)},
		{"tokens", shrunk(c)},
		{"made by", maker(&c.Receipt)},
		{"compressed", format.Time(c.CompressedAt)},
	}
	if !c.CreatedAt.Equal(c.CompressedAt) {
		pairs = append(pairs, [2]string{"first made", format.Time(c.CreatedAt)})
	}
	for _, l := range []struct {
		name string
		list []string
	}{{"decisions", c.KeyDecisions}, {"files", c.FilesModified}, {"next steps", c.NextSteps}} {
		pairs = append(pairs, listed(l.name, l.list)...)
	}
	if err := a.fields(pairs...); err != nil {
		return err
	}
	return a.printf("\n%s", strings.TrimRight(terminal.Clean(c.Summary), "\n"))
}
