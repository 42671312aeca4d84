package main

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

func (a *app) modelsCommand() *cobra.Command {
	var c modelFlags
	cmd := &cobra.Command{
		Use:   "models [NAME]",
		Short: "List the models whose windows and tokenizers are known",
		Long: `List the models whose windows and tokenizers are known, or show one of them. A name matches in any
case, with or without a registry before it and a tag behind it: llama3.2:3b is a llama3.2. A model nobody
has heard of is no error: it is taken to have a context of 8,192 tokens, and its tokens are estimated.

CONTEXT is the largest, DEFAULT what is used unless --context says otherwise: all of it, but of a model whose
provider is ollama, or that nobody has heard of, at most 8,192 tokens. WINDOW is what a prompt and its reply may
take of that.

Add models, or correct one, in models.toml in your settings folder (~/.config/turnstone on Linux), or in
the file that --models or TURNSTONE_MODELS names. Only name and context must be given, and no name twice:

  [[models]]
  name = "my-model:7b"
  aliases = ["mine"]
  provider = "ollama"         # or openai, anthropic ...
  context = 32768             # its largest context, in tokens
  contexts = [8192, 32768]    # sizes to offer
  size = 7.6                  # billions of parameters
  tokenizer = "ollama"        # asked of the server; or o200k, cl100k, or left out where nobody knows
  vision = false
  template = { prompt = 4, message = 5, call = 14, tool = 14, image = 0 }  # tokens that each adds`,
		Example: `  turnstone models
  turnstone models llama3.2:3b
  turnstone models my-model:7b --models my-models.toml --json`,
		Args:              arguments("[NAME]"),
		ValidArgsFunction: a.completeModels,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && strings.TrimSpace(args[0]) == "" {
				return usage("give the name of a model, or nothing for all of them", "models: NAME is empty")
			}
			k, err := a.known(c)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				return a.showModel(cmd.Context(), k, args[0])
			}
			return a.listModels(k)
		},
	}
	c.addFlags(cmd)
	return cmd
}

func (a *app) listModels(k known) error {
	var rows [][]string
	for _, p := range k.profiles.All() {
		if a.json {
			if err := a.print(append(p.AppendJSON(nil), '\n')); err != nil {
				return err
			}
			continue
		}
		w, err := budget.WindowOf(p.Usual())
		if err != nil {
			return fmt.Errorf("model %s: %w", p.Name, err)
		}
		rows = append(rows, []string{
			p.Name, p.Provider, tokensOf(p.Context), tokensOf(w.Context), tokensOf(w.Usable), tierOf(w), sizeOf(p), p.Tokenizer,
		})
	}
	head := []string{"MODEL", "PROVIDER", "CONTEXT", "DEFAULT", "WINDOW", "TIER", "SIZE", "TOKENIZER"}
	alignRight(head, rows, 2, 3, 4, 6)
	return a.table(head, rows)
}

func tokensOf(n int) string { return progress.Thousands(int64(n)) }

func tierOf(w budget.Window) string { return fmt.Sprintf("%d %s", w.Tier(), w.Tier().Name()) }

func sizeOf(p budget.Profile) string {
	if p.Size == 0 {
		return ""
	}
	return strconv.FormatFloat(p.Size, 'f', -1, 64) + "B"
}

func (a *app) showModel(ctx context.Context, k known, name string) error {
	profiles, err := k.learned(ctx, name)
	if err != nil {
		return err
	}
	p, found := profiles.Find(name)
	if err := p.Check(); err != nil {
		return err // the name, which is the user's
	}
	if !found {
		a.note("nobody has heard of %s; this is what it is taken for. To correct it, see turnstone models --help", terminal.CleanLine(name))
	}
	if a.json {
		return a.print(append(p.AppendJSON(nil), '\n'))
	}
	w, err := budget.WindowOf(p.Usual())
	if err != nil {
		return fmt.Errorf("model %s: %w", p.Name, err)
	}
	sizes := make([]string, len(p.Contexts))
	for i, size := range p.Contexts {
		sizes[i] = tokensOf(size)
	}
	tokenizer, pictures := p.Tokenizer, "none"
	if tokenizer == "" {
		tokenizer = "not known; tokens are estimated"
	}
	if p.Vision {
		pictures = fmt.Sprintf("%s tokens for a large one", tokensOf(p.Template.Image))
	}
	return a.fields(
		[2]string{"model", p.Name}, [2]string{"also", strings.Join(p.Aliases, ", ")}, [2]string{"provider", p.Provider}, [2]string{"from", k.source(p)},
		[2]string{"size", sizeOf(p)}, [2]string{"context", tokensOf(p.Context)}, [2]string{"offered", strings.Join(sizes, "  ")},
		[2]string{"default", tokensOf(w.Context)},
		[2]string{"window", fmt.Sprintf("%s, %s of it for the reply", tokensOf(w.Usable), tokensOf(w.Reserve))},
		[2]string{"tier", tierOf(w)}, [2]string{"tokenizer", tokenizer}, [2]string{"pictures", pictures},
		[2]string{"template", fmt.Sprintf("%d tokens a prompt, %d a message, %d a call, %d a tool",
			p.Template.Prompt, p.Template.Message, p.Template.Call, p.Template.Tool)},
	)
}

// source says where a profile comes from, nothing of one that nobody has heard of.
func (k known) source(p budget.Profile) string {
	if own, err := new(budget.Profiles).With(k.own...); err == nil {
		if found, ok := own.Find(p.Name); ok && reflect.DeepEqual(found, p) { // and not a built-in one whose name fits better
			return "your file"
		}
	}
	if _, found := k.profiles.Find(p.Name); found {
		return "built in"
	}
	if p.Provider == budget.Ollama && k.server != nil {
		return k.server.app.redact(k.server.address)
	}
	return ""
}

// completeModels offers the names of models to the shell.
func (a *app) completeModels(cmd *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) > 0 && cmd.Name() == "models" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if err := a.configure(cmd); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	k, err := a.known(modelFlags{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	for _, p := range k.profiles.All() {
		names = append(names, cobra.CompletionWithDesc(p.Name, p.Provider))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
