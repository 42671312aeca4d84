// Package ollama is the client of an Ollama server: its models to talk to, what it says of them, and their
// vocabularies.
//
// Nothing that a server answers is believed unseen: bodies are bounded and read as they come, and an answer
// that cannot be right is an *[AnswerError] that says what to do. Whoever counts tokens goes on without the
// vocabulary then, with a calibration.
package ollama

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
)

// DefaultURL is where an Ollama server listens unless it is told otherwise.
const DefaultURL = "http://127.0.0.1:11434"

const (
	// maxAnswer bounds an answer without a vocabulary: licences and templates are in it.
	maxAnswer = 16 << 20
	// maxVerbose bounds one with a vocabulary. The largest known are a third of it.
	maxVerbose = 64 << 20
	// maxComplaint bounds what is read of an error.
	maxComplaint = 4 << 10
)

// Config says how a client works. Its zero value is useful.
type Config struct {
	// HTTP sends the requests. Defaults to a client of its own without a timeout: contexts end requests.
	HTTP *http.Client
	// Cache is a folder for vocabularies, made when it is needed; it may be emptied at any time. Each server
	// has a folder of its own in it: none is taken at another's word. Defaults to none: vocabularies are asked
	// for again each time.
	Cache string
	// Report is told of what went wrong without stopping the work: a damaged entry of the cache, one that
	// could not be written. It may be called concurrently. Defaults to nobody.
	Report func(error)
}

// Client asks one server about its models; [Model] talks to them. It is safe for concurrent use.
type Client struct {
	base   string
	http   *http.Client
	cache  string
	report func(error)
}

// NewClient returns the client of the server at baseURL, [DefaultURL] if it is empty. It sends nothing yet: an
// address that is none shows with the first request.
func NewClient(baseURL string, c Config) *Client {
	if baseURL == "" {
		baseURL = DefaultURL
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{}
	}
	if c.Report == nil {
		c.Report = func(error) {}
	}
	base := strings.TrimRight(baseURL, "/")
	if c.Cache != "" {
		c.Cache = filepath.Join(c.Cache, fmt.Sprintf("%.8x", sha256.Sum256([]byte(base))))
	}
	return &Client{base: base, http: c.HTTP, cache: c.Cache, report: c.Report}
}

// ask sends a request about a model and reads the answer, at most limit bytes of it, with read. body is sent
// as JSON, with POST; without one the request is a GET.
func (c *Client) ask(ctx context.Context, endpoint, model string, body any, limit int64, read func(*reader) error) (err error) {
	method, sent := http.MethodGet, io.Reader(nil)
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("request to %s: %w", endpoint, err)
		}
		method, sent = http.MethodPost, bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+endpoint, sent)
	if err != nil {
		return fmt.Errorf("request to %s: %w", endpoint, err)
	}
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("request to %s: %w", endpoint, err)
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return refusal(endpoint, model, response)
	}
	if err := read(newReader(&bounded{r: response.Body, left: limit})); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("answer of %s: %w", endpoint, context.Cause(ctx))
		}
		return answerError(endpoint, model, err)
	}
	return nil
}

// refusal makes an error of an answer that is not 200.
func refusal(endpoint, model string, response *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, maxComplaint))
	if err != nil {
		return fmt.Errorf("answer of %s: %w", endpoint, err)
	}
	var said struct{ Error string }
	if json.Unmarshal(text, &said) != nil || said.Error == "" {
		said.Error = strings.TrimSpace(string(text))
	}
	if response.StatusCode == http.StatusNotFound && strings.Contains(said.Error, "not found") && !strings.Contains(said.Error, "page") {
		return fmt.Errorf("%w: %s; run: ollama pull %s", ErrNotFound, model, model)
	}
	fix := "check that an Ollama server of version 0.5 or later listens at this address"
	if response.StatusCode == http.StatusUnauthorized {
		fix = "check the key that the server is sent"
	}
	return &AnswerError{
		Endpoint: endpoint, Model: model, Status: response.StatusCode,
		Problem: fmt.Sprintf("%s: %.200q", response.Status, said.Error), Fix: fix,
	}
}

// bounded ends the reading of an answer that is too long with an error instead of an end.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
