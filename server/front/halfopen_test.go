package front_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server/front"
)

// impatient bounds how long a front waits for somebody who is gone.
func impatient(c *front.Config) {
	c.Limits = front.Limits{Read: 300 * time.Millisecond, First: 300 * time.Millisecond, Idle: 300 * time.Millisecond}
}

// A client is gone and its connection does not know: nobody reads, and nobody closes. The handler ends, and the server upstream
// is let go.
func TestClientVanishes(t *testing.T) {
	const chat = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`
	for name, test := range map[string]struct {
		path, body string
		length     int // that is announced; 0 is the body's
		record     bool
	}{
		"in mid-reply":            {"/api/chat", chat, 0, false},
		"in a reply recorded":     {"/api/chat", chat, 0, true},
		"in an answer passed on":  {"/api/embed", `{"model":"m","input":"hi"}`, 0, false},
		"in the middle of a call": {"/api/chat", chat[:20], len(chat), false},
		"of a call recorded":      {"/api/chat", chat[:20], len(chat), true},
		"of a call passed on":     {"/api/embed", "{", 100, false},
	} {
		t.Run(name, func(t *testing.T) {
			left := make(chan struct{}, 1)
			endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer func() { left <- struct{}{} }()
				line := `{"model":"m","message":{"role":"assistant","content":"` + strings.Repeat("on ", 1000) + `"},"done":false}`
				for r.Context().Err() == nil {
					if _, err := fmt.Fprintln(w, line); err != nil {
						return
					}
				}
			}))
			t.Cleanup(endless.Close)
			eng := newWorld(t, newScripted(t, front.Ollama)).engine
			config := front.Config{
				Engine:     func(*http.Request) (*turnstone.Engine, error) { return eng, nil },
				Upstream:   front.Upstream{URL: endless.URL},
				RecordOnly: test.record,
			}
			impatient(&config)
			config.Limits.First = 0
			f, err := front.New(config)
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{}, 1)
			handler := f.Handler()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer func() { ended <- struct{}{} }()
				handler.ServeHTTP(w, r)
			}))
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
				server.Close()
			})
			length := test.length
			if length == 0 {
				length = len(test.body)
			}
			if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", test.path, length, test.body); err != nil {
				t.Fatal(err)
			}
			<-ended
			if test.length == 0 {
				<-left
			}
		})
	}
}

// silent is a server that is gone while its connections do not know: it says what it is told to and then nothing, for ever.
func silent(t *testing.T, reads bool, says string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	over := make(chan struct{})
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				if reads {
					// The front may have given up by then: what it tells the client is what counts.
					if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
						io.Copy(io.Discard, r.Body)
					}
				}
				io.WriteString(conn, says)
				<-over
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	})
	t.Cleanup(func() {
		close(over)
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return "http://" + listener.Addr().String()
}

// The server upstream is gone and its connection does not know. The client is told, or sees that the answer is cut off.
func TestUpstreamVanishes(t *testing.T) {
	const header = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: 10000\r\n\r\n"
	call := func(stream bool, more string) string {
		return fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":"hi"}]%s}`, stream, more)
	}
	for name, test := range map[string]struct {
		reads      bool
		says       string
		path, body string
		record     bool
	}{
		"before it answers":           {true, "", "/api/chat", call(true, ""), false},
		"in the header":               {true, header[:40], "/api/chat", call(true, ""), false},
		"behind the header":           {true, header, "/api/chat", call(true, ""), false},
		"in the middle of a line":     {true, header + `{"model":"m","mess`, "/api/chat", call(true, ""), false},
		"between lines":               {true, header + word("one "), "/api/chat", call(true, ""), false},
		"in an answer that is whole":  {true, header + `{"model":"m","mess`, "/api/chat", call(false, ""), false},
		"in a stream recorded":        {true, header + word("one "), "/api/chat", call(true, ""), true},
		"in a whole answer recorded":  {true, header + `{"model":"m","mess`, "/api/chat", call(false, ""), true},
		"in an answer passed on":      {true, header + `{"embeddings":`, "/api/embed", `{"model":"m","input":"hi"}`, false},
		"while it is asked":           {false, "", "/api/embed", `{"model":"m","input":"` + strings.Repeat("x", 8<<20) + `"}`, false},
		"while it is asked, recorded": {false, "", "/api/chat", call(true, `,"options":{"x":"`+strings.Repeat("x", 8<<20)+`"}`), true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, front.Ollama), impatient, func(c *front.Config) {
				c.Upstream.URL, c.RecordOnly, c.Limits.Read = silent(t, test.reads, test.says), test.record, 0
			})
			response := post(t.Context(), t, w.url+test.path, http.Header{}, []byte(test.body))
			body, err := io.ReadAll(response.Body)
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
			told := strings.Contains(string(body), "said nothing")
			if !told && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("status %d: %s, %v", response.StatusCode, body, err)
			}
			if len(test.says) < len(header) && response.StatusCode != http.StatusGatewayTimeout {
				t.Errorf("status %d", response.StatusCode)
			}
		})
	}
}
