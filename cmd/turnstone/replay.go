package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// The parts of a step that can be shown.
var stepParts = []string{"turn", "state", "window", "history"}

const replayKeys = `n, Enter  the next turn           s  the dialogue state
p         the turn before         w  the recent window
g N       turn N, 0 the start     h  the compiled history
t         this turn again         ?  these commands
q         the end`

type replayOptions struct {
	session string
	at      int64
	history turn.HistoryOptions
	show    []string
	limits  limits
}

func (a *app) replayCommand() *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay [BUNDLE]",
		Short: "Step through a session or a bundle, forwards and backwards",
		Long: `Step through a session or a bundle file, forwards and backwards, and see what was known at each
turn. Commands are read a line each, from the terminal or a pipe:

` + replayKeys + `

A bundle is played from memory; nothing is stored. With --json every step is one object with turn,
state, window and history.`,
		Example: "  turnstone replay --session tidewatch\n  turnstone replay tidewatch.bundle --at 12\n  printf 'g 3\\ns\\n' | turnstone replay tidewatch.bundle --json",
		Args:    arguments("[BUNDLE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, part := range o.show {
				if !slices.Contains(stepParts, part) {
					return usage("use "+strings.Join(stepParts, ", "), "show: %q is no part of a step", part)
				}
			}
			if o.at < 0 {
				return usage("give the number of a turn, or 0 for the beginning", "at: %d is negative", o.at)
			}
			if o.history.Turns < 1 {
				return usage("give at least 1", "turns: %d is no length of a history", o.history.Turns)
			}
			if len(o.show) == 0 {
				return usage("use "+strings.Join(stepParts, ", "), "show: is empty")
			}
			if (len(args) == 0) == (o.session == "") {
				return usage("give one of them", "replay: needs a BUNDLE or a --session")
			}
			if len(args) > 0 {
				return a.replayBundle(cmd.Context(), args[0], o)
			}
			return a.replaySession(cmd.Context(), o)
		},
	}
	a.addSessionFlag(cmd, &o.session)
	flags := cmd.Flags()
	addAtFlag(cmd, &o.at, "start after this `turn`")
	flags.IntVar(&o.history.Turns, "turns", 50, "how much history to compile")
	flags.BoolVar(&o.history.KeepSystem, "keep-system", false, "system turns in the history too")
	flags.StringSliceVar(&o.show, "show", []string{"turn", "state"}, "what to show at each step: "+strings.Join(stepParts, ", "))
	o.limits.addFlags(cmd)
	choices(cmd, "show", stepParts...)
	return cmd
}

func (a *app) replaySession(ctx context.Context, o replayOptions) (err error) {
	key, err := turn.NewKey(a.tenant(), o.session)
	if err != nil {
		return err
	}
	st, err := a.openStore(ctx, toFind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return a.play(ctx, st, key, o)
}

func (a *app) replayBundle(ctx context.Context, path string, o replayOptions) (err error) {
	if path == stdio {
		return usage("give a file", "replay: standard input is for commands")
	}
	bounds, err := o.limits.turnLimits()
	if err != nil {
		return err
	}
	st := mem.New(mem.Config{})
	defer func() { err = errors.Join(err, st.Close()) }()
	var info turn.SessionInfo
	err = a.withBundle(ctx, path, func(open func() (io.ReadCloser, error)) error {
		return a.tracked("read", func(report func(done, total int64)) (err error) {
			info, err = replay.Import(ctx, st, open, replay.ImportOptions{Limits: bounds, Progress: report})
			return err
		})
	})
	if errors.Is(err, fs.ErrNotExist) {
		next := "give a bundle, as " + a.line("bundle export") + " writes one, or a session with --session"
		if a.isSession(ctx, path) {
			next = "a session has this name, step through it with: " + a.line("replay --session "+quoted(path))
		}
		return &reworded{err: err, text: "replay: there is no file " + path + "; " + next}
	}
	if err != nil {
		return flagged(err)
	}
	return a.play(ctx, st, info.Key, o)
}

// isSession reports whether a session has this name. A store that cannot be read has none.
func (a *app) isSession(ctx context.Context, name string) bool {
	err := a.withEngine(ctx, toFind, turnstone.Config{}, func(eng *turnstone.Engine) error {
		_, err := eng.Find(ctx, name)
		return err
	})
	return err == nil
}

func (a *app) play(ctx context.Context, st store.Store, key turn.Key, o replayOptions) error {
	player, err := replay.Play(ctx, st, key, o.history)
	if err != nil {
		return advise(err, turn.ErrNotFound, "see which there are with: "+a.line("session list"))
	}
	d := &deck{app: a, player: player, show: o.show, interactive: terminal.Is(a.stdin)}
	return d.run(ctx, o.at)
}

// heading stands over a part of a step.
func (a *app) heading(format string, args ...any) error {
	return a.printf("%s", a.style().Strong("-- "+fmt.Sprintf(format, args...)))
}
