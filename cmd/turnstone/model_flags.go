package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
)

// modelFlags say where models and their vocabularies come from. The variable of its key is set by those who talk with the server too.
type modelFlags struct{ models, url, keyEnv string }

func (c *modelFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.models, "models", "", "`file` with models of your own (default models.toml in your settings folder)")
	cmd.Flags().StringVar(&c.url, "url", "", "`URL` of the model server, which knows the vocabularies of local models if it is an Ollama")
	formerly(cmd, "ollama", &c.url)
}

// formerly takes a flag under the name that it had when only some commands asked the model server.
func formerly(cmd *cobra.Command, name string, value *string) {
	cmd.Flags().StringVar(value, name, "", "the same as --url, as it was called")
	cmd.Flags().Lookup(name).Hidden = true
}

// flags are those on the command line, for one that is to know the same models.
func (c modelFlags) flags() string {
	text := ""
	for _, f := range [][2]string{{"--models", c.models}, {"--url", c.url}} {
		if f[1] != "" {
			text += " " + f[0] + " " + quoted(f[1])
		}
	}
	return text
}

// addContextFlag is for those who talk with models. When says for which calls it is, where not for all.
func addContextFlag(cmd *cobra.Command, context *int, when string) {
	cmd.Flags().IntVar(context, "context", 0, fmt.Sprintf(
		"size of the model's context in `tokens`%s, at least %s (default by the model, at most 8,192 for one on your machine)",
		when, tokensOf(budget.MinContext)))
}

func addEmbedFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "embed-model", "", "`name` of a model of the server for embeddings, which ranks what is recalled by its meaning too; with an empty one, as by default, its words alone rank it")
}

// known is what is known of models.
type known struct {
	profiles *budget.Profiles
	own      []budget.Profile // those of the user's file
	server   *server          // nil where none is named
}

// known reads the user's file and finds the server that knows vocabularies.
func (a *app) known(c modelFlags) (known, error) {
	address, err := a.ollamaURL(c.url)
	if err != nil {
		return known{}, err
	}
	return a.knownOf(c.models, address, c.keyEnv)
}

// knownBeside is for those who talk with a server that knows no vocabularies.
func (a *app) knownBeside(models string) (known, error) {
	address, err := a.besideURL()
	if err != nil {
		return known{}, err
	}
	return a.knownOf(models, address, "")
}

func (a *app) knownOf(models, address, keyEnv string) (known, error) {
	own, err := a.userModels(models)
	if err != nil {
		return known{}, err
	}
	profiles, err := budget.Known().With(own...)
	if err != nil {
		return known{}, fmt.Errorf("models: %w", err)
	}
	return known{profiles: profiles, own: own, server: a.ollamaServer(address, keyEnv)}, nil
}

// config is for an engine whose prompts are for that model. A model that the table does not have is asked of
// the server.
func (k known) config(ctx context.Context, model string) (turnstone.Config, error) {
	profiles, err := k.learned(ctx, model)
	config := turnstone.Config{Profiles: profiles}
	if k.server != nil {
		config.Vocabulary = k.server.vocabulary
	}
	return config, err
}

// learned is the table with what the server knows of a model that is not in it.
func (k known) learned(ctx context.Context, model string) (*budget.Profiles, error) {
	profile, found := k.profiles.Find(model)
	if found || k.server == nil || model == "" {
		return k.profiles, nil
	}
	better, ok := k.server.complete(ctx, profile)
	if !ok {
		return k.profiles, nil
	}
	return k.profiles.With(better)
}

// waiting draws a bar for work of which nobody knows how long it takes.
func (a *app) waiting(label string) *progress.Bar { return a.bar(progress.Config{Label: label}) }
