package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
)

// modelFlags say where models and their vocabularies come from.
type modelFlags struct{ models, ollama string }

func (c *modelFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.models, "models", "", "`file` with models of your own (default models.toml in your settings folder)")
	cmd.Flags().StringVar(&c.ollama, "ollama", "", "`URL` of an Ollama server that knows the vocabularies of local models")
}

// flags are those on the command line, for one that is to know the same models.
func (c modelFlags) flags() string {
	text := ""
	for _, f := range [][2]string{{"--models", c.models}, {"--ollama", c.ollama}} {
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

// known reads the user's file and finds the server.
func (a *app) known(c modelFlags) (known, error) {
	own, err := a.userModels(c.models)
	if err != nil {
		return known{}, err
	}
	profiles, err := budget.Known().With(own...)
	if err != nil {
		return known{}, fmt.Errorf("models: %w", err)
	}
	server, err := a.ollamaServer(c.ollama)
	return known{profiles: profiles, own: own, server: server}, err
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
