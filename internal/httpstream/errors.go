package httpstream

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

var (
	// ErrDone is for the callback of [Request.Each] to say that the answer is complete.
	ErrDone = errors.New("the answer is complete")
	// ErrSilent says that nothing came for as long as the limits allow.
	ErrSilent = errors.New("the server said nothing")
	// ErrTooLong says that a line or the answer has more bytes than the limits allow.
	ErrTooLong = errors.New("the answer is too long")
	// ErrCut says that the answer ended before it was complete.
	ErrCut = errors.New("the answer ends in the middle")
)

// ConnectError says that no answer came: no connection, or one that broke before the answer began. It does not
// have the address, which may hold a password.
type ConnectError struct {
	Err error
	// Temporary says that it may be otherwise in a moment: a server that is starting.
	Temporary bool
	// Closed says that a server is there: it took the connection and closed it.
	Closed bool
	host   string
}

func (e *ConnectError) Error() string {
	if e.Closed {
		return "the server at " + e.host + " closed the connection before it answered"
	}
	return e.Err.Error()
}

func (e *ConnectError) Unwrap() error { return e.Err }

func newConnectError(host string, err error) error {
	if whole := (*url.Error)(nil); errors.As(err, &whole) {
		err = whole.Err
	}
	var unknown *net.DNSError
	var network *net.OpError
	temporary := errors.As(err, &network) || Closed(err)
	if errors.As(err, &unknown) {
		temporary = !unknown.IsNotFound
	}
	return &ConnectError{Err: err, Temporary: temporary, Closed: Closed(err), host: host}
}

// Closed reports whether the error of an HTTP client says that a server took the connection and closed it before it answered.
func Closed(err error) bool {
	var network *net.OpError
	broken := errors.As(err, &network) && (network.Op == "read" || network.Op == "write") && !network.Timeout()
	return broken || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || closedIdle(err)
}

// closedIdle reports whether the server gave up a connection just when it was used again. Net/http has no name for that, and
// tries again by itself only what has no body.
func closedIdle(err error) bool {
	text := err.Error()
	return strings.Contains(text, "server closed idle connection") || strings.Contains(text, "GOAWAY")
}

// StatusError is an answer whose status is not 200.
type StatusError struct {
	Status     int
	Body       []byte // the beginning of it
	RetryAfter time.Duration
}

func (e *StatusError) Error() string { return "status " + strconv.Itoa(e.Status) }

func newStatusError(ctx context.Context, response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxComplaint))
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil && len(body) == 0 {
		body = []byte(err.Error())
	}
	return &StatusError{Status: response.StatusCode, Body: body, RetryAfter: retryAfter(response.Header)}
}

// retryAfter reads how long a server wants to be left alone: seconds, a date or, as some have it, milliseconds.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < maxWait {
		return time.Duration(ms * float64(time.Millisecond))
	}
	given := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(given, 64); err == nil && seconds > 0 && seconds < maxWait {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(given); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// maxWait is what is still taken for a number of seconds: a year.
const maxWait = 365 * 24 * 3600
