package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Problem is what a server says when it does not do what it was asked for: RFC 9457, application/problem+json. An
// answer that is none, such as that of a proxy, has its status only.
type Problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`               // what is wrong, and what to do
	Instance  string `json:"instance,omitempty"`   // the path that was asked
	Field     string `json:"field,omitempty"`      // which part of the input is wrong, such as turns[0].role
	RequestID string `json:"request_id,omitempty"` // under which the server's log knows it

	// RetryAfter is how long the server wants to be left alone, 0 where it does not say.
	RetryAfter time.Duration `json:"-"`
}

// Error is the detail or, where there is none, the title.
func (p *Problem) Error() string { return cmp.Or(p.Detail, p.Title) }

// Kind is what a caller can do something about. It is the fragment of the type or, where there is none, the kind that
// a server of ours has for the status.
func (p *Problem) Kind() Kind {
	if _, fragment, found := strings.Cut(p.Type, "#"); found {
		return Kind(fragment)
	}
	return byStatus[p.Status]
}

// Is has errors.Is find a [Kind] in a problem.
func (p *Problem) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == p.Kind()
}

// Kind is a kind of problem: errors.Is(err, client.NotFound).
type Kind string

// The kinds of problems. A server may know more.
const (
	Invalid      Kind = "invalid"      // the input is not as it must be; Problem.Field says where
	NotFound     Kind = "not-found"    // there is no such thing
	Conflict     Kind = "conflict"     // it exists already, or contradicts what is stored
	NotLegal     Kind = "not-legal"    // it is not legal as things stand, such as changing a locked decision
	Precondition Kind = "precondition" // it is no longer what it was
	Changed      Kind = "changed"      // what it was made from is no longer there
	Busy         Kind = "busy"         // somebody else is at work on the session
	OverBudget   Kind = "over-budget"  // the prompt does not fit the model's window
	Limit        Kind = "limit"        // the exchange took more than it may
	TooLarge     Kind = "too-large"    // the request is too large
	Damaged      Kind = "damaged"      // a bundle is damaged, or of a newer version
	Unauthorized Kind = "unauthorized" // a key is needed
	Forbidden    Kind = "forbidden"    // the key does not allow it
	TooMany      Kind = "rate"         // too many requests; Problem.RetryAfter says how long to wait
	Model        Kind = "model"        // the model could not answer
	Unavailable  Kind = "unavailable"  // the store cannot be used now
)

// Error is the kind in a word.
func (k Kind) Error() string { return string(k) }

var byStatus = map[int]Kind{
	http.StatusBadRequest: Invalid, http.StatusNotFound: NotFound, http.StatusConflict: Conflict, http.StatusLocked: Busy,
	http.StatusPreconditionFailed: Precondition, http.StatusGone: Changed, http.StatusRequestEntityTooLarge: TooLarge,
	http.StatusUnauthorized: Unauthorized, http.StatusForbidden: Forbidden, http.StatusTooManyRequests: TooMany,
	http.StatusServiceUnavailable: Unavailable,
}

// longestAway is how many seconds a server can want to be left alone for, a year: many more are no duration any more.
const longestAway = 365 * 24 * 3600

// mostProblem is how many bytes of a problem are read.
const mostProblem = 64 << 10

// newProblem reads a problem, and closes its body.
func newProblem(answer *http.Response) error {
	p := new(Problem)
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostProblem))
	if closed := answer.Body.Close(); err == nil {
		err = closed
	}
	media, _, unknown := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil || unknown != nil || media != "application/problem+json" || json.Unmarshal(text, p) != nil {
		*p = Problem{}
	}
	if p.Error() == "" {
		p.Title, p.Detail = http.StatusText(answer.StatusCode), "the server answers "+answer.Status
	}
	p.Status = answer.StatusCode
	after := answer.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(after); err == nil && seconds > 0 {
		p.RetryAfter = time.Duration(min(seconds, longestAway)) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		p.RetryAfter = max(0, time.Until(at))
	}
	return p
}

// connectError says that no answer came. It does not show the URL, which may hold somebody's words.
type connectError struct{ error }

func newConnectError(err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err
	}
	return &connectError{err}
}

func (e *connectError) Unwrap() error { return e.error }

// passing reports whether an error may be over in a moment.
func passing(err error) bool {
	var p *Problem
	if errors.As(err, &p) {
		switch p.Status {
		case http.StatusServiceUnavailable, http.StatusTooManyRequests:
			return true
		case http.StatusBadGateway, http.StatusGatewayTimeout:
			return p.Type == "" // a proxy's: what our server has to say of others has a type
		}
		return false
	}
	var broken *connectError
	return errors.As(err, &broken)
}

func retryAfter(err error) time.Duration {
	var p *Problem
	if errors.As(err, &p) {
		return p.RetryAfter
	}
	return 0
}
