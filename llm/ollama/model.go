package ollama

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/llm"
)

const chatEndpoint = "/api/chat"

// defaultContext is what a request that does not say gets: Ollama's own default differs from machine to machine.
const defaultContext = 8192

// Options say how a model is talked to. Its zero value is useful.
type Options struct {
	// BaseURL is the server: a host, a port or a URL, as [Address] reads it. Defaults to what the environment
	// variable OLLAMA_HOST says, and to [DefaultURL] without it.
	BaseURL string
	// HTTP sends the requests. Defaults to a client without a timeout: contexts and Limits end requests.
	HTTP *http.Client
	// Context is num_ctx for requests that do not say how large a context they need. The server loads the model
	// again when it changes. Defaults to 8192.
	Context int
	// KeepAlive is how long the server keeps the model loaded after a request; less than 0 is for ever.
	// Defaults to the server's, mostly 5 minutes.
	KeepAlive time.Duration
	// Think says whether the model is to think before it answers. Defaults to what the model does by itself.
	Think Think
	// Limits bound the answers.
	Limits llm.Limits
	// Backoff says how often a request is sent again while nothing has come.
	Backoff llm.Backoff
}

// Think says whether and how much a model thinks. Servers refuse all but [ThinkOff] for models that cannot.
type Think string

// The ways to think.
const (
	ThinkOn     Think = "on"
	ThinkOff    Think = "off"
	ThinkLow    Think = "low"
	ThinkMedium Think = "medium"
	ThinkHigh   Think = "high"
)

// Model is one model of a server, an [llm.Model]. It is safe for concurrent use.
//
// Left to itself Ollama drops the oldest messages of a prompt that is too long, and forgets the beginning
// when an answer reaches the window, both without a word. So every request says num_ctx, "truncate":false,
// which makes a prompt that is too long an [llm.ErrContextExceeded], and "shift":false, which ends an answer at the
// window with [llm.StopLength]. Servers that do not know them go on as before: whoever knows how
// many tokens were sent compares them with [llm.Usage].Prompt.
type Model struct {
	name    string
	options Options
	url     string
	wrong   error // the address, where it is none
}

// New returns the model of that name. It sends nothing yet: an address that is none, or a model that is not
// there, shows with the first request.
func New(model string, o Options) *Model {
	m := &Model{name: model, options: o}
	if m.url, m.wrong = address(o.BaseURL); m.wrong != nil {
		m.wrong = &llm.Error{Kind: llm.ErrUnreachable, Model: model, Problem: m.wrong.Error()}
	} else if model == "" {
		m.wrong = &llm.Error{Kind: llm.ErrModelMissing, Problem: "no model is named", Fix: "give New the name of one, such as llama3.2"}
	}
	m.url += chatEndpoint
	if m.options.HTTP == nil {
		m.options.HTTP = &http.Client{}
	}
	if m.options.Context <= 0 {
		m.options.Context = defaultContext
	}
	return m
}

// Name is what the server calls it.
func (m *Model) Name() string { return m.name }

// Stream implements [llm.Model]. Calls come as the server sends them, before the last chunk; text that looks
// like Ollama's tag of a picture, [img-7], is sent as [img -7].
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	body, err := m.body(&r)
	if err == nil {
		err = m.wrong
	}
	if err != nil {
		return func(yield func(llm.Chunk, error) bool) { yield(llm.Chunk{}, err) }
	}
	return m.options.Backoff.Stream(ctx, func(yield func(llm.Chunk, error) bool) {
		a := answer{yield: yield, limited: r.MaxTokens == 1}
		err := httpstream.Request{
			Client: m.options.HTTP, URL: m.url, Body: body, Limits: httpstream.Limits(m.options.Limits),
			Idle: func() time.Duration { return m.options.Limits.Silence(len(r.Tools) > 0) },
		}.Each(ctx, a.line)
		if err != nil && !a.over {
			yield(llm.Chunk{}, m.failure(ctx, err))
		}
	})
}

// failure makes what callers can match of what went wrong.
func (m *Model) failure(ctx context.Context, err error) error {
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
		e.Kind, e.Temporary, e.Fix = llm.ErrUnreachable, connect.Temporary, "is Ollama running? start it with `ollama serve`, or check the address that it is looked for at"
	case errors.As(err, &status):
		e = refused(status).Judge(m.name)
	case errors.As(err, &said):
		e = said
	case errors.Is(err, httpstream.ErrTooLong):
		e.Kind, e.Fix = llm.ErrFailed, "limit the answer's length in the request, or allow more in Limits"
	}
	e.Model = m.name
	switch {
	case errors.Is(e, llm.ErrModelMissing):
		e.Fix = "pull it with `ollama pull " + m.name + "`"
	case errors.Is(e, llm.ErrContextExceeded):
		e.Fix = "shorten the prompt, or ask for a larger context"
	}
	return e
}
