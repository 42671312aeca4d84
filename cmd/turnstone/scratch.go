package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) scratchCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "scratch",
		Short: "Show and change a session's scratch page: what was noticed",
		Long: `Notes on what was noticed: at most 100 are live, each for a day after its last change. A note goes
forwards only:

  active -> pending_review -> resolved -> archived

Archived notes never come back and are deleted after seven days; until then scratch list --all shows them.
What a flow found out is a note of type flow_insight: at most 5 for a flow, the oldest makes room.`,
		Example: `  turnstone scratch add "The API answers slowly on Mondays" --session tidewatch
  turnstone scratch list --session tidewatch`,
	}, a.scratchListCommand(), a.scratchAddCommand(), a.scratchSetCommand(), a.scratchResolveCommand(),
		a.scratchArchiveCommand(), a.scratchClearCommand())
}

// jotting makes a subcommand that changes the scratch page. Prepare makes the
// changes.
func (a *app) jotting(cmd *cobra.Command, prepare func(cmd *cobra.Command, page *scratch.Page, args []string) (scratch.Changes, error)) *cobra.Command {
	var session string
	a.addSessionFlag(cmd, &session)
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = a.completeNotes
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := required(cmd, "session"); err != nil {
			return err
		}
		return a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
			page, err := s.Notes(cmd.Context())
			if err != nil {
				return err
			}
			changes, err := prepare(cmd, page, args)
			if err != nil {
				return err
			}
			return a.jot(cmd.Context(), s, changes)
		})
	}
	return cmd
}

// jot changes the page and prints the notes that changed.
func (a *app) jot(ctx context.Context, s *turnstone.Session, changes scratch.Changes) error {
	staged, err := s.Note(ctx, changes)
	var refused *turnstone.RefusedError
	if errors.As(err, &refused) {
		return fmt.Errorf("%s: %w", s.ID(), byFlag(err))
	}
	if err != nil {
		return err
	}
	if len(staged.Rows) > 0 {
		a.stored = "the scratch page of " + s.ID() + " is stored"
	}
	for _, row := range staged.Rows {
		o, err := scratch.DecodeObservation(row.Doc)
		if err != nil {
			return err
		}
		if a.json {
			err = a.print(append(o.AppendJSON(nil), '\n'))
		} else {
			err = a.printf("%s  %s  %s  %s", a.style().Strong(o.ID), o.Status, terminal.CleanLine(o.Type), terminal.CleanLine(short(o.Content, 120)))
		}
		if err != nil {
			return err
		}
	}
	if len(staged.Rows) == 0 {
		a.note("that changes nothing")
	}
	return nil
}

// onPage refuses ids that are not on the page.
func (a *app) onPage(cmd *cobra.Command, page *scratch.Page, ids []string) error {
	i := slices.IndexFunc(ids, func(id string) bool { _, ok := page.Observation(id); return !ok })
	if i < 0 {
		return nil
	}
	session := cmd.Flag("session").Value.String()
	return advise(fmt.Errorf("note %s on the page of %s: %w", ids[i], session, turn.ErrNotFound), turn.ErrNotFound,
		"see which there are with: "+a.line("scratch list --session "+quoted(session)))
}

// completeNotes offers the ids of notes, once the session is given.
func (a *app) completeNotes(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	session := cmd.Flag("session").Value.String()
	if p, err := a.storePlace(); session == "" || err != nil || p.path != "" && !isFile(p.path) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []cobra.Completion
	err := a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
		page, err := s.Notes(cmd.Context())
		if err != nil {
			return err
		}
		for _, o := range page.Observations() {
			if !slices.Contains(args, o.ID) {
				ids = append(ids, cobra.CompletionWithDesc(o.ID, short(o.Content, 60)))
			}
		}
		return nil
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
