package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/turn"
)

// forgetOptions are the flags of all three.
type forgetOptions struct {
	endOptions
	yes, dryRun bool
}

func (a *app) forgetCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "forget",
		Short: "Forget turns, a session or a user, wherever they are kept",
		Long: `Remove what was said and all that was made of it. There is no way back.

Removed:
  - turns, with their words in the index, images and recordings
  - memory, notes, slots, summaries, checkpoints, drafts, traces and exports made of them
  - bundles and documents that session end wrote, wherever they are: they are written again without it
  - the words in goals and actions, which stay
Reached too, and named in the receipt:
  - forks that share a turn
  - imports that are copies of it
Left:
  - the number of every turn, with a tombstone; a prompt that may have shown the turn cannot be made again
  - turns that a session forgotten as a whole shares with the session it was forked from
  - copies that others have: backups, exported files, daemons that were sent exports, the model's provider

First it shows what will be removed, and which turns stay and still say something of it, with the command that forgets
them too. On a terminal it then asks; elsewhere it needs --yes.`,
		Example: "  turnstone forget turn tidewatch 12 --dry-run\n  turnstone forget session tidewatch\n  turnstone forget user alice",
	}, a.forgetTurnCommand(), a.forgetSessionCommand(), a.forgetUserCommand())
}

func (a *app) forgetTurnCommand() *cobra.Command {
	var o forgetOptions
	cmd := &cobra.Command{
		Use:   "turn SESSION TURN...",
		Short: "Forget turns of a session",
		Long: `Forget turns of a session, named by their numbers or ids. A tool call and its results go together, whichever
of them is named.`,
		Example:           "  turnstone forget turn tidewatch 12\n  turnstone forget turn tidewatch 12 13 --dry-run",
		Args:              arguments("SESSION", "TURN..."),
		ValidArgsFunction: a.completeFirstSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			target := turnstone.Target{Session: args[0]}
			for _, name := range args[1:] {
				if seq, err := strconv.ParseInt(name, 10, 64); err == nil {
					target.Seqs = append(target.Seqs, seq)
				} else {
					target.TurnIDs = append(target.TurnIDs, name)
				}
			}
			return a.forgetTarget(cmd.Context(), o, target, "see which there are with: "+a.line("query --session "+args[0]))
		},
	}
	o.flags(cmd)
	return cmd
}

func (a *app) forgetSessionCommand() *cobra.Command {
	var o forgetOptions
	cmd := &cobra.Command{
		Use:   "session SESSION",
		Short: "Forget all of a session",
		Long: `Forget all that was said in a session, also where forks of it and imports show it. What it shares with the session
that it was forked from itself is that one's, and stays: the receipt says how many turns. Forget them there to be rid of
them. The session stays too, with a tombstone for every turn, and can be talked in again.`,
		Example:           "  turnstone forget session tidewatch",
		Args:              arguments("SESSION"),
		ValidArgsFunction: a.completeFirstSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.forgetTarget(cmd.Context(), o, turnstone.Target{Session: args[0], All: true}, "see which there are with: "+a.line("session list"))
		},
	}
	o.flags(cmd)
	return cmd
}

func (a *app) forgetUserCommand() *cobra.Command {
	var o forgetOptions
	cmd := &cobra.Command{
		Use:   "user USER",
		Short: "Forget all sessions and all memory of a user",
		Long: `Forget all sessions of a user, one after the other, and all that is remembered of the user. Broken off, it
goes on where it was when it is asked for again.`,
		Example:           "  turnstone forget user alice",
		Args:              arguments("USER"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.forgetTarget(cmd.Context(), o, turnstone.Target{User: args[0]}, "see whose sessions there are with: "+a.line("session list"))
		},
	}
	o.flags(cmd)
	return cmd
}

func (o *forgetOptions) flags(cmd *cobra.Command) {
	o.idleAfter = time.Hour
	flags := cmd.Flags()
	flags.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only show what would be removed")
	flags.StringVar(&o.dir, "bundle-dir", "", "one more `folder` to look for bundles in (default where session end wrote them)")
	flags.StringVar(&o.sessions, "sessions-dir", "", "one more `folder` to look for session documents in (default where session end wrote them)")
}

func (a *app) forgetTarget(ctx context.Context, o forgetOptions, target turnstone.Target, hint string) error {
	config, err := a.endConfig(o.endOptions)
	if err != nil {
		return err
	}
	return a.withEngine(ctx, toFind, config, func(eng *turnstone.Engine) error {
		forget := func(preview bool) (turnstone.Receipt, error) {
			target.Preview = preview
			r, err := eng.Forget(ctx, target)
			return r, advise(err, turn.ErrNotFound, hint)
		}
		r, err := forget(true)
		if err != nil {
			return err
		}
		if o.dryRun {
			return a.printForgotten(r)
		}
		if !o.yes {
			if sure, err := a.sureToForget(ctx, r); err != nil || !sure {
				return err
			}
		}
		bar := a.bar(progress.Config{Label: "forgetting"})
		r, err = forget(false)
		bar.Clear()
		if err != nil {
			return halfForgotten(ctx, err)
		}
		a.stored = "it is forgotten"
		for _, warning := range r.Warnings {
			a.note("warning: %s", terminal.CleanLine(warning))
		}
		return a.printForgotten(r)
	})
}

// halfForgotten says of an interruption that it may have come in the middle: sessions are forgotten one after the other, and
// their files after them.
func halfForgotten(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return &interrupted{err: err, left: "some of it may be forgotten already; ask again, to forget the rest"}
}

// sureToForget shows what will be removed and asks whether it is to be.
func (a *app) sureToForget(ctx context.Context, r turnstone.Receipt) (bool, error) {
	for _, line := range a.forgottenLines(r) {
		a.note("%s", line)
	}
	if !terminal.Is(a.stdin) {
		return false, usage("look at it with --dry-run, then give --yes", "nobody can be asked whether to forget this for good")
	}
	sure, err := a.ask(ctx, "Forget this for good?")
	if err == nil && !sure {
		a.note("nothing was forgotten")
	}
	return sure, err
}

func (a *app) printForgotten(r turnstone.Receipt) error {
	if a.json {
		return a.printJSON(r)
	}
	for _, line := range a.forgottenLines(r) {
		if err := a.printf("%s", line); err != nil {
			return err
		}
	}
	return nil
}

// forgottenLines is a receipt in words.
func (a *app) forgottenLines(r turnstone.Receipt) []string {
	did := "forgot"
	if r.Preview {
		did = "would forget"
	}
	lines := []string{fmt.Sprintf("%s %s of %s", did, progress.Count(int64(r.Turns), "turn"), strings.Join(r.Sessions, ", "))}
	if len(r.Sessions) == 0 {
		lines[0] = did + " what is remembered of a user without sessions"
	}
	if r.Shared > 0 {
		stay := "stay"
		if r.Preview {
			stay = "would stay"
		}
		lines = append(lines, fmt.Sprintf("  %s that it shares with %s %s: forget them there", progress.Count(r.Shared, "turn"), r.Parent, stay))
	}
	for _, c := range r.Removed {
		lines = append(lines, fmt.Sprintf("  %s: %d", cmp.Or(removedThings[c.Where], "other things"), c.Count))
	}
	again := "written again without it"
	if r.Preview {
		again = "will be " + again
	}
	for _, file := range r.Files {
		lines = append(lines, fmt.Sprintf("  %s: %s", terminal.CleanLine(file), again))
	}
	for _, file := range r.Unreachable {
		lines = append(lines, fmt.Sprintf("  %s: not reached; if you moved or copied it, see to it there", terminal.CleanLine(file)))
	}
	return slices.Concat(lines, touchedLines(r), a.repeatedLines(r))
}

// repeatedLines are the turns that still say something of what a receipt forgets, and what forgets them too.
func (a *app) repeatedLines(r turnstone.Receipt) (lines []string) {
	for _, t := range r.Repeats[:min(len(r.Repeats), mostTouched)] {
		lines = append(lines, "  "+stillSays(t))
	}
	if more := len(r.Repeats) - len(lines) + r.RepeatsMore; more > 0 {
		lines = append(lines, fmt.Sprintf("  %s that still say something of it; --json names up to 64", progress.Count(int64(more), "more turn")))
	}
	them := "it"
	if len(r.Repeats) > 1 {
		them = "them"
	}
	for rest := r.Repeats; len(rest) > 0; {
		session, command := rest[0].Session, "forget turn "+rest[0].Session
		for len(rest) > 0 && rest[0].Session == session {
			command += " " + strconv.FormatInt(rest[0].Seq, 10)
			rest = rest[1:]
		}
		lines = append(lines, fmt.Sprintf("  forget %s too with: %s", them, a.line(command)))
	}
	return lines
}

// stillSays names a turn that repeats something, and in a preview what.
func stillSays(t turnstone.Repeat) string {
	said := "something of it"
	for i, text := range t.Texts {
		text = terminal.CleanLine(strconv.Quote(text))
		if i == 0 {
			said = text
		} else {
			said += ", " + text
		}
	}
	return fmt.Sprintf("turn %d of %s (%s) still says %s", t.Seq, t.Session, t.Role, said)
}

// mostTouched is how many things of a receipt are named in words; --json names more.
const mostTouched = 20

// touchedLines are what a receipt reached that is no turn.
func touchedLines(r turnstone.Receipt) []string {
	var lines []string
	for _, t := range r.Touched[:min(len(r.Touched), mostTouched)] {
		line := fmt.Sprintf("  %s %s", touchedThings[t.Kind], terminal.CleanLine(t.ID))
		if len(r.Sessions) > 1 {
			line += " in " + t.Session
		}
		for i, text := range t.Texts {
			mark := ", "
			if i == 0 {
				mark = ": "
			}
			line += mark + terminal.CleanLine(strconv.Quote(text))
		}
		lines = append(lines, line)
	}
	if more := len(r.Touched) - len(lines) + r.TouchedMore; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more; --json names up to 256", more))
	}
	return lines
}

// touchedThings are the kinds of what receipts name, in words.
var touchedThings = map[string]string{
	"goal": "words of goal", "action": "words of action", "slot": "what is in slot", "item": "item of memory", "note": "note",
}

// removedThings are the places that receipts name, in words.
var removedThings = map[string]string{
	"turns": "turns and summaries in the log", "open_calls": "open calls", "blob_refs": "references to images and recordings",
	"blobs": "images and recordings", "sessions": "descriptions of sessions", "exports": "exports", "revisions": "dialogue states",
	"intentions": "versions of goals and actions", "observations": "notes", "digests": "rolling summaries", "deferrals": "things to be tried again",
	"events": "events", "dead_letters": "dead letters", "trace_parts": "parts of traces", "checkpoints": "checkpoints", "epochs": "epochs of prompts",
	"prompts": "prompts that cannot be made again", "snapshots": "names of snapshots", "drafts": "drafts of replies", "bookmarks": "bookmarks",
	"chain_links": "hashes that find the session by its history", "memory_items": "items of memory", "pins": "pins", "bundle": "bundles", "document": "session documents",
}
