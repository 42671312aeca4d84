package main

import (
	"net/http"
	"net/url"
	"strings"
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

// letsNobodyIn says of a server that answered 401 to a list of its models what it wants, and what to do.
func letsNobodyIn(base, variable, key string) string {
	server := "the server at " + base
	switch {
	case variable == "":
		return server + " lets nobody in without a key; name the environment variable that has it with --key-env"
	case key == "":
		return server + " lets nobody in without a key, and " + variable + " has none; set it, or name another variable with --key-env"
	}
	return server + " does not take the key in " + variable + "; correct it, or name another variable with --key-env"
}
