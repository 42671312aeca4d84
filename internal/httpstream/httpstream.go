// Package httpstream posts a body and reads an answer that comes line by line, within bounds of time and size.
package httpstream

import (
	"bufio"
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
	// restSize and restTime bound what is read behind the end of an answer, so that the connection can be used
	// again.
	restSize   = 4 << 10
	restTime   = time.Second
	bufferSize = 32 << 10
)

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

	lines := lineReader{from: bufio.NewReaderSize(response.Body, bufferSize), most: limits.Line, left: limits.Total}
	for {
		text, err := lines.next()
		clock.Stop()
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if err != nil {
			return err
		}
		if err := line(text); errors.Is(err, ErrDone) {
			clock = time.AfterFunc(restTime, func() { cancel(ErrDone) })
			lines.discard()
			return nil
		} else if err != nil {
			return err
		}
		clock = time.AfterFunc(limits.Idle, func() { cancel(fmt.Errorf("%w for %s", ErrSilent, limits.Idle)) })
	}
}

func (r Request) send(ctx context.Context) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, newConnectError(err)
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
		return nil, newConnectError(err)
	}
	return response, nil
}

// lineReader reads lines of bounded length.
type lineReader struct {
	from *bufio.Reader
	most int
	left int64
	long []byte // a line that is longer than the buffer
}

func (l *lineReader) next() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.from.ReadSlice('\n')
		if l.left -= int64(len(part)); l.left < 0 || len(l.long)+len(part) > l.most {
			return nil, ErrTooLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			l.long = append(l.long, part...)
			continue
		}
		if len(l.long) > 0 {
			l.long = append(l.long, part...)
			part = l.long
		}
		switch {
		case err == nil:
			return bytes.TrimRight(part, "\r\n"), nil
		case errors.Is(err, io.EOF) && len(part) > 0:
			return part, nil
		case errors.Is(err, io.EOF):
			return nil, ErrCut
		}
		return nil, fmt.Errorf("%w: %w", ErrCut, err)
	}
}

// discard reads what is left of an answer. Whatever ends it, the answer is complete.
func (l *lineReader) discard() {
	for n := 0; n < restSize; {
		part, err := l.from.ReadSlice('\n')
		if n += len(part); err != nil {
			return
		}
	}
}
