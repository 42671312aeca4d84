package httpstream_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
)

func request(t *testing.T, h http.HandlerFunc) httpstream.Request {
	s := llmtest.Serve(t, h)
	return httpstream.Request{Client: s.HTTP, URL: s.URL, Header: http.Header{"X": {"y"}}, Body: []byte("{}")}
}

// read returns the lines until one is "end".
func read(ctx context.Context, r httpstream.Request) (lines []string, err error) {
	err = r.Each(ctx, func(line []byte) error {
		lines = append(lines, string(line))
		if string(line) == "end" {
			return httpstream.ErrDone
		}
		return nil
	})
	return lines, err
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, tt := range []struct {
		name, body string
		limits     httpstream.Limits
		want       []string
		err        error
	}{
		{"lines", "a\nb\r\n\nend\nmore", httpstream.Limits{}, []string{"a", "b", "", "end"}, nil},
		{"a last line without an end", "a\nend", httpstream.Limits{}, []string{"a", "end"}, nil},
		{"no end", "a\nb", httpstream.Limits{}, []string{"a", "b"}, httpstream.ErrCut},
		{"nothing", "", httpstream.Limits{}, nil, httpstream.ErrCut},
		{"a long line", long + "\nend\n", httpstream.Limits{}, []string{long, "end"}, nil},
		{"a long last line", "a\n" + long, httpstream.Limits{}, []string{"a", long}, httpstream.ErrCut},
		{"a line as long as may be", "abc\nend\n", httpstream.Limits{Line: 4}, []string{"abc", "end"}, nil},
		{"a line that is too long", "abcd\nend\n", httpstream.Limits{Line: 4}, nil, httpstream.ErrTooLong},
		{"too much", "abc\nabc\nend\n", httpstream.Limits{Total: 8}, []string{"abc", "abc"}, httpstream.ErrTooLong},
		{"much behind the end", "end\n" + strings.Repeat(long+"\n", 10), httpstream.Limits{}, []string{"end"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := request(t, func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("X") != "y" || r.Header.Get("Content-Type") != "application/json" || r.Method != http.MethodPost {
						t.Errorf("%s %v", r.Method, r.Header)
					}
					// A client that has enough goes.
					if _, err := io.WriteString(w, tt.body); err != nil && tt.err == nil && tt.name != "much behind the end" {
						t.Error(err)
					}
				})
				r.Limits = tt.limits
				got, err := read(t.Context(), r)
				if strings.Join(got, "|") != strings.Join(tt.want, "|") || !errors.Is(err, tt.err) || tt.err == nil && err != nil {
					t.Errorf("got %.80q, %v, want %.80q, %v", got, err, tt.want, tt.err)
				}
			})
		})
	}
}

func TestTheCallersErrorIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine := errors.New("enough")
		r := request(t, func(w http.ResponseWriter, r *http.Request) { llmtest.Speak(w, r, "a", "!hang") })
		if err := r.Each(t.Context(), func([]byte) error { return mine }); !errors.Is(err, mine) {
			t.Error(err)
		}
	})
}

func TestAServerThatHoldsOnAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		r := request(t, func(w http.ResponseWriter, r *http.Request) { llmtest.Speak(w, r, "end", "!hang") })
		if _, err := read(t.Context(), r); err != nil || time.Since(begin) > time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		name   string
		header http.Header
		want   time.Duration
	}{
		{"no time", http.Header{}, 0},
		{"seconds", http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		{"a part of a second", http.Header{"Retry-After": {"0.5"}}, 500 * time.Millisecond},
		{"milliseconds", http.Header{"Retry-After-Ms": {"20"}, "Retry-After": {"7"}}, 20 * time.Millisecond},
		{"a date", http.Header{"Retry-After": {"Sat, 01 Jan 2000 00:01:00 GMT"}}, time.Minute}, // a bubble begins with the year 2000
		{"a date that is over", http.Header{"Retry-After": {"Fri, 31 Dec 1999 00:01:00 GMT"}}, 0},
		{"nonsense", http.Header{"Retry-After": {"soon"}}, 0},
		{"less than nothing", http.Header{"Retry-After": {"-3"}}, 0},
		{"more than a year", http.Header{"Retry-After": {"1e300"}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := request(t, func(w http.ResponseWriter, _ *http.Request) {
					for name, values := range tt.header {
						w.Header()[name] = values
					}
					w.WriteHeader(http.StatusTeapot)
					if _, err := io.WriteString(w, "short and stout"); err != nil {
						t.Error(err)
					}
				})
				_, err := read(t.Context(), r)
				var status *httpstream.StatusError
				if !errors.As(err, &status) || status.Status != http.StatusTeapot || string(status.Body) != "short and stout" || status.RetryAfter != tt.want {
					t.Errorf("%+v", status)
				}
			})
		})
	}
}

func TestAStatusThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := request(t, func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				t.Error(err)
			}
			w.WriteHeader(http.StatusTeapot)
			llmtest.Speak(w, r, "short", "!hang")
		})
		r.Limits.First = 7 * time.Second
		begin := time.Now()
		if _, err := read(t.Context(), r); !errors.Is(err, httpstream.ErrSilent) || time.Since(begin) != 7*time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

func TestAStatusWhoseServerDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := request(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusTeapot)
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			llmtest.Speak(w, r, "!die")
		})
		_, err := read(t.Context(), r)
		var status *httpstream.StatusError
		if !errors.As(err, &status) || !strings.Contains(string(status.Body), "EOF") {
			t.Errorf("%+v", status)
		}
	})
}

func TestNoConnection(t *testing.T) {
	for _, tt := range []struct {
		name      string
		err       error
		temporary bool
		closed    bool
	}{
		{"refused", &net.OpError{Op: "dial", Err: errors.New("connection refused")}, true, false},
		{"closed", io.EOF, true, true},
		{"reset", &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}, true, true},
		{"closed when it was used again", errors.New("http: server closed idle connection"), true, true},
		{"sent away", errors.New("http2: server sent GOAWAY and closed the connection"), true, true},
		{"no such host", &net.OpError{Op: "dial", Err: &net.DNSError{Name: "nowhere", IsNotFound: true}}, false, false},
		{"names cannot be asked for", &net.OpError{Op: "dial", Err: &net.DNSError{Name: "somewhere", IsTimeout: true}}, true, false},
		{"a certificate", errors.New("x509: expired"), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, tt.err }}
			_, err := read(t.Context(), httpstream.Request{Client: &http.Client{Transport: transport}, URL: "http://user:secret@nowhere/secret"})
			var connect *httpstream.ConnectError
			if !errors.As(err, &connect) || connect.Temporary != tt.temporary || connect.Closed != tt.closed || !errors.Is(err, tt.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v", err)
			}
		})
	}
	_, err := read(t.Context(), httpstream.Request{Client: &http.Client{}, URL: "http://secret\x7f/"})
	var connect *httpstream.ConnectError
	if !errors.As(err, &connect) || connect.Temporary || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
