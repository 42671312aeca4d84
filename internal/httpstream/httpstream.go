// Package httpstream posts a body and reads an answer that comes line by line, within bounds of time and size.
package httpstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Limits bound an answer. Those that are not set have the defaults below.
type Limits struct {
	First time.Duration // until its first line
	Idle  time.Duration // between two lines
	Line  int           // bytes of a line
	Total int64         // bytes of all
}

const (
	defaultFirst = 15 * time.Minute
	defaultIdle  = 2 * time.Minute
	defaultLine  = 16 << 20
	defaultTotal = 256 << 20

	// maxComplaint bounds what is read of an answer that is an error.
	maxComplaint = 64 << 10
	// restSize bounds what is read behind the end of an answer.
	restSize = 4 << 10
)

// RestTime is how long [Lines.Rest] may take: whoever calls it sees to that. Somebody waits for the end of the answer, and a
// connection that can be used again is worth no more.
const RestTime = 100 * time.Millisecond

func (l Limits) withDefaults() Limits {
	if l.First <= 0 {
		l.First = defaultFirst
	}
	if l.Idle <= 0 {
		l.Idle = defaultIdle
	}
	if l.Line <= 0 {
		l.Line = defaultLine
	}
	if l.Total <= 0 {
		l.Total = defaultTotal
	}
	return l
}

// Request is what is sent, as JSON.
type Request struct {
	Client *http.Client
	URL    string
	Header http.Header // may be nil; it is not changed
	Body   []byte
	Limits Limits
	// Idle, where it is not nil, stands in place of Limits.Idle and is asked before each wait: how long it may be can depend on what has come.
	Idle func() time.Duration
}

// Whole sends the request and returns an answer that comes as one: all that it says until its end. Whether that is the end
// shows in what it says. Errors are those of [Request.Each].
func (r Request) Whole(ctx context.Context) ([]byte, error) {
	var all []byte
	err := r.Each(ctx, func(line []byte) error {
		all = append(append(all, line...), '\n')
		return nil
	})
	if errors.Is(err, ErrCut) && len(all) > 0 {
		err = nil
	}
	return all, err
}

// Each sends the request and calls line with every line of the answer, without its end. The bytes are good until
// line returns. When line returns [ErrDone] the rest of the answer does not matter and the error of Each
// is nil; any other error ends the reading and is returned as it is. An answer that ends before is [ErrCut].
//
// Other errors are *[ConnectError], *[StatusError], [ErrSilent] and [ErrTooLong], or the context's own, wrapped
// with more words. Time that line takes is no silence of the server. When Each returns, nothing of
// the request is left: the server sees that the connection is closed, or it is ready for another request.
func (r Request) Each(ctx context.Context, line func([]byte) error) (err error) {
	limits := r.Limits.withDefaults()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	clock := time.AfterFunc(limits.First, func() {
		cancel(fmt.Errorf("%w for %s", ErrSilent, limits.First))
	})
	defer func() { clock.Stop() }()

	response, err := r.send(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return newStatusError(ctx, response)
	}

	lines := NewLines(response.Body, limits)
	for {
		come, err := lines.Next()
		clock.Stop()
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if errors.Is(err, io.EOF) {
			return ErrCut
		}
		if err != nil && !errors.Is(err, ErrTooLong) {
			return fmt.Errorf("%w: %w", ErrCut, err)
		}
		if err != nil {
			return err
		}
		for text := range bytes.Lines(come) {
			if err := line(bytes.TrimRight(text, "\r\n")); errors.Is(err, ErrDone) {
				clock = time.AfterFunc(RestTime, func() { cancel(ErrDone) })
				lines.Rest()
				return nil
			} else if err != nil {
				return err
			}
		}
		idle := limits.Idle
		if r.Idle != nil {
			idle = r.Idle()
		}
		clock = time.AfterFunc(idle, func() { cancel(fmt.Errorf("%w for %s", ErrSilent, idle)) })
	}
}

func (r Request) send(ctx context.Context) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, newConnectError("", err)
	}
	if r.Header != nil {
		request.Header = r.Header.Clone()
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := r.Client.Do(request)
	if cause := context.Cause(ctx); cause != nil {
		if err == nil {
			cause = errors.Join(cause, response.Body.Close())
		}
		return nil, cause
	}
	if err != nil {
		return nil, newConnectError(request.URL.Host, err)
	}
	return response, nil
}
