package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) scratchListCommand() *cobra.Command {
	var session, flow string
	var insights, all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the notes on a session's page",
		Example: `  turnstone scratch list --session tidewatch
  turnstone scratch list --session tidewatch --all
  turnstone scratch list --session tidewatch --insights
  turnstone scratch list --session tidewatch --flow 01JH5T8Q3VXK6Z0M4N7P9R2S1W --json`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			return a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
				read, list, found := s.Notes, (*scratch.Page).Observations, scratch.Insights
				if all {
					read, list, found = s.KeptNotes, (*scratch.Page).Kept, scratch.KeptInsights
				}
				page, err := read(cmd.Context())
				if err != nil {
					return err
				}
				if insights || flow != "" {
					return a.listNotes(found(page, flow))
				}
				return a.listNotes(list(page))
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	cmd.Flags().StringVar(&flow, "flow", "", "only what the flow with this `flow_id` found out")
	cmd.Flags().BoolVar(&insights, "insights", false, "only what flows found out")
	cmd.Flags().BoolVar(&all, "all", false, "also those that are archived, for the seven days that they are kept")
	return cmd
}

func (a *app) listNotes(notes []scratch.Observation) error {
	var rows [][]string
	for _, o := range notes {
		if a.json {
			if err := a.print(append(o.AppendJSON(nil), '\n')); err != nil {
				return err
			}
		}
		rows = append(rows, []string{o.ID, string(o.Status), o.Type, percent(o.Confidence), short(o.Content, 200)})
	}
	if len(rows) == 0 {
		a.note("no notes")
	}
	if a.json {
		return nil
	}
	return a.table([]string{"NOTE", "STATUS", "TYPE", "SURE", "CONTENT"}, rows)
}

// noteFlags are what a note may be given besides its content.
type noteFlags struct {
	source, owner, expires string
	confidence             float64
	refs, tags             []string
}

func (f *noteFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.source, "source", "", "where it comes from")
	flags.StringVar(&f.owner, "owner", "", "who deals with it")
	flags.Float64Var(&f.confidence, "confidence", 0, fmt.Sprintf("how sure it is, from 0 to 1 (default %g)", scratch.DefaultConfidence))
	flags.StringArrayVar(&f.refs, "ref", nil, "what it is about, a turn, goal or file; may be repeated")
	flags.StringArrayVar(&f.tags, "tag", nil, "a tag; may be repeated")
	flags.StringVar(&f.expires, "expires", "", "when it goes, a `time` within a day: 2h (from now) or 2006-01-02T15:04:05")
}

func (f *noteFlags) fill(cmd *cobra.Command, c *scratch.Change) error {
	c.Source = given(cmd, "source", &f.source)
	c.Owner = given(cmd, "owner", &f.owner)
	c.Confidence = given(cmd, "confidence", &f.confidence)
	c.ContextRefs = given(cmd, "ref", &f.refs)
	c.Tags = given(cmd, "tag", &f.tags)
	if !cmd.Flags().Changed("expires") {
		return nil
	}
	at, err := parseAhead("expires", f.expires)
	c.ExpiresAt = &at
	return err
}

func (a *app) scratchAddCommand() *cobra.Command {
	var f noteFlags
	var id, typ, flow string
	cmd := &cobra.Command{
		Use:   "add CONTENT",
		Short: "Add a note",
		Example: `  turnstone scratch add "The API answers slowly on Mondays" --type performance --confidence 0.8 --session tidewatch
  turnstone scratch add "Prefers the early train" --flow 01JH5T8Q3VXK6Z0M4N7P9R2S1W --session tidewatch`,
		Args:              arguments("CONTENT"),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := cmd.Flags()
	flags.StringVar(&typ, "type", "", "what kind of note, in your own words (default note)")
	flags.StringVar(&flow, "flow", "", "the flow with this `flow_id` found it out: the note is an insight")
	f.add(cmd)
	flags.StringVar(&id, "id", "", "its `id` (default one is made)")
	return a.jotting(cmd, func(cmd *cobra.Command, page *scratch.Page, args []string) (scratch.Changes, error) {
		if err := nothingEmpty(cmd, "id"); err != nil {
			return scratch.Changes{}, err
		}
		if _, exists := page.Observation(id); exists {
			return scratch.Changes{}, advise(fmt.Errorf("note %s: %w", id, turn.ErrExists), turn.ErrExists, "change it with turnstone scratch set, or leave out --id")
		}
		c := scratch.Change{ID: id, Type: &typ, Content: &args[0]}
		if c.ID == "" {
			c.ID = a.newID()
		}
		if err := f.fill(cmd, &c); err != nil {
			return scratch.Changes{}, err
		}
		switch {
		case flow != "" && typ != "" && typ != scratch.FlowInsight:
			return scratch.Changes{}, usage("leave one out", "scratch add: what a flow found out is of type %s, not %q", scratch.FlowInsight, typ)
		case strings.ContainsFunc(flow, unicode.IsControl):
			return scratch.Changes{}, usage("see which there are with turnstone flow show", "flow: %q is no id of a flow", flow)
		case flow != "":
			typ = scratch.FlowInsight
			refs := append([]string{scratch.FlowRef(flow)}, f.refs...)
			c.ContextRefs = &refs
		case typ == "":
			typ = "note"
		}
		return scratch.Changes{Put: []scratch.Change{c}}, nil
	})
}

func (a *app) scratchSetCommand() *cobra.Command {
	var f noteFlags
	var content, status string
	cmd := &cobra.Command{
		Use:     "set NOTE",
		Short:   "Change a note's content, status, confidence, references or tags",
		Example: "  turnstone scratch set 01JH5T8Q3VXK6Z0M4N7P9R2S1W --status pending_review --session tidewatch",
		Args:    arguments("NOTE"),
	}
	flags := cmd.Flags()
	flags.StringVar(&content, "content", "", "other words for it")
	flags.StringVar(&status, "status", "", "pending_review, resolved or archived")
	f.add(cmd)
	keeps(cmd, "confidence")
	choices(cmd, "status", string(scratch.PendingReview), string(scratch.Resolved), string(scratch.Archived))
	return a.jotting(cmd, func(cmd *cobra.Command, page *scratch.Page, args []string) (scratch.Changes, error) {
		names := []string{"content", "status", "source", "owner", "confidence", "ref", "tag", "expires"}
		if !slices.ContainsFunc(names, cmd.Flags().Changed) {
			return scratch.Changes{}, usage("give --content, --status, --confidence, --source, --owner, --ref, --tag or --expires", "scratch set: there is nothing to set")
		}
		c := scratch.Change{ID: args[0], Content: given(cmd, "content", &content), Status: (*scratch.Status)(given(cmd, "status", &status))}
		if err := f.fill(cmd, &c); err != nil {
			return scratch.Changes{}, err
		}
		return scratch.Changes{Put: []scratch.Change{c}}, a.onPage(cmd, page, args)
	})
}

func (a *app) scratchResolveCommand() *cobra.Command {
	return a.jotting(&cobra.Command{
		Use:     "resolve NOTE...",
		Short:   "Say that notes are settled",
		Example: "  turnstone scratch resolve 01JH5T8Q3VXK6Z0M4N7P9R2S1W --session tidewatch",
		Args:    arguments("NOTE..."),
	}, func(cmd *cobra.Command, page *scratch.Page, args []string) (changes scratch.Changes, err error) {
		resolved := scratch.Resolved
		for _, id := range args {
			changes.Put = append(changes.Put, scratch.Change{ID: id, Status: &resolved})
		}
		return changes, a.onPage(cmd, page, args)
	})
}

func (a *app) scratchArchiveCommand() *cobra.Command {
	return a.jotting(&cobra.Command{
		Use:     "archive NOTE...",
		Short:   "Take notes off the page, whatever their status",
		Example: "  turnstone scratch archive 01JH5T8Q3VXK6Z0M4N7P9R2S1W --session tidewatch",
		Args:    arguments("NOTE..."),
	}, func(cmd *cobra.Command, page *scratch.Page, args []string) (scratch.Changes, error) {
		return scratch.Changes{Archive: args}, a.onPage(cmd, page, args)
	})
}

func (a *app) scratchClearCommand() *cobra.Command {
	return a.jotting(&cobra.Command{
		Use:   "clear [NOTE]...",
		Short: "Take resolved notes off the page: those that are named, or all",
		Long: `Take resolved notes off the page: those that are named, or all that are resolved. If one of those
that are named is not resolved, none is cleared.`,
		Example: "  turnstone scratch clear --session tidewatch",
		Args:    arguments("[NOTE]..."),
	}, func(cmd *cobra.Command, page *scratch.Page, args []string) (scratch.Changes, error) {
		if len(args) > 0 {
			return scratch.Changes{Clear: args}, a.onPage(cmd, page, args)
		}
		var changes scratch.Changes
		for _, o := range page.Observations() {
			if o.Status == scratch.Resolved {
				changes.Clear = append(changes.Clear, o.ID)
			}
		}
		return changes, nil
	})
}
