package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/client"
)

// cutting answers with the beginning of an answer, so many times, and then with all of it.
type cutting struct {
	times int
	keys  []string
}

func (c *cutting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.keys = append(c.keys, r.Header.Get("Idempotency-Key"))
	body := io.Reader(strings.NewReader(`{"items":[{"seq":1}]}`))
	if c.times--; c.times >= 0 {
		body = io.MultiReader(strings.NewReader(`{"items":[`), iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body)}, nil
}

// TestAnswersThatAreCutOff asks once more where that is safe: whoever appended cannot know otherwise whether it was done.
func TestAnswersThatAreCutOff(t *testing.T) {
	hello := client.Draft{Role: "user", Text: "Hello."}
	of := func(c *cutting) *client.Client {
		made, err := client.New("http://server.example", client.Options{HTTP: &http.Client{Transport: c}})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	for _, test := range []struct {
		name  string
		do    func(context.Context, *client.Client) error
		asked int
		want  error
	}{
		{"append", func(ctx context.Context, c *client.Client) error {
			s, err := c.Find(ctx, "s")
			if err == nil {
				_, err = s.Append(ctx, hello)
			}
			return err
		}, 4, nil},
		{"read", func(ctx context.Context, c *client.Client) error { return c.Do(ctx, "GET", "/sessions", nil, nil) }, 3, nil},
		{"write", func(ctx context.Context, c *client.Client) error { return c.Do(ctx, "POST", "/x", nil, new(any)) }, 1, io.ErrUnexpectedEOF},
		{"read as it comes", func(ctx context.Context, c *client.Client) error {
			var text bytes.Buffer
			err := c.Do(ctx, "GET", "/sessions", nil, &text)
			if text.String() != `{"items":[` {
				t.Errorf("got %q", &text)
			}
			return err
		}, 1, io.ErrUnexpectedEOF},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &cutting{times: 2}
				err := test.do(t.Context(), of(c))
				if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) || len(c.keys) != test.asked {
					t.Errorf("%v after %q", err, c.keys)
				}
			})
		})
	}
}

// TestManyRetries has them all made, each after half a minute at most.
func TestManyRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{answers: make([]told, 15)}
		for i := range l.answers {
			l.answers[i] = told{status: 503}
		}
		if err := l.of(t, 14).Do(t.Context(), "GET", "/sessions", nil, nil); !errors.Is(err, client.Unavailable) || len(l.at) != 15 {
			t.Fatalf("%v, asked at %v", err, l.at)
		}
		if wait := l.at[14] - l.at[13]; wait != 30*time.Second {
			t.Errorf("in the end it waits %s", wait)
		}
	})
}

// TestRetriesBehindAProxy asks again where a proxy cannot reach its server, and not where a server of ours says that
// another one failed.
func TestRetriesBehindAProxy(t *testing.T) {
	good := told{status: 200, body: "{}"}
	for name, test := range map[string]struct {
		first told
		asked int
	}{
		"bad gateway":     {told{status: 502, body: "<h1>Bad Gateway</h1>"}, 2},
		"gateway timeout": {told{status: 504, body: ""}, 2},
		"the model":       {told{status: 502, body: `{"type":"/api/v1/docs#model","detail":"it is away"}`}, 1},
		"a fault":         {told{status: 500, body: "<h1>Oops</h1>"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &line{answers: []told{test.first, good}}
				err := l.of(t, 0).Do(t.Context(), "GET", "/sessions", nil, nil)
				if len(l.at) != test.asked || (err == nil) != (test.asked == 2) {
					t.Errorf("%v after %d", err, len(l.at))
				}
			})
		})
	}
}

// TestProblemWithoutDetail has something to say all the same.
func TestProblemWithoutDetail(t *testing.T) {
	l := &line{answers: []told{{status: 403, body: `{"title":"Not from here"}`}, {status: 418, body: `{}`}}}
	c := l.of(t, -1)
	for _, want := range []string{"GET /sessions: Not from here", "GET /sessions: the server answers I'm a teapot"} {
		if err := c.Do(t.Context(), "GET", "/sessions", nil, nil); err == nil || err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}
