package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// call is one request.
type call struct {
	method string
	path   string     // below /api/v1
	query  url.Values // added to the path
	in     any        // sent as JSON, nil for nothing
	body   io.Reader  // sent as it is, in the place of in
	accept string     // what the answer must be. Defaults to JSON, which is not asked for.
	key    string     // the Idempotency-Key, empty for none
	last   string     // the Last-Event-ID, empty for none
	again  bool       // it can safely be made twice
	whole  bool       // an answer that does not come to its end is none
}

// name says in errors which request it was, without the query, which may hold somebody's words.
func (c *call) name() string {
	path, _, _ := strings.Cut(c.path, "?")
	return c.method + " " + path
}

// path puts ids into a path.
func path(format string, ids ...string) string {
	escaped := make([]any, len(ids))
	for i, id := range ids {
		escaped[i] = url.PathEscape(id)
	}
	return fmt.Sprintf(format, escaped...)
}

const (
	// firstPause is how long it is waited before a request is made again; each time it is twice as long, up to longest.
	firstPause = 125 * time.Millisecond
	longest    = 30 * time.Second
	// mostPatience is how long a server may ask to be left alone. Who asks for more is not asked again, but for events.
	mostPatience = time.Minute
)

// pauseAfter is how long it is waited after so many failures behind the first.
func pauseAfter(failures int) time.Duration { return min(firstPause<<min(failures, 10), longest) }

// send makes a request, again where it may be, and returns the answer, whose body the caller closes. Every answer that
// is not of the 200s is a *[Problem].
func (c *Client) send(ctx context.Context, what call) (*http.Response, error) {
	var body []byte
	if what.in != nil {
		var err error
		if body, err = strictjson.Marshal(what.in); err != nil {
			return nil, fmt.Errorf("body of %s: %w", what.name(), err)
		}
	}
	for tried := 0; ; tried++ {
		answer, err := c.attempt(ctx, what, body)
		if err == nil {
			return answer, nil
		}
		err = fmt.Errorf("%s: %w", what.name(), err)
		wait := max(pauseAfter(tried), retryAfter(err))
		if !what.again || tried >= c.retries || !passing(err) || wait > mostPatience || !pause.For(ctx, wait) {
			return nil, err
		}
	}
}

func (c *Client) attempt(ctx context.Context, what call, body []byte) (*http.Response, error) {
	place := c.base + what.path
	if len(what.query) > 0 {
		place += "?" + what.query.Encode()
	}
	var sent io.Reader
	media := "application/json"
	switch {
	case what.body != nil:
		sent, media = what.body, "application/octet-stream"
	case body != nil:
		sent = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, what.method, place, sent)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Accept": what.accept, "Idempotency-Key": what.key, "Last-Event-ID": what.last,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if sent != nil {
		r.Header.Set("Content-Type", media)
	}
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, newConnectError(err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return nil, newProblem(answer)
	}
	if got := answer.Header.Get("Content-Type"); what.accept != "" && !strings.HasPrefix(got, what.accept) {
		answer.Body.Close() // nothing of it is wanted
		return nil, fmt.Errorf("the answer is %.60q, and not %s", got, what.accept)
	}
	if what.whole {
		text, err := io.ReadAll(answer.Body)
		if closed := answer.Body.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return nil, newConnectError(err)
		}
		answer.Body = io.NopCloser(bytes.NewReader(text))
	}
	return answer, nil
}
