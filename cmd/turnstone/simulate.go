package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/simulate"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/replay/history"
)

type simulateOptions struct {
	window, index       int
	model, format, name string
	svg, prompts        string
	late, force, skip   bool
	limits              limits
	models              modelFlags
}

func (a *app) simulateCommand() *cobra.Command {
	var o simulateOptions
	cmd := &cobra.Command{
		Use:   "simulate FILE",
		Short: "Replay a conversation to see what its prompts cost and what they keep",
		Long: `Replay a conversation turn by turn through an engine of its own, and show what its prompts would have
cost and what of it would be left in the last one. FILE - is standard input. Nothing is written to your store.

Everything that turnstone import reads can be replayed, and so can JSON Lines of more than two speakers: the
first of them is the user, all others speak for the agent. A prompt is compiled before everything that the agent
says, and once more at the end. What the system opens with is pinned. No model takes part.

The same calls are made with four other ways to fit a conversation, in the same room:

  full history     everything, whether it fits or not
  drop oldest      the oldest turns go, as few as possible, at every call
  drop half        the oldest turns go until half the room is free, whenever it is full
  rolling summary  one summary of what went, written anew whenever 80 % are full

reuse is the share of tokens that stood at the same place in the prompt before, which providers cache; billed
counts those at a tenth. Of what was said, the last prompt holds a part word for word and names another by the
numbers of its turns; lost is the rest.`,
		Example: `  turnstone simulate talk.jsonl --window 8192
  turnstone simulate chat.json --window 32768 --model gpt-4o --svg chat.svg
  turnstone simulate talk.jsonl --late --prompts calls.jsonl --json`,
		Args: arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args[0]); err != nil {
				return err
			}
			return a.simulate(cmd.Context(), args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&o.window, "window", budget.FallbackContext, "size of the model's context in `tokens`")
	flags.StringVar(&o.model, "model", "", "`name` of the model whose tokens are meant (default: as most count)")
	flags.BoolVar(&o.late, "late", false, "end each prompt with recalled turns, 3 % of the window")
	flags.StringVar(&o.svg, "svg", "", "draw the sizes of the prompts into this `file`")
	flags.StringVar(&o.prompts, "prompts", "", "write each prompt into this `file`, as JSON Lines of conversation, call and prompt")
	flags.StringVar(&o.name, "name", "", "what the conversation is called there (default by the file)")
	flags.BoolVar(&o.force, "force", false, "write over files that are there")
	flags.StringVar(&o.format, "format", "", strings.Join(formats(history.Format.Reads), ", ")+" (default by the content)")
	flags.IntVar(&o.index, "index", 0, "which trajectory of a tau file, from 1")
	flags.BoolVar(&o.skip, "skip-too-large", false, "put a text in the place of what is larger than the limits")
	o.limits.addFlags(cmd)
	o.models.addFlags(cmd)
	choices(cmd, "format", formats(history.Format.Reads)...)
	completing(cmd, "model", a.completeModels)
	return cmd
}

func (o *simulateOptions) check(cmd *cobra.Command, file string) error {
	if _, err := budget.WindowOf(o.window); err != nil {
		return usage("give the model's context in tokens, such as 8192", "--window: %d is no such size, from %s to %s", o.window,
			tokensOf(budget.MinContext), tokensOf(budget.MaxContext))
	}
	if names := formats(history.Format.Reads); o.format != "" && !slices.Contains(names, o.format) {
		return usage("use "+strings.Join(names, ", "), "format: %q cannot be read", o.format)
	}
	if cmd.Flags().Changed("index") && o.index < 1 {
		return usage("count from 1", "index: %d is none", o.index)
	}
	if o.svg != "" && o.prompts != "" && filepath.Clean(o.svg) == filepath.Clean(o.prompts) {
		return usage("give two", "--svg and --prompts: both are %s", o.svg)
	}
	for _, path := range []string{o.svg, o.prompts} {
		if path == "" {
			continue
		}
		if outputPath(path) == stdio {
			return usage("give a file", "--svg and --prompts: standard output has the answer")
		}
		if _, err := checkOutput(path, o.force); err != nil {
			return err
		}
	}
	if o.name == "" {
		o.name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if file == stdio {
			o.name = "standard input"
		}
	}
	return nil
}

func (a *app) simulate(ctx context.Context, file string, o simulateOptions) error {
	k, err := a.known(o.models)
	if err != nil {
		return err
	}
	config, err := k.config(ctx, o.model)
	if err != nil {
		return err
	}
	profile, found := config.Profiles.Find(o.model)
	if found && o.window > profile.Context {
		return usage("give a smaller --window, or another --model", "--window: %s has a context of %s tokens, not %s", o.model,
			tokensOf(profile.Context), tokensOf(o.window))
	}
	if !found {
		a.unheardOf(o.model, "it is counted as most models do")
	}
	counter, err := a.counter(ctx, k, profile)
	if err != nil {
		return err
	}
	if config.Limits, err = o.limits.turnLimits(); err != nil {
		return err
	}
	if file == stdio && terminal.Is(a.stdin) {
		return usage("name a file or send a conversation to standard input", "simulate: there is nothing to replay")
	}
	text, err := a.countedText(ctx, file)
	if err != nil {
		return err
	}
	talk, err := simulate.Read(ctx, o.name, []byte(text), history.Format(o.format), history.Options{
		Limits: config.Limits, SkipTooLarge: o.skip, Trajectory: o.index,
	})
	if err == nil {
		err = checkIndex(o.index, talk.Format)
	}
	if err != nil {
		return importError(file, err)
	}
	report, err := a.replayed(ctx, talk, o, simulate.Options{
		Config: config, Model: o.model, Window: o.window, Late: o.late,
		Count: func(text string) int { return counter.Tokens(counter.Text(text)).Tokens },
	})
	if err != nil {
		return err
	}
	if o.svg != "" {
		drawn := plot(report)
		if err := writeWhole(o.svg, o.force, func(w io.Writer) error { _, err := w.Write(drawn); return err }); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(newSimulationJSON(o, report))
	}
	return a.printSimulation(o, report)
}

// replayed runs the replay with a bar, and writes the prompts on the way.
func (a *app) replayed(ctx context.Context, talk simulate.Conversation, o simulateOptions, so simulate.Options) (report *simulate.Report, err error) {
	bar := a.bar(progress.Config{Label: "replaying", Unit: "turns", Total: int64(len(talk.Entries))})
	defer bar.Clear()
	so.Progress = bar.Set
	if o.prompts == "" {
		return simulateSome(ctx, talk, so)
	}
	err = writeWhole(o.prompts, o.force, func(w io.Writer) error {
		so.Prompt = func(call int, text string) error {
			line, err := encodeJSON(promptLineJSON{talk.Name, call, text})
			if err != nil {
				return err
			}
			_, err = w.Write(append(line, '\n'))
			return err
		}
		report, err = simulateSome(ctx, talk, so)
		return err
	})
	return report, err
}

// simulateSome refuses a window that no prompt fits: there would be nothing to report but zeros.
func simulateSome(ctx context.Context, talk simulate.Conversation, so simulate.Options) (*simulate.Report, error) {
	report, err := simulate.Run(ctx, talk, so)
	if err == nil && report.Ours.Calls == 0 {
		return nil, &reworded{err: budget.ErrOverBudget, text: fmt.Sprintf("simulate: no prompt fits a window of %s tokens; give a larger --window", tokensOf(so.Window))}
	}
	return report, err
}

// promptLineJSON is a prompt as it was sent to the model.
type promptLineJSON struct {
	Conversation string `json:"conversation"`
	Call         int    `json:"call"`
	Prompt       string `json:"prompt"`
}
