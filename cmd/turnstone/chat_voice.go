package main

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/ollama"
)

const (
	envModel = "TURNSTONE_MODEL"
	envURL   = "TURNSTONE_URL"

	apiOllama = "ollama"
	apiOpenAI = "openai"
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// voiceFlags say which model talks, and where it is.
type voiceFlags struct{ model, url, api, keyEnv string }

func (f *voiceFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.model, "model", "", "`name` of the model (default the session's or the one that answered there last, or the one an Ollama server changed last)")
	flags.StringVar(&f.url, "url", "", "`URL` of the model server (default an Ollama on this machine)")
	flags.StringVar(&f.api, "api", "", "what the server speaks: ollama or openai (default by the URL and the model)")
	flags.StringVar(&f.keyEnv, "key-env", "", "`name` of the environment variable with the server's key (default OPENAI_API_KEY for OpenAI)")
	choices(cmd, "api", apiOllama, apiOpenAI)
}

func (f *voiceFlags) check() error {
	if f.api != "" && f.api != apiOllama && f.api != apiOpenAI {
		return usage("use ollama or openai", "--api: %q is none", f.api)
	}
	// It may be the key itself, which is not to be shown.
	if f.keyEnv != "" && !variableName.MatchString(f.keyEnv) {
		return usage("put the key in a variable, and give the variable's name", "--key-env: that is no name of an environment variable")
	}
	return nil
}

// voice is a model that can be talked to.
type voice struct {
	name    string
	api     string
	url     string // empty for the provider's own
	model   llm.Model
	known   known
	profile budget.Profile
}

// voice finds the model that talks: the one of the flags, of the session, of the environment, or that the server has.
func (a *app) voice(ctx context.Context, o chatOptions, session string) (voice, error) {
	v := voice{name: cmp.Or(o.voice.model, session, a.getenv(envModel)), api: o.voice.api}
	profiles, err := a.knownBeside(o.models)
	if err != nil {
		return v, err
	}
	profile, found := profiles.profiles.Find(v.name)
	given := a.modelURL(o.voice.url)
	if v.api == "" {
		v.api = apiOf(given, found && profile.Provider == budget.OpenAI)
	}
	if v.api == apiOpenAI {
		return a.openAIVoice(ctx, v, o, profiles, given)
	}
	if given == "" {
		if given, err = a.besideURL(); err != nil {
			return v, err
		}
	}
	return a.ollamaVoice(ctx, v, o, given)
}

// apiOf is what a server speaks, as far as its address and the model tell.
func apiOf(url string, hosted bool) string {
	if strings.HasSuffix(strings.TrimRight(url, "/"), "/v1") || url == "" && hosted {
		return apiOpenAI
	}
	return apiOllama
}

func (a *app) ollamaVoice(ctx context.Context, v voice, o chatOptions, url string) (_ voice, err error) {
	if v.url, err = serverURL(cmp.Or(url, ollama.DefaultURL)); err != nil {
		return v, noAddress("--url", url, ollama.DefaultURL, err)
	}
	a.protect(v.url)
	if v.known, err = a.knownOf(o.models, v.url, o.voice.keyEnv); err != nil {
		return v, err
	}
	v.known.server.talks = true
	if v.name == "" {
		if v.name, err = a.someModel(ctx, v); err != nil {
			return v, err
		}
	}
	if v.known.profiles, err = v.known.learned(ctx, v.name); err != nil {
		return v, err
	}
	v.profile, _ = v.known.profiles.Find(v.name)
	v.model = a.modelAt(a.modelClient(apiOllama, v.url, o.voice.keyEnv), apiOllama, v.url, o.voice.keyEnv, v.name)
	return v, nil
}

// there reports whether the server says that it has the model; an error where it says that it has not. One with OpenAI's
// API is not asked: some have more than they list.
func (v *voice) there(ctx context.Context) (bool, error) {
	if v.api != apiOllama || v.known.server == nil {
		return false, nil
	}
	list, err := v.known.server.client.List(ctx)
	if err != nil {
		return false, err
	}
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = strings.TrimSuffix(m.Name, ":latest")
		if strings.EqualFold(names[i], strings.TrimSuffix(v.name, ":latest")) {
			return true, nil
		}
	}
	if len(names) == 0 {
		return false, usage("get it with: ollama pull "+v.name, "the server has no models")
	}
	return false, usage("it has "+strings.Join(names, ", ")+"; get another with: ollama pull "+v.name, "the server has no model %q", v.name)
}

// modelHTTP is a client that notices soon when nobody picks up, and lets a model take its time after that.
func (a *app) modelHTTP() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialWait}).DialContext, ForceAttemptHTTP2: true,
	}}
}

// nobodyAt reports whether an error says that no server runs at an address. One that took the connection does.
func nobodyAt(err error) bool {
	dial := (*net.OpError)(nil)
	return errors.As(err, &dial) && dial.Op == "dial"
}

// withoutModel is what to do where there is no model.
const withoutModel = "start Ollama with: ollama serve, and get a model with: ollama pull llama3.2; or name another server with --url and --model; turnstone demo needs neither"

// notOllama is what to do about a server that answers, but not as an Ollama does. Most often it has another API, or wants a key.
func notOllama(url string, said *ollama.AnswerError) error {
	if said.Status == http.StatusUnauthorized {
		return &reworded{err: errors.Join(llm.ErrRefused, said), text: "no model: the server at " + url + " lets nobody in without a key: " + said.Problem +
			"; name the environment variable that has it with --key-env"}
	}
	return &reworded{err: errors.Join(llm.ErrFailed, said), text: "no model: what answers at " + url + " is no Ollama server: " + said.Problem +
		"; if it has OpenAI's API, end its URL in /v1, otherwise name another with --url"}
}

// someModel is the model that the server changed last.
func (a *app) someModel(ctx context.Context, v voice) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	list, err := v.known.server.client.List(ctx)
	if err != nil {
		if ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded) {
			return "", err
		}
		if said := (*ollama.AnswerError)(nil); errors.As(err, &said) {
			return "", notOllama(v.url, said)
		}
		if httpstream.Closed(err) {
			return "", &reworded{err: errors.Join(llm.ErrInterrupted, err), text: "no model: the server at " + v.url +
				" closed the connection before it answered; try again, and if it stays so, look into its log"}
		}
		return "", &reworded{err: errors.Join(llm.ErrUnreachable, err), text: "no model: no Ollama server answers at " + v.url + "; " + withoutModel}
	}
	if len(list) == 0 {
		return "", &reworded{err: llm.ErrModelMissing, text: "no model: the Ollama server at " + v.url + " has none; get one with: ollama pull llama3.2"}
	}
	name := strings.TrimSuffix(list[0].Name, ":latest")
	a.note("no model is named: %s is what the server changed last; --model names another", name)
	return name, nil
}
