package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

type importOptions struct {
	session, format string
	index           int
	skip            bool
	about           description
	limits          limits
}

func (a *app) importCommand() *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Make a session of a conversation that another program wrote",
		Long: `Make a session of a conversation that another program wrote. FILE - is standard input. The format is
told from the content, or named with --format:

  session    one JSON document with messages and toolCalls
  lines      JSON Lines: turns as turnstone history --json writes them, {"speaker","text"} or messages;
             of two named speakers the first is the user
  openai     messages of chat completions: a list, {"messages":[...]} or one a line
  anthropic  {"system":...,"messages":[...]} with blocks, or a list
  tau        tau-bench trajectories, of which --index chooses one

What was said keeps its order and, where the file has them, its times and ids. What could not be carried
as it was is listed after the answer: calls without a result are closed as cancelled, results of no call
become texts, and so on. What the system says before anybody else is pinned, since it is what the
conversation stands on; the answer says so, and turnstone pin --remove ends it.

The file is read twice: once to the end before anything is written, and then in one update of the store. So
a file that is broken anywhere, or an interruption, leaves nothing behind. The session must be new: under
an id that is taken, the file's or that of --session, the command changes nothing and exits with 4, so that
running it again does no harm. A file that names no session gets a new id each time; give --session to
make that safe to repeat too. For bundles, see turnstone bundle import.`,
		Example: `  turnstone import chat.json --session trip
  turnstone import trajectories.json --format tau --index 3
  other-program export | turnstone import - --session other --json`,
		Args: arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return a.importHistory(cmd.Context(), args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&o.session, "session", "s", "", "the new session's `id` (default the file's, or a new one)")
	flags.StringVar(&o.format, "format", "", strings.Join(formats(history.Format.Reads), ", ")+" (default by the content)")
	flags.IntVar(&o.index, "index", 0, "which trajectory of a tau file, from 1")
	flags.BoolVar(&o.skip, "skip-too-large", false, "put a text in the place of what is larger than the limits")
	o.about.addFlags(cmd)
	o.limits.addFlags(cmd)
	choices(cmd, "format", formats(history.Format.Reads)...)
	return cmd
}

// formats are the names of those that can be read, or written.
func formats(usable func(history.Format) bool) []string {
	var names []string
	for _, f := range history.Formats() {
		if usable(f) {
			names = append(names, string(f))
		}
	}
	return names
}

func (o *importOptions) check(cmd *cobra.Command) error {
	if names := formats(history.Format.Reads); o.format != "" && !slices.Contains(names, o.format) {
		return usage("use "+strings.Join(names, ", "), "format: %q cannot be read", o.format)
	}
	if cmd.Flags().Changed("session") {
		if _, err := turn.NewKey("", o.session); err != nil {
			return err
		}
	}
	if cmd.Flags().Changed("index") && o.index < 1 {
		return usage("count from 1", "index: %d is none", o.index)
	}
	if o.format != "" {
		return checkIndex(o.index, history.Format(o.format))
	}
	return nil
}

// checkIndex refuses to choose from a file of one conversation.
func checkIndex(index int, f history.Format) error {
	if index > 0 && f != history.Tau {
		return usage("leave it out", "index: only a tau file has several conversations, and this is %s", f)
	}
	return nil
}

func (a *app) importHistory(ctx context.Context, file string, o importOptions) error {
	bounds, err := o.limits.turnLimits()
	if err != nil {
		return err
	}
	return a.withBundle(ctx, file, func(open func() (io.ReadCloser, error)) error {
		in := &input{app: a, open: open}
		if err := a.tryImport(ctx, in, o, bounds); err != nil {
			return importError(file, err)
		}
		return a.withEngine(ctx, toMake, turnstone.Config{Limits: bounds}, func(eng *turnstone.Engine) error {
			defer func() { in.bar.Clear() }()
			s, got, err := eng.ImportHistory(ctx, in.next, turnstone.ImportOptions{
				Format: history.Format(o.format), Session: o.about.info(o.session), Trajectory: o.index, SkipTooLarge: o.skip,
			})
			if err != nil {
				return importError(file, advise(err, turn.ErrExists, "nothing was changed; give another id with --session"))
			}
			a.stored = "session " + s.ID() + " is stored"
			info, err := s.Info(ctx)
			if err != nil {
				return err
			}
			pins, err := s.Pins(ctx)
			if err != nil {
				return err
			}
			in.bar.Clear()
			return a.printImported(info, got, pins)
		})
	})
}

// tryImport reads all of an input for which a store would have to be made: bad input makes none. It also reads one
// of which a part is chosen, to know whether it has parts.
func (a *app) tryImport(ctx context.Context, in *input, o importOptions, bounds turn.Limits) error {
	p, err := a.storePlace()
	if err != nil {
		return err
	}
	f, err := in.next()
	if err != nil {
		return err
	}
	defer in.bar.Clear()
	if !p.isNew() && o.index == 0 {
		return f.Close()
	}
	options := history.Options{Limits: bounds, SkipTooLarge: o.skip, Trajectory: o.index}
	got, err := history.Import(ctx, f, history.Format(o.format), options, func(history.Entry) error { return nil })
	switch {
	case err != nil:
	case got.Report.Turns == 0:
		err = &turn.FieldError{Name: "input", Problem: "has no turns", Fix: "give a conversation that somebody takes part in"}
	default:
		err = checkIndex(o.index, got.Format)
	}
	return errors.Join(err, f.Close())
}

// importError names the file and the flags in an error about its content.
func importError(file string, err error) error {
	var bad *turn.FieldError
	if !errors.As(err, &bad) {
		return err
	}
	if file == stdio {
		file = "standard input"
	}
	text := err.Error()
	for said, flag := range map[string]string{
		"; raise the limit, or import with what is too large left out": "; raise --max-text or --max-blob, or give --skip-too-large",
		"; shorten it, or raise the limits where that is meant":        "; shorten it, or raise --max-text or --max-blob",
		"; choose one from": "; choose one with --index from",
		"; name it":         "; name it with --format: " + strings.Join(formats(history.Format.Reads), ", "),
	} {
		text = strings.Replace(text, said, flag, 1)
	}
	return &reworded{err: err, text: file + ": " + text}
}

// input is a file that is read more than once.
type input struct {
	app   *app
	open  func() (io.ReadCloser, error)
	bar   *progress.Bar
	times int
}

// readings are how often the file is opened before its turns are written: by tryImport, and by the engine to
// check it.
const readings = 2

// next opens the file once more, and draws how much of it is read.
func (in *input) next() (io.ReadCloser, error) {
	f, err := in.open()
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	config := progress.Config{Label: "reading", Unit: "bytes"}
	if in.times++; in.times > readings {
		config.Label = "importing"
	}
	if file, ok := f.(*os.File); ok {
		info, err := file.Stat()
		if err == nil && info.IsDir() {
			return nil, errors.Join(usage("name a file in it", "file %s: is a folder", file.Name()), f.Close())
		}
		if err == nil {
			config.Total = info.Size()
		}
	}
	in.bar.Clear()
	in.bar = in.app.bar(config)
	return &tracking{f, in.bar}, nil
}

// tracking draws how much was read.
type tracking struct {
	io.ReadCloser
	bar *progress.Bar
}

func (t *tracking) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.bar.Add(int64(n))
	return n, err
}

type importedJSON struct {
	sessionJSON
	Format string     `json:"format"`
	Pinned []int64    `json:"pinned,omitempty"`
	Losses []lossJSON `json:"losses"`
}

type lossJSON struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	First string `json:"first,omitempty"`
	Done  string `json:"done"`
}

func newLossesJSON(r history.Report) []lossJSON {
	losses := []lossJSON{}
	for _, l := range r.Losses {
		losses = append(losses, lossJSON{l.Kind, l.Count, l.First, l.Done})
	}
	return losses
}

func (a *app) printImported(info turn.SessionInfo, got history.Imported, pins []int64) error {
	if a.json {
		return a.printJSON(importedJSON{newSessionJSON(info), string(got.Format), pins, newLossesJSON(got.Report)})
	}
	if err := a.printf("imported %s: %s, from %s", info.Session, progress.Count(info.Head, "turn"), got.Format); err != nil {
		return err
	}
	if len(pins) > 0 {
		numbers := strings.Trim(strings.ReplaceAll(fmt.Sprint(pins), " ", ", "), "[]")
		if err := a.printf("  pinned, since the system opens with it: turn %s", short(numbers, 60)); err != nil {
			return err
		}
	}
	for _, l := range got.Report.Losses {
		if err := a.printf("  %s", lossLine(l)); err != nil {
			return err
		}
	}
	return nil
}
