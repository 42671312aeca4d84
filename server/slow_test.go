package server_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// exposed serves an engine on a port of its own until the test ends. Requests are told of when they are over, if
// somebody listens.
func exposed(t *testing.T, eng *turnstone.Engine, limits server.Limits) (c *client, over <-chan *server.Record) {
	t.Helper()
	records := make(chan *server.Record, 1000)
	return exposedWith(t, server.Config{Engine: eng, Limits: limits, Observe: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				select {
				case records <- server.RecordOf(r.Context()):
				default:
				}
			}()
			next.ServeHTTP(w, r)
		})
	}}), records
}

// exposedWith serves on a port of its own until the test ends.
func exposedWith(t *testing.T, config server.Config) *client {
	t.Helper()
	s, err := server.New(config)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, base: "http://" + l.Addr().String(), http: &http.Client{Transport: transport}, doc: new(document)}
}

// dial opens a connection to the server and says something on it.
func (c *client) dial(says string) *net.TCPConn {
	c.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.base, "http://"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if err := conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			c.t.Error(err)
		}
	})
	if _, err := io.WriteString(conn, says); err != nil {
		c.t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

func post(path, headers, body string) string {
	return "POST /api/v1" + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + headers + "\r\n" + body
}

// Clients that never come to the end of what they ask are told so, or let go, however busily they send. Nothing that
// was half sent is done.
func TestClientsThatNeverFinishAsking(t *testing.T) {
	eng := opened(t, turnstone.Config{Model: llmtest.NewScript("Yes.")})
	c, _ := exposed(t, eng, server.Limits{})
	hasty, _ := exposed(t, eng, server.Limits{Read: time.Second})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	const turns = `{"turns":[{"role":"user","text":"half`
	t.Run("all", func(t *testing.T) {
		for _, test := range []struct {
			name, says, drip string
			status           int // 0: it is let go
		}{
			{"nothing", "", "", 0},
			{"half a line", "GET /api/v1/sess", "", 0},
			{"headers that do not end", "GET /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\n", "X-More: 1\r\n", 0},
			{"half a body", post("/sessions/s/turns", "Content-Length: 100\r\n", turns), "", http.StatusRequestTimeout},
			{"a body byte by byte", post("/sessions/s/turns", "Content-Length: 100000\r\n", turns), "x", http.StatusRequestTimeout},
			{"chunks that do not end", post("/sessions/s/turns", "Transfer-Encoding: chunked\r\n", ""), "1\r\nx\r\n", http.StatusRequestTimeout},
			{"half a question", post("/sessions/s/say", "Content-Length: 100\r\n", `{"text":"half`), "", http.StatusRequestTimeout},
			{"half a bundle", "POST /api/v1/bundles HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nContent-Length: 100\r\n\r\n{", "", http.StatusRequestTimeout},
			{"half of what is refused", post("/none", "Content-Length: 100\r\n", "{"), "", http.StatusNotFound},
			{"half of what is of another type", "POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nx", "", http.StatusUnsupportedMediaType},
			{"half of what is forbidden", "POST /api/v1/sessions HTTP/1.1\r\nHost: example.com\r\nContent-Length: 100\r\n\r\nx", "", http.StatusForbidden},
			{"half a session", post("/sessions", "Content-Length: 100\r\n", `{"session_id":"half"`), "", http.StatusRequestTimeout},
		} {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				conn := hasty.in(t).dial(test.says)
				ctx, stop := context.WithCancel(t.Context())
				dripped := make(chan struct{})
				go func() {
					defer close(dripped)
					for test.drip != "" && ctx.Err() == nil {
						if _, err := io.WriteString(conn, test.drip); err != nil {
							return // it was let go
						}
						pause.For(ctx, 10*time.Millisecond)
					}
				}()
				answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
				switch {
				case test.status == 0:
					if err == nil && answer.StatusCode != http.StatusBadRequest {
						t.Errorf("it is answered with %s", answer.Status)
					}
				case err != nil:
					t.Error(err)
				default:
					text, err := io.ReadAll(answer.Body)
					if answer.StatusCode != test.status || !strings.Contains(string(text), `"type":"/api/v1/docs#`) || !answer.Close {
						t.Errorf("%s %v: %s, %v", answer.Status, answer.Header, text, err)
					}
				}
				stop()
				<-dripped
			})
		}
	})
	var shown turnsShown
	c.want(http.StatusOK, &shown, "GET", "/sessions/s/turns", nil)
	if len(shown.Items) > 0 {
		t.Errorf("%+v", shown)
	}
	c.want(http.StatusNotFound, nil, "GET", "/sessions/half", nil)
}

// fill makes a session with more in it than lies between a server and a client that reads nothing. It is not sent
// there: a body of 1 MiB takes a while under the race detector.
func fill(t *testing.T, eng *turnstone.Engine, id string) {
	t.Helper()
	s, err := eng.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := s.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: strings.Repeat("x", 1<<20)}}); err != nil {
			t.Fatal(err)
		}
	}
}

// A client that takes nothing of an answer is let go, and what it asked for is not held up by it.
func TestClientsThatTakeNothing(t *testing.T) {
	eng := opened(t, turnstone.Config{Model: llmtest.Replies(
		llmtest.Reply{Text: strings.Repeat("on ", 10_000), Endless: true}, llmtest.Reply{Text: "Yes."},
	)})
	c, _ := exposed(t, eng, server.Limits{})
	hasty, over := exposed(t, eng, server.Limits{Write: 200 * time.Millisecond})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	fill(t, eng, "big")
	for _, says := range []string{
		"GET /api/v1/sessions/big/turns HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		"GET /api/v1/sessions/big/history/lines HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		post("/sessions/s/say", "Connection: close\r\nAccept: text/event-stream\r\nContent-Length: 16\r\n", `{"text":"Count"}`),
	} {
		conn := hasty.dial(says)
		record := <-over
		if says[:3] != "GET" && record.Err == nil {
			t.Errorf("%.60q: nothing went wrong", says)
		}
		if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%.60q: %v", says, err)
		}
	}
	var got replied
	c.want(http.StatusOK, &got, "POST", "/sessions/s/say", `{"text":"Still there?"}`)
	said := c.want(http.StatusOK, nil, "GET", "/sessions/s/turns?kind=turn", nil)
	if got.Text != "Yes." || strings.Count(said.body, `"interrupted":true`) != 1 {
		t.Errorf("%+v, %.200s", got, said.body)
	}
}

// Those who take long answers slowly hold up nobody: a store has no more than a few readers.
func TestSlowReadersHoldUpNobody(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	eng := openedOn(t, newStore(t, t.TempDir(), sqlite.Config{Readers: 2}), turnstone.Config{})
	c, over := exposed(t, eng, server.Limits{Answer: 5 * time.Second, Write: time.Hour})
	fill(t, eng, "big")
	var slow []net.Conn
	for _, path := range []string{"bundle", "history/lines", "bundle", "history/openai"} {
		conn := c.dial("GET /api/v1/sessions/big/" + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if _, err := conn.Read(make([]byte, 1)); err != nil { // it has begun
			t.Fatal(err)
		}
		slow = append(slow, conn)
	}
	c.want(http.StatusOK, nil, "GET", "/sessions/big", nil)
	<-over
	// Nor would a crash leave behind what they are given, where files need no name.
	if named, err := os.ReadDir(os.TempDir()); err != nil || len(named) > 0 && runtime.GOOS != "windows" {
		t.Errorf("%d files can be seen meanwhile, %v", len(named), err)
	}
	for _, conn := range slow {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		<-over
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

// A connection that asks nothing more is not kept for ever.
func TestConnectionsThatRest(t *testing.T) {
	c, _ := exposed(t, opened(t, turnstone.Config{}), server.Limits{Idle: 200 * time.Millisecond})
	conn := c.dial("GET /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\n\r\n")
	answers := bufio.NewReader(conn)
	answer, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%s, %v", answer.Status, err)
	}
	if _, err := answers.ReadByte(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
