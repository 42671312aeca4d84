package main

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/turnstone-dev/turnstone/llm"
)

// OpenAI's own server, and the variable that has its key where no other is named.
const (
	openAIHost = "api.openai.com"
	openAIKey  = "OPENAI_API_KEY"
)

// modelClient is a client for the models of a server. An Ollama that asks for a key stands behind something that does, and is
// sent the one that the variable has; clients of OpenAI's API send theirs themselves.
func (a *app) modelClient(api, base, variable string) *http.Client {
	client := a.modelHTTP()
	if api == apiOllama {
		client.Transport = a.keyed(client.Transport, base, variable)
	}
	return client
}

// keyed has requests to a server carry the key that the variable has when they are sent.
func (a *app) keyed(to http.RoundTripper, base, variable string) http.RoundTripper {
	server, err := url.Parse(base)
	if err != nil || variable == "" {
		return to
	}
	a.keep(strings.TrimSpace(a.getenv(variable))) // a server may repeat it
	return keyedTransport{to, server, func() string { return strings.TrimSpace(a.getenv(variable)) }}
}

// keyedTransport sends a key to one server, and to nobody whom that one sends on to.
type keyedTransport struct {
	http.RoundTripper
	server *url.URL
	key    func() string
}

// RoundTrip implements [http.RoundTripper].
func (t keyedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if key := t.key(); key != "" && r.URL.Scheme == t.server.Scheme && r.URL.Host == t.server.Host {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+key)
	}
	return t.RoundTripper.RoundTrip(r)
}

// lockedModel is a model whose errors say of a server that answered 401 what can be done on the command line. What its client
// says is for programs.
type lockedModel struct {
	servedModel
	advice func() string
}

// Stream implements [llm.Model].
func (m lockedModel) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for chunk, err := range m.servedModel.Stream(ctx, r) {
			if !yield(chunk, m.told(err)) {
				return
			}
		}
	}
}

// Embed implements [recall.Embedder].
func (m lockedModel) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := m.servedModel.Embed(ctx, texts)
	return vectors, m.told(err)
}

func (m lockedModel) told(err error) error {
	said, ok := err.(*llm.Error) // as it is, since what it is wrapped in would be lost
	if !ok || said.Status != http.StatusUnauthorized {
		return err
	}
	told := *said
	told.Fix = m.advice()
	return &told
}

// keyAdvice says what to do about a server that answered 401.
func (a *app) keyAdvice(base, variable string) string {
	// Nobody else is sent OpenAI's key, unless it is named.
	if server, err := url.Parse(base); variable == "" && (base == "" || err == nil && server.Hostname() == openAIHost) {
		variable = openAIKey
	}
	key := ""
	if variable != "" {
		key = strings.TrimSpace(a.getenv(variable))
	}
	return "the server " + wantsKey(variable, key, ": ")
}

// wantsKey is what a server that answered 401 wants and, behind the mark, what to do.
func wantsKey(variable, key, mark string) string {
	switch {
	case variable == "":
		return "lets nobody in without a key" + mark + "name the environment variable that has it with --key-env"
	case key == "":
		return "lets nobody in without a key, and " + variable + " has none" + mark + "set it, or name another variable with --key-env"
	}
	return "does not take the key in " + variable + mark + "correct it, or name another variable with --key-env"
}

// letsNobodyIn says of a server that answered 401 to a list of its models what it wants, and what to do.
func letsNobodyIn(base, variable, key string) string {
	return "the server at " + base + " " + wantsKey(variable, key, "; ")
}
