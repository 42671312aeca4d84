// Package openai is the client of servers that speak OpenAI's Chat Completions: OpenAI itself, llama.cpp, vLLM,
// LM Studio, Ollama's /v1 and many more. They differ in what they accept and in how they end; the client holds
// with all of them.
package openai

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/llm"
)

// DefaultURL is OpenAI's own server.
const DefaultURL = "https://api.openai.com/v1"

const (
	ownHost = "api.openai.com"
	ownKey  = "OPENAI_API_KEY"
)

// Options say how a model is talked to. Its zero value is useful.
type Options struct {
	// BaseURL is what stands before /chat/completions and /embeddings. Defaults to [DefaultURL].
	BaseURL string
	// KeyVariable names the environment variable that has the key. It is read with every request, and the key is in
	// no error. Defaults to OPENAI_API_KEY for OpenAI's own server, and to no key for others.
	KeyVariable string
	// HTTP sends the requests. Defaults to a client without a timeout: contexts and Limits end requests.
	HTTP *http.Client
	// LimitField is the member of a request that bounds the answer. Defaults to max_completion_tokens for OpenAI's
	// own server and to max_tokens for others. When a server refuses it, the other one is used from then on.
	LimitField LimitField
	// Limits bound the answers.
	Limits llm.Limits
	// Backoff says how often a request is sent again while nothing has come.
	Backoff llm.Backoff
}

// LimitField is what servers call the bound of an answer.
type LimitField string

// The names. Newer models of OpenAI know only the first, many other servers only the second.
const (
	MaxCompletionTokens LimitField = "max_completion_tokens"
	MaxTokens           LimitField = "max_tokens"
)

// Model is one model of a server, an [llm.Model]. It is safe for concurrent use.
type Model struct {
	name    string
	options Options
	url     string
	vectors string // where embeddings are asked for
	wrong   error  // the address, where it is none

	mu      sync.Mutex // guards dialect
	dialect dialect
}

// New returns the model of that name. It sends nothing yet: an address that is none, or a model that is not
// there, shows with the first request.
func New(model string, o Options) *Model {
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	m := &Model{name: model, options: o, dialect: dialect{limit: MaxTokens, usage: true}}
	u, err := url.Parse(strings.TrimSpace(o.BaseURL))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		m.wrong = &llm.Error{
			Kind: llm.ErrUnreachable, Model: model, Problem: "this is no address of a server",
			Fix: "give a URL such as http://127.0.0.1:8080/v1",
		}
		return m
	}
	m.url, m.vectors = u.JoinPath("chat", "completions").String(), u.JoinPath("embeddings").String()
	if u.Hostname() == ownHost {
		m.dialect.limit = MaxCompletionTokens
		if o.KeyVariable == "" {
			m.options.KeyVariable = ownKey
		}
	}
	if o.LimitField != "" {
		m.dialect.limit = o.LimitField
	}
	return m
}

// Name is what the server calls it.
func (m *Model) Name() string { return m.name }

// Stream implements [llm.Model]. Calls come with the last chunk. The arguments of an answer that was cut off by its
// limit may be cut off too: see [llm.Call.Check].
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	err := m.wrong
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		return func(yield func(llm.Chunk, error) bool) {
			yield(llm.Chunk{}, fmt.Errorf("request to %s: %w", m.name, err))
		}
	}
	return m.options.Backoff.Stream(ctx, func(yield func(llm.Chunk, error) bool) {
		a := answer{yield: yield}
		key, err := m.key()
		if err == nil {
			err = m.ask(ctx, &r, key, &a)
		}
		if err != nil && !a.over {
			yield(llm.Chunk{}, m.failure(ctx, key, err))
		}
	})
}

// ask sends the request, in another dialect if the server does not understand the first.
func (m *Model) ask(ctx context.Context, r *llm.Request, key string, a *answer) error {
	m.mu.Lock()
	spoken := m.dialect
	m.mu.Unlock()
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	for tries := 0; ; tries++ {
		body, err := m.body(r, spoken)
		if err != nil {
			return err
		}
		err = httpstream.Request{
			Client: m.options.HTTP, URL: m.url, Header: header, Body: body, Limits: httpstream.Limits(m.options.Limits),
			// Nobody writes a call who has said why he stopped.
			Idle: func() time.Duration { return m.options.Limits.Silence(len(r.Tools) > 0 && a.stop == "") },
		}.Each(ctx, a.line)
		// Some servers leave out the last event, and some then leave the connection open; the answer is complete without it.
		cause := context.Cause(ctx)
		open := errors.Is(err, httpstream.ErrCut) || errors.Is(err, httpstream.ErrSilent) || cause != nil && errors.Is(err, cause)
		if open && a.stop != "" {
			err = a.end()
		}
		if errors.Is(err, httpstream.ErrDone) {
			return nil
		}
		var status *httpstream.StatusError
		if tries == maxDialects || !errors.As(err, &status) {
			return err
		}
		other, is := spoken.after(status, r.MaxTokens > 0)
		if !is {
			return err
		}
		spoken = other
		m.mu.Lock()
		m.dialect = other
		m.mu.Unlock()
	}
}

func (m *Model) key() (string, error) {
	if m.options.KeyVariable == "" {
		return "", nil
	}
	key := strings.TrimSpace(os.Getenv(m.options.KeyVariable))
	if key == "" {
		return "", &llm.Error{
			Kind: llm.ErrRefused, Problem: "there is no key for the server", Fix: "put it into the environment variable " + m.options.KeyVariable,
		}
	}
	return key, nil
}

// failure makes what callers can match of what went wrong. A server may repeat the key it was sent.
func (m *Model) failure(ctx context.Context, key string, err error) error {
	if ended := llm.Ended(ctx); ended != nil {
		return fmt.Errorf("answer of %s: %w", m.name, ended)
	}
	var connect *httpstream.ConnectError
	var status *httpstream.StatusError
	var said *llm.Error
	e := &llm.Error{Kind: llm.ErrInterrupted, Problem: err.Error(), Fix: "ask again; if it stays so, look into the server's log", Err: err}
	switch {
	case errors.As(err, &connect) && connect.Closed:
		e.Temporary = true
	case errors.As(err, &connect):
		e.Kind, e.Temporary, e.Fix = llm.ErrUnreachable, connect.Temporary, "check that the server is running, and its address"
	case errors.As(err, &status):
		e = refused(status).Judge(m.name)
	case errors.As(err, &said):
		e = said
	case errors.Is(err, httpstream.ErrTooLong):
		e.Kind, e.Fix = llm.ErrFailed, "limit the answer's length in the request, or allow more in Limits"
	}
	e.Model = m.name
	if e.Status == http.StatusUnauthorized && m.options.KeyVariable != "" {
		e.Fix = "check the key in the environment variable " + m.options.KeyVariable
	} else if e.Status == http.StatusUnauthorized {
		e.Fix = "the server wants a key: name the environment variable that has it in Options.KeyVariable"
	}
	if key != "" {
		e.Problem = strings.ReplaceAll(e.Problem, key, "[key]")
	}
	return e
}
