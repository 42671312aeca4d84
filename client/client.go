package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// prefix is where the API is on a server.
const prefix = "/api/v1"

// Options are how a [Client] works. The zero value is that of a server on this machine, which needs no key.
type Options struct {
	// Key is shown to the server, as Authorization: Bearer. Defaults to none.
	Key string
	// HTTP sends the requests. It must have no Timeout, which would end streams: give each call a context. Redirects that
	// would make another request of a request, or leave TLS, are not followed. Defaults to [http.DefaultClient].
	HTTP *http.Client
	// Retries is how often a request that can safely be made twice is tried again, -1 for never: where no answer came or
	// not all of it, and where a server or a proxy says that it cannot answer now. Defaults to 4, which takes about two
	// seconds where the server does not ask for more.
	Retries int
}

// Client talks to one server. It is safe for concurrent use.
type Client struct {
	base    string
	key     string
	http    *http.Client
	retries int
}

// New makes a client of the server at a URL such as http://127.0.0.1:7411. It does not connect. The error says that
// this is no URL of a server.
func New(baseURL string, o Options) (*Client, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, invalid.New("url", "is none of a server", "give one such as http://127.0.0.1:7411")
	}
	c := &Client{base: strings.TrimRight(baseURL, "/") + prefix, key: o.Key, http: following(cmp.Or(o.HTTP, http.DefaultClient)), retries: o.Retries}
	if c.retries == 0 {
		c.retries = 4
	}
	return c, nil
}

// Do makes any request of the API. The path is one below /api/v1, with its query: "/sessions?limit=3". What is sent is
// in as JSON, or nothing where it is nil. The answer is read into out: as it comes where that is an [io.Writer], and as
// JSON otherwise; nil has it thrown away. GET is tried again where that may help, nothing else is. A refusal is a *[Problem].
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	return c.do(ctx, call{method: method, path: path, in: in, again: method == http.MethodGet}, out)
}

// do makes a request and reads the answer into out.
func (c *Client) do(ctx context.Context, what call, out any) (err error) {
	_, asItComes := out.(io.Writer)
	what.whole = !asItComes
	answer, err := c.send(ctx, what)
	if err != nil {
		return err
	}
	defer func() {
		if closed := answer.Body.Close(); err == nil && closed != nil {
			err = fmt.Errorf("%s: %w", what.name(), closed)
		}
	}()
	switch out := out.(type) {
	case nil:
		_, err = io.Copy(io.Discard, answer.Body)
	case io.Writer:
		_, err = io.Copy(out, answer.Body)
	default:
		var text []byte
		if text, err = io.ReadAll(answer.Body); err == nil {
			err = json.Unmarshal(text, out)
		}
	}
	if err != nil {
		return fmt.Errorf("answer to %s: %w", what.name(), err)
	}
	return nil
}

// ask is do for what is answered with a T.
func ask[T any](ctx context.Context, c *Client, what call) (T, error) {
	var out T
	err := c.do(ctx, what, &out)
	return out, err
}
