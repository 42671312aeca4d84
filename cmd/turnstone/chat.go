package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

// chatSession is what the first session of chat is called.
const chatSession = "chat"

type chatOptions struct {
	session          string
	fresh            bool
	voice            voiceFlags
	context          int
	system, models   string
	sticky           []string
	files, shell     bool
	lines, noSummary bool
	compression      compressionFlags
	noRecall         bool
	embedModel       string
}

func (a *app) chatCommand() *cobra.Command {
	var o chatOptions
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk with a model, and go on talking where you stopped",
		Long: `Talk with a model in a session that is kept: the one you used last, the one that --session names, or
a new one. Whatever its length, the prompt fits the model's context, and nothing that was said
is lost: what left the prompt and answers what you say is shown to the model again, marked as recalled.

On a terminal, Enter sends and Alt-Enter (or a backslash before Enter) begins a new line; the arrow keys bring back
what you said earlier. What you send while a reply comes goes in its turn. Ctrl-C cancels the reply, keeps what
came of it and brings back what waits; Ctrl-D leaves. The line below says how full the context is and how far to
rely on it. /help lists the commands.

Without a terminal, standard input is one message and the reply goes to standard output; with --lines each line is
a message, or a command. With --json each is answered by an object, a command by what it shows as text, or by error and
exit_code where it fails: the next line is read all the same. A message without a reply ends the run. Where
somebody else is at work on the session, a message waits for up to a minute.

The model comes from --model, the session, which goes on with the one that answered there last unless one is set
for it, TURNSTONE_MODEL, or is the one that an Ollama server changed last, or the only one of another server. The
server is an Ollama on this machine; --url or TURNSTONE_URL name another one. A URL that ends in /v1, or a model that
only OpenAI has, is asked as OpenAI's API. The server is sent the key in the environment variable that --key-env names.

The model can call no tools, unless --files lets it read and write files in this folder, and --shell run commands.
You are asked before each call.`,
		Example: `  turnstone chat
  turnstone chat --session work --model llama3.2
  echo "What did we decide about the port?" | turnstone chat --session work
  turnstone chat --url http://127.0.0.1:8080/v1 --model qwen3 --files`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(exclusive(cmd, "session", "new"), o.voice.check(), addressee{context: o.context}.check(cmd), o.compression.check(), a.checkFollowUp()); err != nil {
				return err
			}
			return a.chat(cmd.Context(), o)
		},
	}
	a.addSessionFlag(cmd, &o.session)
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&o.fresh, "new", false, "begin a new session")
	o.voice.addFlags(cmd)
	addContextFlag(cmd, &o.context, "")
	flags.StringVar(&o.system, "system", "", "`file` with the system prompt")
	flags.StringArrayVar(&o.sticky, "sticky", nil, "`file` below this folder that stays in every prompt and is read again when it changes; may be given again")
	flags.BoolVar(&o.files, "files", false, "let the model list, read and write files in this folder, each time confirmed")
	flags.BoolVar(&o.shell, "shell", false, "let the model run commands, each time confirmed")
	flags.BoolVar(&o.lines, "lines", false, "without a terminal: take each line of standard input as a message")
	flags.BoolVar(&o.noSummary, "no-model-summaries", false, "summarise turns that leave the prompt without the model")
	o.compression.addFlags(cmd)
	o.compression.addOffFlags(cmd)
	a.addFollowUpFlag(cmd)
	flags.BoolVar(&o.noRecall, "no-recall", false, "show the model nothing of what left the prompt, even where you ask about it")
	addEmbedFlag(cmd, &o.embedModel)
	flags.StringVar(&o.models, "models", "", "`file` with models of your own (default models.toml in your settings folder)")
	completing(cmd, "model", a.completeModels)
	return cmd
}

func (a *app) chat(ctx context.Context, o chatOptions) error {
	st, err := a.openStore(ctx, toMake)
	if err != nil {
		return err
	}
	model, err := a.sessionToChat(ctx, st, &o)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	v, err := a.voice(ctx, o, model)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	t := &talking{app: a, options: o, voice: v, notes: make(chan string, 16)}
	config, err := t.config()
	if err != nil {
		return errors.Join(err, st.Close())
	}
	return a.onEngine(ctx, st, config, func(eng *turnstone.Engine) error {
		return a.chatOn(ctx, eng, t)
	})
}

func (a *app) chatOn(ctx context.Context, eng *turnstone.Engine, t *talking) error {
	t.engine = eng
	person := terminal.Is(a.stdin) && terminal.Is(a.stdout) && !a.json
	screen := person && !a.dumb()
	t.options.lines = t.options.lines || person // where a screen cannot be drawn
	var message string
	var err error
	if !screen {
		a.note("talking with %s in session %s", terminal.CleanLine(t.voice.name), t.options.session)
		if !t.options.lines {
			if message, err = a.message(ctx); err != nil {
				return err
			}
		}
	}
	stop := eng.Listen(t.happened)
	defer stop()
	switch {
	case screen:
		if err := t.open(ctx); err != nil {
			return err
		}
		return a.chatOnScreen(ctx, t)
	case t.options.lines:
		return a.chatLines(ctx, t)
	}
	return ignore(a.chatOnce(ctx, t, message), errLeft)
}

// chatWindow is the window of a model whose context has that size, or which usually has it.
func chatWindow(p budget.Profile, context int) (budget.Window, error) {
	if context == 0 {
		context = p.Usual()
	}
	return budget.WindowOf(context)
}
