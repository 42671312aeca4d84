package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

var promptFormats = []string{string(wire.Text), string(wire.Ollama), string(wire.OpenAI), string(wire.Anthropic)}

type promptOptions struct {
	session, format  string
	at               int64
	model            string
	context          int
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
takes them away. Tools are a JSON list, of OpenAI's form or of {"name","description","schema"}.

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
	flags.StringVar(&o.model, "model", "", "who it is for (default the session's model)")
	flags.IntVar(&o.context, "context", 0, "size of the model's context in `tokens` (default by the model; see turnstone models)")
	o.settings.addFlags(cmd)
	flags.StringArrayVar(&o.late, "late", nil, "a `text` for the end, such as what was recalled; the most important first")
	o.models.addFlags(cmd)
	choices(cmd, "format", promptFormats...)
	completing(cmd, "model", a.completeModels)
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
	if cmd.Flags().Changed("context") && o.context <= 0 {
		return usage("give a number of tokens such as 8192", "context: %d is no size", o.context)
	}
	return o.settings.check(cmd)
}

// promptOf compiles and prints.
func (a *app) promptOf(cmd *cobra.Command, o promptOptions) error {
	ctx := cmd.Context()
	options := turnstone.PromptOptions{Model: o.model, Context: o.context, Late: o.late, Preview: o.preview}
	var err error
	if options.Settings, err = a.settings(cmd, o.settings); err != nil {
		return err
	}
	return a.withPrompts(ctx, o.session, o.model, o.models, func(eng *turnstone.Engine, s *turnstone.Session) error {
		if err := a.addressed(ctx, s, o); err != nil {
			return err
		}
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

// addressed refuses a body of a request that would name no model, before anything is noted of it.
func (a *app) addressed(ctx context.Context, s *turnstone.Session, o promptOptions) error {
	if o.format == string(wire.Text) || o.explain || o.model != "" || o.at != turnstone.Head {
		return nil
	}
	info, err := s.Info(ctx)
	if err == nil && info.Model == "" {
		err = a.noModel(s.ID(), o.format)
	}
	return err
}

func (a *app) noModel(session, format string) error {
	return usage("say which with --model, or with: "+a.line("session set "+quoted(session)+" --model NAME"), "format %s: the session has no model", format)
}

// withPrompts runs fn on a session whose prompts are counted with what is known of its model, or of the one
// that is given.
func (a *app) withPrompts(ctx context.Context, id, model string, c modelFlags, fn func(*turnstone.Engine, *turnstone.Session) error) error {
	k, err := a.known(c)
	if err != nil {
		return err
	}
	st, err := a.openStore(ctx, toFind)
	if err != nil {
		return err
	}
	config, err := a.promptConfig(ctx, st, k, id, model)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	return a.onEngine(ctx, st, config, func(eng *turnstone.Engine) error {
		s, err := a.find(ctx, eng, id)
		if err != nil {
			return err
		}
		return fn(eng, s)
	})
}

// promptConfig asks the session for its model where none is given. One that is not there is for the engine
// to miss.
func (a *app) promptConfig(ctx context.Context, st store.Store, k known, id, model string) (turnstone.Config, error) {
	if key, err := turn.NewKey(a.tenant(), id); model == "" && err == nil {
		err := st.View(ctx, func(tx store.Tx) error {
			info, err := tx.Log().Session(ctx, key)
			model = info.Model
			return ignore(err, turn.ErrNotFound)
		})
		if err != nil {
			return turnstone.Config{}, fmt.Errorf("session %s: %w", id, err)
		}
	}
	return k.config(ctx, model)
}

// shownPrompt is a prompt and how it came about.
type shownPrompt struct {
	*prompt.Prompt
	session        string
	past, recorded bool // past: made for --at; recorded: it was compiled then
	preview        bool
}
