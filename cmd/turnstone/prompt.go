package main

import (
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
	at               int64
	to               addressee
	explain, preview bool
	late             []string
	settings         settingsFlags
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
have one share together.

A prompt begins with --system, --mandate, --skill, --check, --sticky and --tools. Give any of them, and
they replace all that were given before; give none, and the session's last ones are used. --no-settings
takes them away. So it is with --model and --context: without them it is for the session's model, or that
of its last prompt, with that prompt's context if the model is the same. Tools are a JSON list, of OpenAI's form or of {"name","description","schema"}.

It differs from the one before only at its end, unless something opens a new epoch: other settings, another
goal, a pin of something not shown, or a conversation that reached its threshold. Standard error says so.
Each prompt is noted, so that --at can make it again byte for byte, proven by its hash; --preview notes
nothing.

What does not fit is never printed: standard error shows the account, and the exit code is 8.`,
		Example: `  turnstone prompt --session demo --model llama3.2 --system system.txt
  turnstone prompt --session demo --format ollama | curl -d @- http://127.0.0.1:11434/api/chat
  turnstone prompt --session demo --explain --context 4096 --preview
  turnstone prompt --session demo --at 12 --format openai`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			at, err := position(cmd, o.at)
			if err != nil {
				return err
			}
			o.at = at
			return a.promptOf(cmd, o)
		},
	}
	a.addSessionFlag(cmd, &o.session)
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.format, "format", string(wire.Text), strings.Join(promptFormats, ", "))
	addAtFlag(cmd, &o.at, "as it was after this `turn` (default now)")
	flags.BoolVar(&o.explain, "explain", false, "show where every token goes in place of the prompt")
	flags.BoolVar(&o.preview, "preview", false, "note nothing")
	a.addAddresseeFlags(cmd, &o.to)
	o.settings.addFlags(cmd)
	flags.StringArrayVar(&o.late, "late", nil, "a `text` for the end, such as what was recalled; the most important first")
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
	for _, name := range append([]string{"preview", "late"}, settingsNames...) {
		if err := exclusive(cmd, "at", name); err != nil {
			return err
		}
	}
	if err := o.to.check(cmd); err != nil {
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
	return a.withPrompts(ctx, o.session, o.to, o.models, func(eng *turnstone.Engine, s *turnstone.Session, to addressee) error {
		// A body that names no model is refused before anything is noted of it.
		if to.model == "" && o.format != string(wire.Text) && !o.explain {
			return a.noModel(s.ID(), o.format)
		}
		options := turnstone.PromptOptions{Settings: settings, Model: to.model, Context: to.context, Late: o.late, Preview: o.preview}
		shown := shownPrompt{session: s.ID(), preview: o.preview}
		if o.at == turnstone.Head {
			shown.Prompt, err = s.Prompt(ctx, options)
		} else if _, err = reach(ctx, s, o.at); err == nil {
			shown.past = true
			shown.Prompt, shown.recorded, err = s.PromptAt(ctx, o.at, options)
		}
		if err != nil {
			return a.unprompted(err)
		}
		a.notePrompt(shown)
		return a.printPrompt(ctx, eng, shown, o)
	})
}

// shownPrompt is a prompt and how it came about.
type shownPrompt struct {
	*prompt.Prompt
	session        string
	past, recorded bool // past: made for --at; recorded: it was compiled then
	preview        bool
}
