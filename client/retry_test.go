package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/client"
)

// told is an answer, or none where there is an error.
type told struct {
	status int
	after  string // the header Retry-After
	body   string
	err    error
}

// line answers one request after the other, and notes when each came and under which key.
type line struct {
	answers []told
	at      []time.Duration
	keys    []string
	begin   time.Time
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	next := l.answers[0]
	l.answers = l.answers[1:]
	l.at = append(l.at, time.Since(l.begin))
	l.keys = append(l.keys, r.Header.Get("Idempotency-Key"))
	if next.err != nil {
		return nil, next.err
	}
	answer := &http.Response{StatusCode: next.status, Status: http.StatusText(next.status), Body: io.NopCloser(strings.NewReader(next.body)), Header: http.Header{}}
	answer.Header.Set("Retry-After", next.after)
	answer.Header.Set("Content-Type", "application/problem+json")
	switch {
	case strings.HasPrefix(next.body, "event:"):
		answer.Header.Set("Content-Type", "text/event-stream")
	case !strings.HasPrefix(next.body, "{"):
		answer.Header.Set("Content-Type", "text/html")
	}
	return answer, nil
}

// of is a client whose requests are answered like that.
func (l *line) of(t *testing.T, retries int) *client.Client {
	t.Helper()
	c, err := client.New("http://server.example", client.Options{HTTP: &http.Client{Transport: l}, Retries: retries})
	if err != nil {
		t.Fatal(err)
	}
	l.begin = time.Now()
	return c
}

func TestRetries(t *testing.T) {
	const ms = time.Millisecond
	cut := told{err: io.ErrUnexpectedEOF}
	down := told{status: 503, body: `{"type":"/api/v1/docs#unavailable","detail":"later"}`}
	wait := told{status: 429, after: "2", body: `{"type":"/api/v1/docs#rate","detail":"slower"}`}
	good := told{status: 200, body: `{"items":[]}`}
	const read, write = "GET", "POST"
	for _, test := range []struct {
		name    string
		method  string
		retries int
		answers []told
		at      []time.Duration
		want    error
	}{
		{"good at once", read, 0, []told{good}, []time.Duration{0}, nil},
		{"a connection that breaks", read, 0, []told{cut, cut, good}, []time.Duration{0, 125 * ms, 375 * ms}, nil},
		{"a store that is away", read, 0, []told{down, good}, []time.Duration{0, 125 * ms}, nil},
		{"too often", read, 0, []told{wait, good}, []time.Duration{0, 2000 * ms}, nil},
		{"in the end it is told", read, 0, []told{down, down, down, down, down}, []time.Duration{0, 125 * ms, 375 * ms, 875 * ms, 1875 * ms}, client.Unavailable},
		{"once", read, 1, []told{cut, cut}, []time.Duration{0, 125 * ms}, io.ErrUnexpectedEOF},
		{"never", read, -1, []told{down}, []time.Duration{0}, client.Unavailable},
		{"what would be done twice", write, 0, []told{down}, []time.Duration{0}, client.Unavailable},
		{"what would be done twice, perhaps", write, 0, []told{cut}, []time.Duration{0}, io.ErrUnexpectedEOF},
		{"what would be refused again", read, 0, []told{{status: 404, body: `{"type":"/api/v1/docs#not-found"}`}}, []time.Duration{0}, client.NotFound},
		{"who wants to be left alone", read, 0, []told{{status: 503, after: "3600"}}, []time.Duration{0}, client.Unavailable},
		{"who wants to be left alone for ever", read, 0, []told{{status: 503, after: "10000000000"}, good}, []time.Duration{0}, client.Unavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &line{answers: test.answers}
				err := l.of(t, test.retries).Do(t.Context(), test.method, "/sessions", nil, nil)
				if d := cmp.Diff(test.at, l.at); d != "" || !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
					t.Errorf("%v, asked at: %s", err, d)
				}
			})
		})
	}
}

func TestRetriesUnderOneKey(t *testing.T) {
	exchange := client.Exchange{Turns: []client.Draft{{Role: "user", Text: "Hello."}}}
	for name, do := range map[string]func(context.Context, *client.Session) error{
		"append": func(ctx context.Context, s *client.Session) error {
			_, err := s.Append(ctx, exchange.Turns...)
			return err
		},
		"commit": func(ctx context.Context, s *client.Session) error {
			_, err := s.Commit(ctx, exchange)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				good := told{status: 200, body: "{}"}
				l := &line{answers: []told{good, {err: io.EOF}, {status: 503}, good, good}}
				s, err := l.of(t, 0).Find(t.Context(), "s")
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if err := do(t.Context(), s); err != nil {
						t.Error(err)
					}
				}
				if k := l.keys; len(k) != 5 || k[0] != "" || k[1] == "" || k[1] != k[2] || k[2] != k[3] || k[3] == k[4] {
					t.Errorf("keys %q", k)
				}
			})
		})
	}
	t.Run("an exchange with an id of its own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			good := told{status: 200, body: "{}"}
			l := &line{answers: []told{good, {err: io.EOF}, good}}
			s, err := l.of(t, 0).Find(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Commit(t.Context(), client.Exchange{ExportID: "01JH5T8Q3VXK6Z0M4N7P9R2S1W"}); err != nil || l.keys[2] != "" {
				t.Errorf("%v, keys %q", err, l.keys)
			}
		})
	})
}

func TestRetriesEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		l := &line{answers: []told{{status: 429, after: "30"}}}
		begin := time.Now()
		if err := l.of(t, 0).Do(ctx, "GET", "/sessions", nil, nil); !errors.Is(err, client.TooMany) || time.Since(begin) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

func TestAnswersOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
		l := &line{answers: []told{{status: 502, body: "<h1>Bad Gateway</h1>"}, {status: 429, after: at}, {status: 403}}}
		c := l.of(t, -1)
		for _, want := range []client.Problem{
			{Title: "Bad Gateway", Status: 502, Detail: "the server answers Bad Gateway"},
			{Title: "Too Many Requests", Status: 429, Detail: "the server answers Too Many Requests", RetryAfter: 90 * time.Second},
			{Title: "Forbidden", Status: 403, Detail: "the server answers Forbidden"},
		} {
			var got *client.Problem
			err := c.Do(t.Context(), "GET", "/sessions", nil, nil)
			if !errors.As(err, &got) {
				t.Fatal(err)
			}
			if d := cmp.Diff(&want, got); d != "" {
				t.Error(d)
			}
			if kinds := map[int]client.Kind{429: client.TooMany, 403: client.Forbidden}; got.Kind() != kinds[got.Status] {
				t.Errorf("%d is %q", got.Status, got.Kind())
			}
		}
	})
}

// TestErrorsHoldNoQuery has nobody's words in errors, which are logged.
func TestErrorsHoldNoQuery(t *testing.T) {
	l := &line{answers: []told{{err: io.ErrUnexpectedEOF}, {err: io.ErrUnexpectedEOF}}}
	c := l.of(t, -1)
	for _, do := range []func() error{
		func() error { return c.Do(t.Context(), "GET", "/memory?text=secret", nil, nil) },
		func() error {
			for _, err := range c.Memory(t.Context(), client.MemorySearch{Text: "secret"}) {
				return err
			}
			return nil
		},
	} {
		if err := do(); err == nil || err.Error() != "GET /memory: unexpected EOF" {
			t.Errorf("%v", err)
		}
	}
}

// TestSessionMadeByTwo has somebody else make a session between the look for it and its making.
func TestSessionMadeByTwo(t *testing.T) {
	none := told{status: 404, body: `{"type":"/api/v1/docs#not-found"}`}
	there := told{status: 409, body: `{"type":"/api/v1/docs#conflict"}`}
	l := &line{answers: []told{none, there, {status: 200, body: "{}"}, none, {status: 403}}}
	c := l.of(t, 0)
	if s, err := c.Session(t.Context(), "s"); err != nil || s.ID() != "s" {
		t.Errorf("%v", err)
	}
	if _, err := c.Session(t.Context(), "s"); !errors.Is(err, client.Forbidden) {
		t.Errorf("whoever may not make one: %v", err)
	}
}
