package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/turn"
)

type queryOptions struct {
	session, role, form, kind, flow, since, until string
	query                                         turn.Query
	limit                                         int
	all                                           bool
}

func (a *app) queryCommand() *cobra.Command {
	var o queryOptions
	cmd := &cobra.Command{
		Use:   "query",
		Short: "Find turns of a session",
		Long: `Find turns of a session, oldest first. What is not asked for does not matter; everything
that is must hold. Each turn stands for itself, a tool call without its result if that does not match.

Turns that were left behind when the session went back to a snapshot are found, and marked, with --all.

Where there are more than --limit, standard error says how to go on; with --json as {"next":120}.
The cursor is always the number of the last turn that was printed.`,
		Example: `  turnstone query --session tidewatch --text "cats asleep"
  turnstone query --session tidewatch --role agent --regexp '(?i)sorry|apolog' --json
  turnstone query --session tidewatch --since 2h --limit 0`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			if err := nothingEmpty(cmd, "role", "form", "kind", "id", "match", "regexp", "text", "flow", "since", "until"); err != nil {
				return err
			}
			q, err := o.turnQuery()
			if err != nil {
				return err
			}
			return a.withSession(cmd.Context(), o.session, func(s *turnstone.Session) error {
				return a.query(cmd.Context(), s, q, o)
			})
		},
	}
	a.addSessionFlag(cmd, &o.session)
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.role, "role", "", "who said it: user, agent or system")
	flags.StringVar(&o.form, "form", "", "text, speech, image or action")
	flags.StringVar(&o.kind, "kind", "", "turn or summary")
	flags.StringVar(&o.query.ID, "id", "", "the turn with this `turn_id`")
	flags.StringVar(&o.query.Match, "match", "", "its text holds this, to the letter")
	flags.StringVar(&o.query.Regexp, "regexp", "", "its text matches this RE2 `expression`")
	flags.StringVar(&o.query.Text, "text", "", "its text holds all these `words`, in any order, case and ending")
	flags.StringVar(&o.flow, "flow", "", "the flow with this `flow_id` points at it")
	flags.Int64Var(&o.query.From, "from", 0, "from this `turn` on")
	flags.Int64Var(&o.query.To, "to", 0, "up to this `turn`")
	flags.StringVar(&o.since, "since", "", "not before this `time`: 2h (ago), 2006-01-02, 2006-01-02T15:04:05")
	flags.StringVar(&o.until, "until", "", "before this `time`")
	flags.IntVar(&o.limit, "limit", 100, "how many at most, 0 for all")
	flags.Int64Var(&o.query.After, "after", 0, "go on after this `turn`")
	addAllFlag(cmd, &o.all)
	choices(cmd, "role", string(turn.User), string(turn.Agent), string(turn.System))
	choices(cmd, "form", string(turn.FormText), string(turn.FormSpeech), string(turn.FormImage), string(turn.FormAction))
	choices(cmd, "kind", string(turn.KindTurn), string(turn.KindSummary))
	return cmd
}

// nothingEmpty refuses a flag that is given and empty, as it is where a script's variable is not set: a filter would find
// everything, and what is to have an id would have another at each try.
func nothingEmpty(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		f := cmd.Flag(name)
		switch {
		case !f.Changed || f.Value.String() != "":
		case name == "id" && cmd.Name() == "add":
			return usage("give one, or leave --id out to have one made", "id: is empty")
		default:
			return usage("give what to look for, or leave --"+name+" out", "%s: is empty", name)
		}
	}
	return nil
}

func (o *queryOptions) turnQuery() (turn.Query, error) {
	q := o.query
	q.Role, q.Form, q.Kind = turn.Role(o.role), turn.Form(o.form), turn.Kind(o.kind)
	var err error
	if q.Since, err = parseMoment("since", o.since); err != nil {
		return q, err
	}
	if q.Until, err = parseMoment("until", o.until); err != nil {
		return q, err
	}
	if o.limit < 0 {
		return q, usage("give how many turns, or 0 for all", "limit: %d is negative", o.limit)
	}
	if q.Limit = o.limit; o.limit == 0 {
		q.Limit = 1000 // a page; query goes on until the last
	}
	_, err = q.Compile()
	return q, err
}

func (a *app) query(ctx context.Context, s *turnstone.Session, q turn.Query, o queryOptions) error {
	epoch, err := s.Epoch(ctx, turnstone.Head)
	if err != nil {
		return err
	}
	path := turn.Path(epoch.Path)
	ask := s.Query
	if o.flow != "" {
		ask = func(ctx context.Context, q turn.Query) (turn.Page, error) { return s.QueryFlow(ctx, o.flow, q) }
	}
	found, left := 0, 0
	for more := true; more; {
		page, err := ask(ctx, q)
		if err != nil {
			return err
		}
		shown := page.Turns
		if !o.all {
			shown = slices.DeleteFunc(shown, func(t turn.Turn) bool { return path.Off(t.Seq) })
			left += len(page.Turns) - len(shown)
		}
		if err := a.printTurns(shown, path); err != nil {
			return err
		}
		found += len(shown)
		q.After = page.Next
		more = page.Next != 0
		if o.limit > 0 && more {
			// What was left out takes no part of the limit.
			if q.Limit = o.limit - found; q.Limit == 0 {
				a.noteNext(page.Next)
				break
			}
		}
	}
	a.noteLeftOut(int64(left))
	if found == 0 {
		a.note("no turns match")
	}
	return nil
}

func (a *app) noteNext(cursor int64) {
	if a.json {
		a.note(`{"next":%d}`, cursor)
		return
	}
	a.note("more: --after %d", cursor)
}
