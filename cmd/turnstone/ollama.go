package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/llm/ollama"
)

const (
	envOllama     = "TURNSTONE_OLLAMA"
	envOllamaHost = "OLLAMA_HOST"
	ollamaPort    = "11434"
)

const (
	// dialWait is how long a server may take to pick up: it is mostly on the same machine.
	dialWait = 3 * time.Second
	// askWait is how long all questions about one model may take; a vocabulary is some megabytes.
	askWait = 30 * time.Second
)

// modelURL is the model server that --url or the environment names, as it is given there; empty where none is.
func (a *app) modelURL(flag string) string {
	return cmp.Or(flag, a.getenv(envURL), a.getenv(envUpstream))
}

// ollamaURL is the Ollama that --url or the environment name, empty where none is.
func (a *app) ollamaURL(flag string) (string, error) {
	if given := a.modelURL(flag); given != "" && apiOf(given, false) == apiOllama {
		return a.addressOf("--url", given)
	}
	return a.besideURL()
}

// besideURL is the Ollama that is named beside the model server, empty where none is.
func (a *app) besideURL() (string, error) {
	for _, variable := range []string{envOllama, envOllamaHost} {
		if given := a.getenv(variable); given != "" {
			return a.addressOf(variable, given)
		}
	}
	return "", nil
}

func (a *app) addressOf(name, given string) (string, error) {
	_, schemed := withScheme(given)
	a.protect(schemed)
	address, err := serverURL(given)
	if err != nil {
		return "", noAddress(name, given, ollama.DefaultURL, err)
	}
	return address, nil
}

// errPortOnly says that an address is a number alone. That is most likely meant as a port, and a host of that name is asked for
// in vain.
var errPortOnly = errors.New("a port without a host")

// noAddress says what is wrong with an address that [serverURL] does not take.
func noAddress(name, given, example string, err error) error {
	if errors.Is(err, errPortOnly) {
		return usage("give both, such as http://127.0.0.1:"+strings.TrimSpace(given), "%s: %q is %v", name, given, err)
	}
	return usage("give a URL such as "+example, "%s: %q is no address of a server", name, given)
}

// serverURL reads an address as Ollama's own variable has it: a host, a port or a URL.
func serverURL(given string) (string, error) {
	bare, given := withScheme(given)
	u, err := url.Parse(given)
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("no host")
	}
	host, port := u.Hostname(), u.Port()
	if _, err := strconv.ParseUint(host, 10, 16); err == nil && bare && port == "" {
		return "", errPortOnly
	}
	// What a server listens on is nothing to connect to.
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	if port == "" && bare {
		port = ollamaPort
	}
	if port != "" {
		u.Host = net.JoinHostPort(host, port)
	} else if strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	} else {
		u.Host = host
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// withScheme is an address with http:// before it where it has no scheme, and whether it has none.
func withScheme(given string) (bare bool, address string) {
	given = strings.TrimSpace(given)
	if strings.Contains(given, "://") {
		return false, given
	}
	return true, "http://" + given
}

// server is an Ollama server that knows models better than our table does. A nil server knows none.
type server struct {
	app     *app
	address string
	client  *ollama.Client
	talks   bool // a model of it is talked to: that it cannot be reached is told there
}

// ollamaServer is the server at an address, nil where there is none. It is sent the key that the variable has, if one is named.
func (a *app) ollamaServer(address, keyEnv string) *server {
	if address == "" {
		return nil
	}
	config := ollama.Config{
		HTTP:   a.modelClient(apiOllama, address, keyEnv),
		Report: func(err error) { a.note("%v", err) },
	}
	// Without a folder for it nothing is cached, which costs time only.
	if dir, err := cacheFolder.dir(runtime.GOOS, a.getenv); err == nil {
		config.Cache = filepath.Join(dir, "vocabularies")
	}
	return &server{app: a, address: address, client: ollama.NewClient(address, config)}
}

// vocabulary is a turnstone.Vocabulary that tells people when there is none.
func (s *server) vocabulary(ctx context.Context, model string) (*bpe.Encoding, error) {
	bar := s.app.waiting("vocabulary of " + model)
	defer bar.Clear()
	enc, err := s.encoding(ctx, model)
	if err != nil {
		bar.Clear()
		s.miss(err, "tokens are estimated")
	}
	return enc, err
}

// miss tells what could not be asked.
func (s *server) miss(err error, what string) {
	if dial := (*net.OpError)(nil); s.talks && errors.As(err, &dial) && dial.Op == "dial" {
		return
	}
	s.app.note("%s: %v", what, err)
}

// encoding is a turnstone.Vocabulary that leaves it to others to tell.
func (s *server) encoding(ctx context.Context, model string) (*bpe.Encoding, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	v, _, err := s.client.Vocabulary(ctx, model)
	if err != nil {
		return nil, err
	}
	enc, err := bpe.New(v)
	if err != nil {
		return nil, fmt.Errorf("vocabulary of %s: %w", model, err)
	}
	return enc, nil
}

// complete returns the profile of a model that our table does not have as the server knows it.
func (s *server) complete(ctx context.Context, p budget.Profile) (budget.Profile, bool) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	better, err := s.client.Complete(ctx, p)
	if err != nil && !errors.Is(err, ollama.ErrNotFound) {
		s.miss(err, "nothing was learned of "+p.Name)
	}
	return better, err == nil
}
