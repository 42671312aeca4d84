package front

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/llm"
)

// upstream is the model server.
type upstream struct {
	config Upstream
	base   *url.URL
	limits Limits
	// silent says that the server refuses to be asked for its usage.
	silent atomic.Bool
}

// maxRefusal bounds what is read of an answer that is an error.
const maxRefusal = 64 << 10

// own reports whether a header shows a key of Turnstone's own, however it is written: such keys are for nobody else.
func own(authorization string) bool {
	kind, secret, _ := strings.Cut(authorization, " ")
	return strings.EqualFold(kind, "bearer") && strings.HasPrefix(strings.TrimSpace(secret), "ts_")
}

// url is where the server has a path of the API, as clients call it. The path is not [outside].
func (u *upstream) url(path string, query string) string {
	if u.config.Kind == OpenAI {
		path = strings.TrimPrefix(path, "/v1")
	}
	at := *u.base
	at.Path, at.RawPath, at.RawQuery = strings.TrimSuffix(at.Path, "/")+path, "", query
	return at.String()
}

// outside reports whether a path leads out of what it begins with. The server would be asked there with a key that is
// not the client's.
func outside(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}

// chat is where the server is talked to.
func (u *upstream) chat() string {
	if u.config.Kind == OpenAI {
		return u.url("/v1/chat/completions", "")
	}
	return u.url("/api/chat", "")
}

// authorize gives a request the key of the server, or the client's own.
func (u *upstream) authorize(to http.Header, from http.Header) {
	to.Del("Authorization")
	switch client := from.Get("Authorization"); {
	case u.config.Key != "":
		to.Set("Authorization", "Bearer "+u.config.Key)
	case client != "" && !own(client):
		to.Set("Authorization", client)
	}
}

// impatient cancels with [httpstream.ErrSilent] when the server takes too long before it answers. Whoever hears of it resets the timer.
func (u *upstream) impatient(cancel context.CancelCauseFunc) *time.Timer {
	return time.AfterFunc(u.limits.First, func() { cancel(httpstream.ErrSilent) })
}

// post sends a body and returns the answer, whatever its status.
func (u *upstream) post(ctx context.Context, to string, client http.Header, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, unreachable(err)
	}
	request.Header.Set("Content-Type", "application/json")
	u.authorize(request.Header, client)
	return u.do(request)
}

// availableTime is how long it is waited for.
const availableTime = 5 * time.Second

// available is a *refusal where the server says that it does not have the model. It is asked before a session is made or forked
// for a call, which would stay. Whatever else it answers, the call itself will show.
func (u *upstream) available(ctx context.Context, client http.Header, model string) error {
	if model == "" || outside(model) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, availableTime)
	defer cancel()
	method, to := http.MethodGet, u.url("/v1/models/"+model, "")
	var body []byte
	if u.config.Kind == Ollama {
		method, to = http.MethodPost, u.url("/api/show", "")
		body = append(strictjson.AppendString([]byte(`{"model":`), model), `,"verbose":false}`...)
	}
	request, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil
	}
	u.authorize(request.Header, client)
	response, err := u.do(request)
	if err != nil {
		return nil
	}
	if response.StatusCode != http.StatusNotFound {
		_ = response.Body.Close() // nobody reads it
		return nil
	}
	var said *refusal
	err = refused(response)
	// Servers that have no such path answer 404 too, in words that do not name the model.
	if errors.As(err, &said) && json.Valid(said.body) && bytes.Contains(said.body, []byte(model)) {
		return err
	}
	return nil
}

func (u *upstream) do(request *http.Request) (*http.Response, error) {
	response, err := u.config.HTTP.Do(request)
	if err == nil {
		return response, nil
	}
	if cause := context.Cause(request.Context()); cause != nil {
		return nil, cause
	}
	if httpstream.Closed(err) {
		return nil, interrupted(errClosed)
	}
	return nil, unreachable(err)
}

// errClosed says what happened without the address, which may hold a password.
var errClosed = errors.New("the model server closed the connection before it answered")

// unreachable leaves out the address, which may hold a password.
func unreachable(err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err
	}
	return &llm.Error{Kind: llm.ErrUnreachable, Problem: err.Error(), Fix: "check that it is running, and its address", Err: err}
}

// refused reads an answer that is not 200, and closes it.
func refused(response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	err = errors.Join(err, response.Body.Close())
	if err != nil && len(body) == 0 {
		body = fmt.Appendf(nil, "status %d: %v", response.StatusCode, err)
	}
	return &refusal{status: response.StatusCode, header: response.Header, body: body}
}

func interrupted(err error) error {
	return &llm.Error{Kind: llm.ErrInterrupted, Problem: err.Error(), Fix: "ask again; if it stays so, look into the model server's log", Err: err}
}

// usageField is what an upstream server is asked for its usage with. Servers that do not know it refuse it.
var usageField = []byte(`"stream_options":{"include_usage":true},`)

// ask sends the body of a chat. What is not a 200 is a *refusal.
func (u *upstream) ask(ctx context.Context, client http.Header, body []byte) (*http.Response, error) {
	if u.silent.Load() {
		body = bytes.Replace(body, usageField, nil, 1)
	}
	response, err := u.post(ctx, u.chat(), client, body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	err = refused(response)
	var said *refusal
	bad := errors.As(err, &said) && (said.status == http.StatusBadRequest || said.status == http.StatusUnprocessableEntity)
	if bad && bytes.Contains(body, usageField) && bytes.Contains(said.body, []byte("stream_options")) {
		u.silent.Store(true)
		return u.ask(ctx, client, body)
	}
	return nil, err
}
