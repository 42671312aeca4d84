package sse_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/internal/sse"
)

// stream serves what the handler writes.
func stream(t *testing.T, timeout time.Duration, f func(*sse.Writer) error) (url string, result <-chan error) {
	t.Helper()
	done := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s, err := sse.Begin(w, timeout)
		if err == nil {
			err = f(s)
		}
		done <- err
	}))
	t.Cleanup(server.Close)
	return server.URL, done
}

func get(t *testing.T, url string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	})
	return response
}

// Each thing that is written is there before the next one is made.
func TestWriterFlushes(t *testing.T) {
	next := make(chan struct{})
	url, done := stream(t, 0, func(s *sse.Writer) error {
		<-next
		if err := s.Comment("alive\nand well"); err != nil {
			return err
		}
		<-next
		if err := s.Send(sse.Event{ID: "1", Name: "a", Data: "x\ny"}); err != nil {
			return err
		}
		<-next
		return s.Frames([]byte("data: b\n\n"), []byte("data: c\n\n"))
	})
	response := get(t, url) // the headers come before anything else
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, want := range []string{": alive\n: and well\n\n", "id: 1\nevent: a\ndata: x\ndata: y\n\n", "data: b\n\ndata: c\n\n"} {
		next <- struct{}{}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != want {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// An id cannot bring fields of its own into the stream.
func TestWriterRefuses(t *testing.T) {
	url, done := stream(t, 0, func(s *sse.Writer) error {
		return s.Send(sse.Event{ID: "1\ndata: forged"})
	})
	got, err := read(sse.NewReader(get(t, url).Body, 0))
	if d := cmp.Diff([]sse.Event(nil), got); d != "" || !errors.Is(err, io.EOF) {
		t.Errorf("%v%s", err, d)
	}
	if err := <-done; err == nil {
		t.Error("written")
	}
}

// A client that takes nothing any more holds its handler up for a while only.
func TestWriterGivesUpAStuckClient(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	url, done := stream(t, 50*time.Millisecond, func(s *sse.Writer) error {
		for {
			if err := s.Send(sse.Event{Data: large}); err != nil {
				return err
			}
		}
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// A client that hung up is noticed.
func TestWriterAfterTheClientLeft(t *testing.T) {
	url, done := stream(t, 0, func(s *sse.Writer) error {
		for {
			if err := s.Comment("alive"); err != nil {
				return err
			}
		}
	})
	response := get(t, url)
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("still written")
	}
}

// plain is an answer that cannot be written for a time only.
type plain struct{ http.ResponseWriter }

func TestBeginNeedsDeadlines(t *testing.T) {
	w := httptest.NewRecorder()
	if _, err := sse.Begin(plain{w}, 0); !errors.Is(err, http.ErrNotSupported) {
		t.Errorf("%v", err)
	}
	if w.Body.Len() > 0 {
		t.Errorf("written: %q", w.Body)
	}
}
