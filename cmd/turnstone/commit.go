package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

type commitOptions struct {
	exportID string
	noCreate bool
	limits   limits
}

func (a *app) commitCommand() *cobra.Command {
	var o commitOptions
	cmd := &cobra.Command{
		Use:   "commit SESSION [FILE]",
		Short: "Commit a finished exchange, for people who bring their own agent",
		Long: `Commit a finished exchange: what was said goes into the log, what is worth keeping into
memory, goals and notes are changed, and daemons are told. When the command returns without an error,
all of it is on disk. The exchange is JSON in FILE or, without it or as -, on standard input:

  {
    "turns": [
      {"role": "user", "text": "Book a table for two at Nero, window seat please."},
      {"role": "agent", "text": "Done: Friday at eight."}
    ],
    "candidates": [
      {"type": "user_data", "text": "Likes window seats", "tags": ["preference"]}
    ],
    "intentions": {
      "goals": [{"title": "Plan Friday", "add_milestones": [{"description": "Table", "status": "completed"}]}],
      "actions": [{"type": "reminder", "title": "Leave at half past seven"}]
    },
    "scratch": {"put": [{"type": "idea", "content": "Nero has a garden"}]}
  }

The type of a candidate is user_data, tool_execution, observation, error, scratch_item or event; any other
is taken as an event and its name as a tag. Candidates of the engine's own stand beside yours, such as errors and what tools answered: what is
remembered and dropped counts them too. Where turns are in the log already, "turn_id" names the one that opened the exchange in their place.
Also: export_id, again (of a turn_id whose exchange failed: this one answers it), agent_id, started_at, urgency (HIGH, MEDIUM, LOW), interrupted, failure, daemon_outputs,
errors, warnings, budget_used, budget_total, and with PostgreSQL follow_up. A turn takes what turnstone append does: form,
content, turn_id, message_id, idempotency_key, meta.

What is not legal in intentions and scratch is refused and named, what cannot be written now is deferred and tried
again, and the rest is committed: the status is then complete_with_errors in place of complete. It is interrupted or
failed where the exchange itself says so. A commit ends with 0 with every one of them, since all there is to keep is kept;
scripts read status, refused and deferred with --json. What is wrong anywhere else refuses the whole exchange.

A session that is not there is made, unless --no-create says otherwise. Committing again under the same
--export-id changes nothing.`,
		Example: `  turnstone commit tidewatch exchange.json
  my-agent | turnstone commit tidewatch --json
  turnstone commit tidewatch exchange.json --export-id 01ARZ3NDEKTSV4RRFFQ69G5FAV`,
		Args: arguments("SESSION", "[FILE]"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault // files
			}
			return a.completeSessions(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			file := stdio
			if len(args) > 1 {
				file = args[1]
			}
			if f := cmd.Flag("export-id"); f.Changed && o.exportID == "" {
				// As where a script's variable is not set: every run would be another exchange.
				return usage("give a ULID, or leave --export-id out to have one made", "export-id: is empty")
			}
			return a.commit(cmd.Context(), args[0], file, o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.exportID, "export-id", "", "committing again under the same `ULID` changes nothing (default the exchange's, or a new one)")
	flags.BoolVar(&o.noCreate, "no-create", false, "fail where there is no such session")
	o.limits.addFlags(cmd)
	return cmd
}

func (a *app) commit(ctx context.Context, session, file string, o commitOptions) error {
	bounds, err := o.limits.turnLimits()
	if err != nil {
		return err
	}
	ex, err := a.exchange(ctx, file, o, bounds)
	if err != nil {
		return flagged(err)
	}
	why := toMake
	if o.noCreate || ex.Opened != "" {
		why = toFind
	}
	return a.withEngine(ctx, why, turnstone.Config{Limits: bounds}, func(eng *turnstone.Engine) error {
		result, err := a.commitTo(ctx, eng, session, ex, o)
		if err != nil {
			return underTheSameID(err, result.ExportID)
		}
		a.stored = "the exchange is committed as " + result.ExportID
		a.noteReopened(session, result.Reopened)
		a.noteFollowUp(ex)
		return a.printCommitted(session, result)
	})
}

// noteReopened says that a session goes on that was ended.
func (a *app) noteReopened(session string, reopened bool) {
	if reopened {
		a.note("session %s had ended and goes on", session)
	}
}

// noteFollowUp says where the follow-up context of an exchange is lost.
func (a *app) noteFollowUp(ex commit.Exchange) {
	if p, err := a.storePlace(); ex.FollowUp != nil && err == nil && p.url == "" {
		a.note("follow_up is not kept: with a file as store it lives in the process and ends with it; see turnstone light --help")
	}
}

// underTheSameID says how to try again without committing twice, where that may help.
func underTheSameID(err error, id string) error {
	for _, passing := range []error{store.ErrUnknown, store.ErrUnavailable, store.ErrLocked} {
		if id != "" && errors.Is(err, passing) {
			return &advised{err: err, next: "with --export-id " + id + " it is committed once, however often you try"}
		}
	}
	return err
}

// commitTo commits to a session that is there or, where there is none and nothing else stands against it, to one that is made for it.
func (a *app) commitTo(ctx context.Context, eng *turnstone.Engine, id string, ex commit.Exchange, o commitOptions) (commit.Result, error) {
	// A turn that opened the exchange is in a session that is there.
	if ex.Opened != "" {
		s, err := a.find(ctx, eng, id)
		if err != nil {
			return commit.Result{}, err
		}
		return s.Commit(ctx, ex)
	}
	s, err := eng.Named(id)
	if err != nil {
		return commit.Result{}, err
	}
	result, err := s.Commit(ctx, ex)
	if !errors.Is(err, turn.ErrNotFound) {
		return result, err
	}
	if s, err = a.sessionToAppend(ctx, eng, appendOptions{session: id, noCreate: o.noCreate}); err != nil {
		return commit.Result{}, err
	}
	return s.Commit(ctx, ex)
}

// exchange reads and checks an exchange before the store is opened, so that bad input never leaves an
// empty session behind.
func (a *app) exchange(ctx context.Context, file string, o commitOptions, bounds turn.Limits) (commit.Exchange, error) {
	if o.exportID != "" && !ids.Valid(o.exportID) {
		return commit.Exchange{}, usage("give 26 characters as in 01ARZ3NDEKTSV4RRFFQ69G5FAV", "export-id: %q is not a ULID", o.exportID)
	}
	if file == stdio && terminal.Is(a.stdin) {
		return commit.Exchange{}, usage("name a file or send JSON to standard input; see turnstone commit --help", "commit: there is nothing to commit")
	}
	var data []byte
	var err error
	if file == stdio {
		data, err = a.readInput(ctx, inputLimit(bounds), "--max-text or --max-blob")
	} else {
		data, err = readFile(file, inputLimit(bounds), "--max-text or --max-blob")
	}
	if err != nil {
		return commit.Exchange{}, err
	}
	if len(data) == 0 {
		return commit.Exchange{}, usage("name a file or send JSON to standard input; see turnstone commit --help", "commit: standard input is empty")
	}
	if data, err = plainJSON(data); err != nil {
		return commit.Exchange{}, fmt.Errorf("exchange: %w", err)
	}
	ex, err := commit.DecodeExchange(string(data))
	if err != nil {
		if !saysWhatToDo(err.Error()) {
			err = &advised{err: err, next: "see turnstone commit --help"}
		}
		return ex, fmt.Errorf("exchange: %w", err)
	}
	if o.exportID != "" {
		if ex.ExportID != "" && ex.ExportID != o.exportID {
			return ex, usage("leave one out", "export-id: the exchange says %s", ex.ExportID)
		}
		ex.ExportID = o.exportID
	}
	if n := len(ex.Candidates); n > memory.MaxCandidates {
		return ex, usage(fmt.Sprintf("hand over at most %d", memory.MaxCandidates), "exchange: candidates: there are %d", n)
	}
	for i, d := range ex.Turns {
		if d.ID == "" {
			d.ID = a.newID()
		}
		if _, err := d.Seal(bounds); err != nil {
			return ex, fmt.Errorf("exchange: %w", record.Within(record.Indexed("turns", i), err))
		}
	}
	return ex, nil
}

// changedWords says what became of a goal, an action or a note.
func changedWords(c commit.Changed) string {
	words := c.Kind + " " + c.ID
	if c.Title != "" {
		words += " " + strconv.Quote(c.Title)
	}
	return words + ": " + c.Status
}

// printCommitted tells people, or with --json a program, what became of the exchange.
func (a *app) printCommitted(session string, r commit.Result) error {
	if a.json {
		return a.print(append(r.AppendJSON(nil, session), '\n'))
	}
	if r.Repeated {
		return a.fields([2]string{"session", session}, [2]string{"status", string(r.Status) + " (committed before; nothing was written)"},
			[2]string{"turn", r.TurnID}, [2]string{"export", r.ExportID})
	}
	pairs := [][2]string{
		{"session", session}, {"status", string(r.Status)}, {"turn", r.TurnID}, {"export", r.ExportID},
		{"appended", appendedWords(r.Turns)}, {"remembered", rememberedWords(r)}, {"dropped", droppedWords(r)},
	}
	for _, changed := range r.Changed {
		pairs = append(pairs, [2]string{"changed", changedWords(changed)})
	}
	for _, refused := range r.Refused {
		pairs = append(pairs, [2]string{"refused", refused.What + ": " + refused.Reason})
	}
	for _, target := range r.Deferred {
		pairs = append(pairs, [2]string{"deferred", fmt.Sprintf("%s could not be written and is tried again; see: %s", target, a.line("daemon deferred"))})
	}
	for _, problem := range r.Problems {
		pairs = append(pairs, [2]string{"problem", problem})
	}
	return a.fields(pairs...)
}
