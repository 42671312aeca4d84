package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
)

var promptFormats = []string{string(wire.Text), string(wire.Ollama), string(wire.OpenAI), string(wire.Anthropic)}

type promptOptions struct {
	session, format  string
	which            which
	to               addressee
	explain, preview bool
	list             bool
	late             []string
	settings         settingsFlags
	compression      compressionFlags
	models           modelFlags
}

func (a *app) promptCommand() *cobra.Command {
	var o promptOptions
	cmd := &cobra.Command{
		Use:   "prompt",
		Short: "Compile what the model is to see now, or show what it saw",
		Long: `Compile what the model is to see now, within its window to the token, or show what it saw after an
earlier turn. It is printed

  text       for people (the default)
  ollama     as the body of a POST to /api/chat
  openai     as the body of a POST to /v1/chat/completions
  anthropic  as the body of a POST to /v1/messages

and with --json alone as one object that also says where every token goes. With --explain only that is
shown: as a bar of the window, a letter for each part, and as a table. System prompt, tools, files and goal
have one share together. With the system prompt stands what the model's template adds to every prompt, also
where there is no system prompt. A model that takes no pictures gets them described in words.

A prompt begins with --system, --mandate, --skill, --check, --sticky and --tools. Give any of them, and
they replace all that were given before; give none, and the session's last ones are used. --no-settings
takes them away. So it is with --model and --context: without them it is for the session's model, or that
of its last prompt, with that prompt's context if the model is the same. So another --model is remembered, and
turns leave the prompt that do not fit a smaller window; standard error says so, with the command that takes it
back. --preview and --explain only look and change nothing. Tools are a JSON list, of OpenAI's form or of
{"name","description","schema"}.

An epoch is a run of prompts that all begin with the same bytes, each going on where the one before ended,
so that a provider's cache keeps working. Other settings, another goal, a pin of something not shown, or a
conversation that reached its threshold open a new one, and standard error says so. Of turns that leave then,
summaries stay, and what the user said; see turnstone checkpoints. --strategy, --threshold, --preserve-recent and
--summary-max say when turns leave and what of, and turnstone undo takes it back.

Each prompt is noted, unless --preview or --explain is given. --list shows those there are, oldest first;
--number makes one of them again byte for byte, and --at the last one after a turn. That is proven by the
sha256 of the canonical JSON of its tools and messages, which --json prints: the tools on one line, then a
line for each message. It is the same for every --format. Of a turn after which none was compiled, --at
shows what it would have been.

What does not fit is never printed: the account is shown, on standard error or, with --json alone, as an
object with "account", and the exit code is 8.`,
		Example: `  turnstone prompt --session tidewatch --model llama3.2 --system system.txt
  turnstone prompt --session tidewatch --format ollama | curl -d @- http://127.0.0.1:11434/api/chat
  turnstone prompt --session tidewatch --explain --context 4096
  turnstone prompt --session tidewatch --list
  turnstone prompt --session tidewatch --at 12 --format openai`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			if o.list {
				return a.listPrompts(cmd.Context(), o.session)
			}
			return a.promptOf(cmd, o)
		},
	}
	a.addSessionFlag(cmd, &o.session)
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.format, "format", string(wire.Text), strings.Join(promptFormats, ", "))
	addAtFlag(cmd, &o.which.at, "as it was after this `turn` (default now)")
	flags.Int64Var(&o.which.number, "number", 0, "the one that --list shows under this `number`")
	flags.BoolVar(&o.list, "list", false, "list the prompts that were compiled")
	flags.BoolVar(&o.explain, "explain", false, "show where every token goes in place of the prompt; implies --preview")
	flags.BoolVar(&o.preview, "preview", false, "only look: note nothing, and change nothing")
	a.addAddresseeFlags(cmd, &o.to)
	o.settings.addFlags(cmd)
	flags.StringArrayVar(&o.late, "late", nil, "a `text` for the end, such as what was recalled; the most important first")
	o.compression.addFlags(cmd)
	o.compression.addOffFlags(cmd)
	o.models.addFlags(cmd)
	choices(cmd, "format", promptFormats...)
	return cmd
}

func (o *promptOptions) check(cmd *cobra.Command) error {
	if err := required(cmd, "session"); err != nil {
		return err
	}
	if !slices.Contains(promptFormats, o.format) {
		return usage("use "+strings.Join(promptFormats, ", "), "format: %q is not known", o.format)
	}
	for _, past := range []string{"at", "number", "list"} {
		for _, name := range append([]string{"preview", "late"}, settingsNames...) {
			if err := exclusive(cmd, past, name); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"at", "number", "explain", "format", "model", "context"} {
		if err := exclusive(cmd, "list", name); err != nil {
			return err
		}
	}
	for _, two := range [][2]string{{"at", "number"}, {"explain", "format"}} {
		if err := exclusive(cmd, two[0], two[1]); err != nil {
			return err
		}
	}
	if cmd.Flags().Changed("number") && o.which.number < 1 {
		return usage("they are counted from 1; see which there are with --list", "number: %d is none", o.which.number)
	}
	var err error
	if o.which.at, err = position(cmd, o.which.at); err != nil {
		return err
	}
	if err := errors.Join(o.to.check(cmd), o.compression.check()); err != nil {
		return err
	}
	return o.settings.check(cmd)
}

// promptOf compiles and prints.
func (a *app) promptOf(cmd *cobra.Command, o promptOptions) error {
	ctx := cmd.Context()
	settings, err := a.settings(cmd, o.settings)
	if err != nil {
		return err
	}
	preview := o.preview || o.explain
	return a.withPrompts(ctx, o.session, o.which, o.to, o.models, o.compression, func(p *prompting) error {
		// A body that names no model is refused before anything is noted of it.
		if p.to.model == "" && o.format != string(wire.Text) && !o.explain {
			return a.noModel(p.session.ID(), o.format)
		}
		options := turnstone.PromptOptions{Settings: settings, Model: p.to.model, Context: p.to.context, Late: o.late, Preview: preview}
		shown := shownPrompt{session: p.session.ID(), preview: preview}
		switch {
		case p.call != nil:
			shown.past, shown.recorded, shown.number, shown.several = true, true, p.call.Number, p.several
			shown.Prompt, err = p.session.Again(ctx, *p.call)
		case o.which.at == turnstone.Head:
			shown.Prompt, err = p.session.Prompt(ctx, options)
		default:
			if _, err = reach(ctx, p.session, o.which.at); err == nil {
				shown.past = true
				shown.Prompt, shown.recorded, err = p.session.PromptAt(ctx, o.which.at, options)
			}
		}
		if err != nil {
			return a.unprompted(p, err, o.ownObject())
		}
		a.notePrompt(p, shown)
		a.noteUnused(p, o.to)
		if !shown.past && !preview {
			a.noteChanged(p, shown.Prompt, o)
		}
		return a.printPrompt(ctx, p, shown, o)
	})
}

// ownObject says that --json means an object of ours, and not a body in the words of a provider.
func (o *promptOptions) ownObject() bool { return o.explain || o.format == string(wire.Text) }

// shownPrompt is a prompt and how it came about.
type shownPrompt struct {
	*prompt.Prompt
	session        string
	past, recorded bool // past: made for --at or --number; recorded: it was compiled then
	number         int64
	several        bool // it is the last of several after its turn
	preview        bool
}
