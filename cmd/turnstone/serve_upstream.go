package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/ollama"
	"github.com/turnstone-dev/turnstone/llm/openai"
	"github.com/turnstone-dev/turnstone/recall"
	service "github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/server/front"
)

const (
	envUpstream = "TURNSTONE_UPSTREAM"
	// upstreamWait is how long the start of a server waits for a sign of the model server.
	upstreamWait = time.Second
)

// upstreamFlags say which server has the models that a server of ours asks.
type upstreamFlags struct {
	url, api, keyEnv, model string
	recordOnly              bool
}

func (f *upstreamFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "`URL` of the model server (default an Ollama on this machine)")
	formerly(cmd, "upstream", &f.url)
	flags.StringVar(&f.api, "api", "", "what the model server speaks: ollama or openai (default by the URL)")
	flags.StringVar(&f.keyEnv, "key-env", "", "`name` of the environment variable with the model server's key (default OPENAI_API_KEY for OpenAI)")
	flags.StringVar(&f.model, "model", "", "`name` of the model that answers where the session names none")
	flags.BoolVar(&f.recordOnly, "record-only", false, "pass prompts of model clients on untouched, and only keep the log")
	choices(cmd, "api", apiOllama, apiOpenAI)
}

func (f *upstreamFlags) check() error { return (&voiceFlags{api: f.api, keyEnv: f.keyEnv}).check() }

// upstreamURL is where the model server is, and what it speaks. The URL is empty for the provider's own.
func (a *app) upstreamURL(f upstreamFlags) (url, api string, err error) {
	given := a.modelURL(f.url)
	api = cmp.Or(f.api, apiOf(given, false))
	switch {
	case api == apiOpenAI && given == "":
	case api == apiOpenAI:
		url, err = a.openAIURL(given, ollama.DefaultURL)
	case given != "":
		url, err = a.addressOf("--url", given)
	default:
		url, err = a.besideURL()
		url = cmp.Or(url, ollama.DefaultURL)
	}
	if err != nil {
		return "", "", err
	}
	return url, api, nil
}

// upstreamModel makes the client of a model by its name.
func (a *app) upstreamModel(f upstreamFlags) (func(name string) llm.Model, error) {
	url, api, err := a.upstreamURL(f)
	if err != nil {
		return nil, err
	}
	client := a.modelClient(api, url, f.keyEnv)
	return func(name string) llm.Model { return a.modelAt(client, api, url, f.keyEnv, name) }, nil
}

// upstreamEmbedder is the model that says what texts mean, nil where none is named.
func (a *app) upstreamEmbedder(f upstreamFlags, name string) (recall.Embedder, error) {
	url, api, err := a.upstreamURL(f)
	if err != nil || name == "" {
		return nil, err
	}
	return a.modelAt(a.modelClient(api, url, f.keyEnv), api, url, f.keyEnv, name), nil
}

// servedModel is a model of a server: one that talks, or one that says what texts mean.
type servedModel interface {
	llm.Model
	recall.Embedder
	Name() string
}

// modelAt is a model of a server that speaks so.
func (a *app) modelAt(client *http.Client, api, url, keyEnv, name string) servedModel {
	var m servedModel = ollama.New(name, ollama.Options{BaseURL: url, HTTP: client})
	if api == apiOpenAI {
		m = openai.New(name, openai.Options{BaseURL: url, KeyVariable: keyEnv, HTTP: client})
	}
	return lockedModel{m, func() string { return a.keyAdvice(url, keyEnv) }}
}

// upstreamSummariser has the model that a session's prompts are for summarise their turns.
type upstreamSummariser struct {
	model func(name string) llm.Model
}

// Summarise implements [compress.Summariser].
func (s upstreamSummariser) Summarise(ctx context.Context, r compress.Request) (string, error) {
	if r.Model == "" {
		return "", errors.New("the session has no model that could summarise")
	}
	return compress.Model{LLM: s.model(r.Model), Window: r.Window}.Summarise(ctx, r)
}

// upstreamKey is the key of the model server and the variable that has it, which is empty where none is asked for. Nobody but
// OpenAI is sent OpenAI's key, unless it is named.
func (a *app) upstreamKey(f upstreamFlags, url string) (variable, key string) {
	variable = f.keyEnv
	if url == "" {
		variable = cmp.Or(variable, openAIKey)
	}
	if variable == "" {
		return "", ""
	}
	return variable, strings.TrimSpace(a.getenv(variable))
}

// tryUpstream warns where there is no key for the model server, it wants one, or it does not answer: everything else is served
// without it. The provider's own is not asked.
func (a *app) tryUpstream(ctx context.Context, f upstreamFlags) error {
	url, api, err := a.upstreamURL(f)
	if err != nil {
		return err
	}
	variable, key := a.upstreamKey(f, url)
	noKey := variable != "" && key == ""
	if noKey {
		a.note("warning: %s has no key for the model server; set it, or name another variable with --key-env", variable)
	}
	if url == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, upstreamWait)
	defer cancel()
	list := "/api/tags"
	if api == apiOpenAI {
		list = "/models"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(url, "/")+list, nil)
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		a.note("warning: the model server at %s does not answer; start it, or name another with --url", url)
		return nil
	}
	if answer.StatusCode == http.StatusUnauthorized && !noKey {
		a.note("warning: %s", letsNobodyIn(url, variable, key))
	}
	return answer.Body.Close()
}

// fronts are for clients that speak to a model server and are pointed here.
func (a *app) fronts(f upstreamFlags, config *turnstone.Config, ask observing) (*front.Front, error) {
	url, api, err := a.upstreamURL(f)
	if err != nil {
		return nil, err
	}
	up := front.Upstream{URL: url, Kind: front.Kind(api)}
	if url == "" {
		up.URL = openai.DefaultURL
	}
	_, up.Key = a.upstreamKey(f, url)
	return front.New(front.Config{
		Engine:   func(r *http.Request) (*turnstone.Engine, error) { return service.EngineOf(r.Context()), nil },
		Upstream: up, RecordOnly: f.recordOnly, Recall: config.Recall, Observe: ask, Log: config.Log,
	})
}
